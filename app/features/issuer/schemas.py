"""What a verified token tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bearer:
    """The claims that count here, as the issuer signed them; times are seconds since 1970.

    `email` is empty unless the issuer says that it verified the address. `client` tells programs of one person apart.
    """

    subject: str
    client: str
    audiences: frozenset[str]
    scopes: frozenset[str]
    expires_at: float
    valid_from: float
    email: str = ""
    name: str = ""

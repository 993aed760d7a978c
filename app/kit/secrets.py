"""API-key text and keyed digests; nothing here is ever logged."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PUBLIC_LENGTH = 12
SECRET_LENGTH = 36
_KEY = re.compile(rf"gm_([0-9A-Za-z]{{{PUBLIC_LENGTH}}})_([0-9A-Za-z]{{{SECRET_LENGTH}}})")


@dataclass(frozen=True, slots=True)
class ApiKeyText:
    """The two parts of `gm_<publicId>_<secret>`; the secret has about 214 bits."""

    public_id: str
    secret: str

    def __repr__(self) -> str:
        """Keep the secret out of tracebacks and logs."""
        return f"ApiKeyText({self.public_id!r})"

    @property
    def text(self) -> str:
        """The whole key, shown to a person once."""
        return f"gm_{self.public_id}_{self.secret}"

    def secret_hash(self) -> bytes:
        """Digest the secret for storage: a fast hash is right for 128 bits and more of randomness."""
        return hashlib.sha256(self.secret.encode()).digest()

    def matches(self, stored: bytes) -> bool:
        """Compare with a stored digest in constant time."""
        return hmac.compare_digest(self.secret_hash(), stored)


def _random_text(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def new_api_key() -> ApiKeyText:
    """Make a fresh API key."""
    return ApiKeyText(_random_text(PUBLIC_LENGTH), _random_text(SECRET_LENGTH))


def parse_api_key(text: str) -> ApiKeyText | None:
    """Read a presented key; None when its form is wrong, so that a typo costs no query."""
    match = _KEY.fullmatch(text)
    return ApiKeyText(match.group(1), match.group(2)) if match else None


def looks_like_api_key(text: str) -> bool:
    """Tell whether somebody means an API key by it, whole or not."""
    return text.startswith("gm_")


@dataclass(frozen=True, slots=True)
class Token:
    """A random secret of 256 bits that is stored as its digest only."""

    text: str = field(repr=False)

    @classmethod
    def new(cls) -> Token:
        """Make a fresh one."""
        return cls(secrets.token_urlsafe(32))

    def digest(self) -> bytes:
        """Digest it for storage and look-up."""
        return hashlib.sha256(self.text.encode(errors="surrogatepass")).digest()


def keyed_digest(secret_key: str, purpose: str, value: str) -> bytes:
    """HMAC-SHA-256 of a value under the service's secret, separated by purpose."""
    return hmac.digest(secret_key.encode(), f"{purpose}\x00{value}".encode(), "sha256")

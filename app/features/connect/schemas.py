"""What a guide is made of. Plain data: the command line shows it too, without the server's packages."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text to copy, and where it goes."""

    text: str
    language: Literal["json", "toml", "shell", "text"]
    place: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to connect a client: by signing in (`oauth`: the address is enough), or with an API key."""

    auth: Literal["oauth", "api-key"]
    steps: tuple[str, ...]
    snippets: tuple[Snippet, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A link that opens the client with everything filled in; it never carries a credential."""

    label: str
    href: str


@dataclass(frozen=True, slots=True)
class ClientGuide:
    """How one client is connected; the first way is the one to take."""

    id: str
    name: str
    surface: str
    url: str
    ways: tuple[Way, ...]
    source: str
    link: Link | None = None
    remote: bool = False
    """It connects from its maker's servers, which must reach the address."""

    def as_dict(self) -> dict[str, Any]:
        """Give it for JSON."""
        return asdict(self)

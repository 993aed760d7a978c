"""Arguments of pages, and what a page was found to be (contract: operations 15 and 16)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

from app.features.documents.schemas import ChangeLog, DocumentId, Title
from app.kit.addresses import in_ascii, parse_target
from app.kit.guarded import Guarded, Lease
from app.kit.ids import Id
from app.kit.schema import Model, Tags

MAX_URL = 2_048


def _page_url(value: str) -> str:
    """Write an address as it is asked for.

    Names of this network pass: whether an address is fetched, one policy judges (`PageInside`).
    """
    target = parse_target(in_ascii(value.strip()), local_names=True)
    if target is None:
        msg = "must be a web page's http or https address, without user name, its host a plain name"
        raise ValueError(msg)
    return target.url


class ScrapeDocument(Model):
    """The web page to keep."""

    url: Annotated[
        str,
        AfterValidator(_page_url),
        Field(min_length=1, max_length=MAX_URL, description="The page's public http or https address."),
    ]
    title: Annotated[Title | None, Field(default=None, description="A title instead of the page's own.")]
    tags: Annotated[Tags, Field(default_factory=list, description="Labels to filter by.")]
    collection_id: Annotated[Id | None, Field(default=None, description="A collection that it belongs to at once.")]


class RefreshDocument(Guarded, Lease):
    """Which document to bring up to date from its web page."""

    document_id: DocumentId
    change_log: Annotated[ChangeLog, Field(default=None)]


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server said to know its page again by (RFC 9110 section 8.8)."""

    etag: str | None = None
    last_modified: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that ask whether the page is still that one."""
        found = {"if-none-match": self.etag, "if-modified-since": self.last_modified}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was fetched; without `content` it is the one that was known."""

    url: str
    content: str | None
    validators: Validators
    title: str | None = None
    canonical: str | None = None
    language: str | None = None

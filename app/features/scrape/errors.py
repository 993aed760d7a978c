"""What can be wrong with a web page that is to be kept."""

from __future__ import annotations

from app.kit.errors import AppError, InvalidRequest, Kind

_INSTEAD = "save its text with POST /v1/documents instead"
_ALLOWED = "the operator of this service allowed the IP address with its port (the setting FETCH_ALLOW)"


class PageInside(InvalidRequest):
    """The address itself says that it leads inside a network, or to a port that is no web server's."""

    def __init__(self) -> None:
        msg = (
            "addresses inside a network are not fetched, nor IP addresses on ports but 80 (http) and 443 (https), "
            f"unless {_ALLOWED}"
        )
        super().__init__(
            f"url: {msg}. Name a page of the public Internet, or {_INSTEAD}.",
            details=[{"field": "url", "message": msg}],
        )


class PageFailed(AppError):
    """The page could not be had; `details.status` is what its server answered, where it did."""

    kind = Kind.UPSTREAM
    reason = "UPSTREAM_FAILED"

    def __init__(self, status: int | None = None) -> None:
        if status is None:
            super().__init__(
                f"The page could not be fetched: its address must be public and on the usual port, unless {_ALLOWED}, "
                f"and its server must answer. Check the address; if it is right, retry later, or {_INSTEAD}."
            )
            return
        retry = "retry later" if status >= 500 or status == 429 else "check the address"  # noqa: PLR2004
        super().__init__(f"The page's server answered {status}; {retry}, or {_INSTEAD}.", details={"status": status})


class PageTimedOut(AppError):
    """The page did not arrive in time."""

    kind = Kind.UPSTREAM_TIMEOUT
    reason = "UPSTREAM_FAILED"

    def __init__(self) -> None:
        super().__init__(f"The page did not arrive in time; retry later, or {_INSTEAD}.")


class PageForbidden(AppError):
    """The site's robots.txt does not want this page to be read by programs."""

    kind = Kind.UPSTREAM
    reason = "UPSTREAM_FAILED"

    def __init__(self) -> None:
        super().__init__(f"The site's robots.txt does not allow programs to read this page; {_INSTEAD}.")


class PageUnreadable(AppError):
    """The page arrived, but there is no text to take from it."""

    kind = Kind.UPSTREAM
    reason = "UPSTREAM_FAILED"

    def __init__(self, why: str) -> None:
        super().__init__(f"The page cannot be kept: {why}. Open it in a browser, and {_INSTEAD}.")


class PageTypeUnsupported(AppError):
    """The address leads to something that is no page."""

    kind = Kind.UNSUPPORTED_MEDIA_TYPE
    reason = "UNSUPPORTED_MEDIA_TYPE"

    def __init__(self, media_type: str) -> None:
        super().__init__(
            f"The address leads to {media_type or 'something without a media type'}, which is no web page; "
            "HTML, plain text, Markdown and JSON can be kept. Download it and upload the file instead.",
            details={"mediaType": media_type},
        )


class NotFromUrl(AppError):
    """The document was not kept from a web page, so there is nothing to refresh it from."""

    kind = Kind.CONFLICT
    reason = "NOT_REFRESHABLE"

    def __init__(self) -> None:
        super().__init__(
            "Only documents with sourceType `url` can be refreshed; change this one with PATCH /v1/documents/{id}."
        )

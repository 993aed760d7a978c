"""Pages for people: what a feature's `pages.py` needs to read a visitor, check a form and render a template."""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from app.edge.asgi import header, read_body
from app.edge.web.web import CSRF_COOKIE, SESSION_COOKIE, Cookie, Web
from app.edge.web.wording import DONE, told
from app.gate.arguments import parse_args
from app.gate.gate import Credential, Gate
from app.gate.policy import Limit
from app.kit.errors import AppError, InvalidRequest, Kind, Unauthenticated, UnsupportedMediaType
from app.kit.paging import MAX_LIMIT
from app.kit.schema import Model

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.requests import Request

    from app.gate.operation import Operation
    from app.gate.principal import Principal
    from app.kit.schema import Page as Listed

A = TypeVar("A", bound=Model)
R = TypeVar("R", bound=Model | None)
Item = TypeVar("Item")

HOME = "/dashboard"
SIGN_IN = "/sign-in"
SESSION_SECONDS = 90 * 24 * 3600
MAX_FORM_BYTES = 64 * 1024
_MAX_FIELDS = 100
_MAX_PATH = 2000
_FORM = "application/x-www-form-urlencoded"
_NONCE_BYTES = 24
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*:(//[A-Za-z0-9.\[\]:-]+)?")

RATES: dict[str, Limit | None] = {
    "none": None,
    "page": Limit(300, 60),
    "form": Limit(60, 60),
    "sign-in": Limit(30, 60),
    "shared": Limit(120, 60),
}
"""How often one address may ask for pages of a kind; a page's POST counts in `form` at least."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its path, what answers, why it is no operation, and its rate per address (a name of `RATES`).

    One that is `open` is for everybody and needs no cookie, so that it may be served over plain http too.
    """

    path: str
    endpoint: Callable[[Request], Awaitable[Response]]
    methods: tuple[str, ...] = ("GET",)
    why: str = "shows a person what operations do"
    rate: str = "page"
    open: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of an item's page that another feature fills, found in its `panels.py` as `PANELS`.

    Its forms lead to pages of its own feature, which send the browser back to the item's page.
    """

    kind: str
    """On whose pages: `documents`, `prompts`, `collections`, or the `overview`, whose item is the visitor."""
    template: str
    gather: Callable[[Request, Any], Awaitable[dict[str, Any] | None]]
    """Gives what the template needs for an item as its operation reads it; None: nothing is shown here."""
    order: int = 0


class Forged(AppError):
    """A form was not sent by our own page, or long after it was shown."""

    kind = Kind.FORBIDDEN
    reason = "FORM_REFUSED"

    def __init__(self) -> None:
        super().__init__("This form was not sent from a fresh page of this site. Go back, reload the page, try again.")


def web_of(request: Request) -> Web:
    """Give what all pages share."""
    web: Web = request.app.state.web
    return web


def gate_of(request: Request) -> Gate:
    """Give the gate."""
    gate: Gate = request.app.state.gate
    return gate


def address(request: Request) -> str:
    """Give the visitor's address, as `TRUSTED_PROXIES` decides."""
    return web_of(request).addresses.of(request.scope)


async def visitor(request: Request) -> Principal | None:
    """Give the principal of the browser session; None when there is none, or it ended."""
    if "visitor" not in request.scope:
        request.scope["visitor"] = await _visitor(request)
    found: Principal | None = request.scope["visitor"]
    return found


async def person(request: Request) -> Principal:
    """Give the principal of the browser session.

    Raises:
        Unauthenticated: there is none; the visitor is sent to sign in.
    """
    found = await visitor(request)
    if found is None:
        raise Unauthenticated("Sign in first.")
    return found


async def _visitor(request: Request) -> Principal | None:
    cookie = session_cookie(request)
    if not cookie:
        return None
    try:
        return await gate_of(request).authenticate(Credential(None, session=cookie))
    except Unauthenticated:
        return None


def session_cookie(request: Request) -> str:
    """Give the text of the session's cookie, or nothing."""
    return web_of(request).cookie(request.scope, SESSION_COOKIE) or ""


def local_path(text: str | None, default: str = HOME) -> str:
    """Keep a path of this site; anything that a browser could read as another site becomes `default`.

    Browsers drop tabs and line ends from addresses and read a backslash as a slash, so that none may stand anywhere.
    """
    if not text or len(text) > _MAX_PATH or not text.startswith("/") or text.startswith("//"):
        return default
    if any(character <= " " or character in "\\\x7f" for character in text):
        return default
    parts = urlsplit(text)
    return default if parts.scheme or parts.netloc else text


def redirect(path: str, done: str = "", status: int = 303) -> Response:
    """Send the browser to a path of this site by GET; the page there says what was `done`, by a word of `DONE`.

    308 instead of 303 says that the page is there for good.
    """
    parts = urlsplit(local_path(path))
    if done:
        parts = parts._replace(query="&".join(filter(None, [parts.query, f"done={done}"])))
    location = quote(parts.geturl(), safe="/?&=#%:+,;@~!$'()*-._")
    return _sealed(Response(status_code=status, headers={"location": location}))


def leave(url: str) -> Response:
    """Send the browser by GET to an address of another site, which the caller has checked."""
    return _sealed(Response(status_code=303, headers={"location": url}))


def sign_in_first(request: Request) -> Response:
    """Send a visitor without a session to sign in, and back here afterwards."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = here if request.method in ("GET", "HEAD") else HOME
    return redirect(f"{SIGN_IN}?next={quote(local_path(target), safe='/')}")


def render(
    request: Request, template: str, status: int = 200, *, form_targets: Sequence[str] = (), **context: Any
) -> Response:
    """Render a template as a page that no other site can frame, script or read.

    Args:
        form_targets: origins beside our own where a form of this page may lead (`form-action`).
    """
    web = web_of(request)
    response = _sealed(HTMLResponse(fragment(request, template, **context), status), form_targets)
    if web.secure or web.on_loopback(request.scope):
        response.headers["referrer-policy"] = "no-referrer"
    else:  # plain http beyond this machine: browsers send no Sec-Fetch-Site, and no Origin without a referrer
        response.headers["referrer-policy"] = "same-origin"
    if (fresh := request.scope.get("csrf_fresh")) is not None:
        web.set_cookie(response, Cookie(CSRF_COOKIE, fresh))
    return response


def fragment(request: Request, template: str, **context: Any) -> Markup:
    """Render a template that is a part of a page."""
    done = request.query_params.get("done", "") if request.method == "GET" else ""
    shared = {
        "request_path": request.url.path,
        "request_query": request.url.query if request.query_params.keys() - {"done"} else "",
        "done": done if done in DONE else "",
        "said": DONE.get(done, ""),
        "visitor": request.scope.get("visitor"),
        "csrf": lambda: csrf(request),
    }
    return Markup(web_of(request).templates.get_template(template).render(shared | context))  # noqa: S704  escaped by it


async def panels(request: Request, kind: str, item: Any) -> list[Markup]:
    """Render what other features have to say about an item on its page, in their order."""
    asked = [panel for panel in web_of(request).panels if panel.kind == kind]
    found = await asyncio.gather(*(panel.gather(request, item) for panel in asked))
    return [
        fragment(request, panel.template, **context)
        for panel, context in zip(asked, found, strict=True)
        if context is not None
    ]


def _sealed(response: Response, form_targets: Sequence[str] = ()) -> Response:
    if not all(_ORIGIN.fullmatch(target) for target in form_targets):
        msg = "a form's target must be an origin, or a scheme with its colon"
        raise ValueError(msg)
    form_action = " ".join(["'self'", *form_targets])
    response.headers.update(
        {
            "content-security-policy": (
                "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
                "img-src 'self' data:; font-src 'self'; "
                f"form-action {form_action}; base-uri 'none'; frame-ancestors 'none'"
            ),
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
            "x-frame-options": "DENY",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        }
    )
    return response


def csrf(request: Request) -> str:
    """Give the token that the page's forms carry: a signature over the visitor's own cookie and session."""
    nonce = web_of(request).cookie(request.scope, CSRF_COOKIE) or request.scope.get("csrf_fresh")
    if nonce is None:
        nonce = request.scope["csrf_fresh"] = secrets.token_urlsafe(_NONCE_BYTES)
    return _token(request, nonce)


def _token(request: Request, nonce: str) -> str:
    return web_of(request).sign("csrf", f"{nonce}\0{session_cookie(request)}")


def own_form_only(request: Request) -> None:
    """Refuse what another site's page sends.

    Raises:
        Forged: it does not come from a page of ours.
    """
    if not web_of(request).is_own_origin(request.scope):
        raise Forged


def checked(request: Request, fields: dict[str, str]) -> dict[str, str]:
    """Take the token out of a form's fields.

    Raises:
        Forged: the token is missing, or of another session.
    """
    nonce = web_of(request).cookie(request.scope, CSRF_COOKIE)
    sent = fields.pop("csrf", "")
    if nonce is None or not hmac.compare_digest(sent.encode(), _token(request, nonce).encode()):
        raise Forged
    return fields


async def form(request: Request, limit: int = MAX_FORM_BYTES, most: int = _MAX_FIELDS) -> dict[str, str]:
    """Read a posted form that our own page sent, of at most `limit` bytes and `most` fields.

    Raises:
        Forged: another site sent it, or the token is missing or of another session.
        UnsupportedMediaType, PayloadTooLarge, InvalidRequest: it is no form of ours.
    """
    own_form_only(request)
    if (header(request.scope, b"content-type") or "").split(";")[0].strip().lower() != _FORM:
        raise UnsupportedMediaType(f"Send the form as {_FORM}.")
    body = await read_body(request.scope, request.receive, limit)
    short = len(body) <= MAX_FORM_BYTES
    return checked(request, _fields(body, most) if short else await asyncio.to_thread(_fields, body, most))


def _fields(body: bytes, most: int) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=most)
    except ValueError as error:
        raise InvalidRequest("The form cannot be read.") from error
    fields = dict(pairs)
    if len(fields) != len(pairs) or any("\0" in value for value in fields.values()):
        raise InvalidRequest("The form cannot be read.")
    return fields


async def call(request: Request, operation: Operation[A, R], *, once: str | None = None, **args: Any) -> R:
    """Run an operation for the visitor; its refusals speak to people, and without a session sign-in comes first.

    With `once`, which a form brings, a form that is sent twice is done once.
    """
    try:
        return await _run(request, operation, once, args)
    except AppError as error:
        error.message = told(error.reason, error.message)
        raise


async def _run(request: Request, operation: Operation[A, R], once: str | None, args: dict[str, Any]) -> R:
    credential = Credential(None, session=session_cookie(request), client=request.headers.get("user-agent"))
    gate = gate_of(request)
    admission = await gate.admit(operation, credential)
    request.scope["visitor"] = admission.principal
    given = parse_args(operation.args, args)
    answer = await gate.run(
        admission, operation, given, request_id=request.scope["request_id"], idempotency_key=once or None
    )
    return answer.result


async def every(request: Request, operation: Operation[A, Listed[Item]], **args: Any) -> list[Item]:
    """Run a listing for the visitor page by page: what a person manages is short enough to be shown as a whole."""
    found: list[Item] = []
    after: str | None = None
    while True:
        answer = await call(request, operation, limit=MAX_LIMIT, cursor=after, **args)
        found += answer.data
        after = answer.pagination.cursor
        if after is None:
            return found


def sign_visitor_in(request: Request, response: Response, token: str) -> Response:
    """Give the browser the cookie of a fresh session."""
    web_of(request).set_cookie(response, Cookie(SESSION_COOKIE, token, SESSION_SECONDS))
    return response


def sign_visitor_out(request: Request, response: Response) -> Response:
    """Take the session's cookie back."""
    web_of(request).clear_cookie(response, SESSION_COOKIE)
    return response

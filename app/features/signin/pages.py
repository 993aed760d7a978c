"""Pages of signing in: the doors, and a person's own account."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from app.edge.web.agents import browser_name
from app.edge.web.page import (
    HOME,
    Page,
    address,
    call,
    form,
    gate_of,
    local_path,
    redirect,
    render,
    session_cookie,
    sign_in_first,
    sign_visitor_in,
    sign_visitor_out,
    visitor,
)
from app.features.accounts.operations import get_me
from app.features.accounts.service import is_address
from app.features.signin import operations
from app.features.signin.errors import AddressTaken
from app.features.signin.passwords import MIN_LENGTH
from app.features.signin.service import MAKES_ACCOUNT, SETS_PASSWORD, Browser, SignIn
from app.gate.policy import Limit
from app.kit.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

# Of one address against one account, and of the whole world against one account: guessing stays hopeless, and locking
# somebody out takes many addresses.
_TRIES = Limit(10, 300)
_ALL_TRIES = Limit(200, 3600)
_MAILS = Limit(5, 3600)
_REFUSED = "Address or password is not right."


def browser(request: Request) -> Browser:
    """Say who is at the other end."""
    return Browser(address(request), request.headers.get("user-agent"), session_cookie(request))


async def _spend(request: Request, email: str, *, mail: bool = False) -> None:
    """Count a try against an account, known or not.

    Raises:
        RateLimited: it is one too many.
    """
    account = hashlib.sha256(email.strip().lower().encode(errors="surrogatepass")).hexdigest()[:32]
    gate = gate_of(request)
    if mail:
        await gate.limit(f"account:{account}", "mail", _MAILS)
        return
    await gate.limit(f"account:{account}", f"sign-in:{address(request)}", _TRIES)
    await gate.limit(f"account:{account}", "sign-in", _ALL_TRIES)


async def sign_in(request: Request) -> Response:
    """Sign in with address and password."""
    door = gate_of(request).get(SignIn)
    if request.method != "POST":
        target = local_path(request.query_params.get("next"))
        if await visitor(request) is not None:
            return redirect(target)
        return render(request, "sign_in.html", target=target, email="", error="", signup=door.signup)
    fields = await form(request)
    email, target = fields.get("email", "").strip(), local_path(fields.get("next"))
    await _spend(request, email)
    token = await door.sign_in(email, fields.get("password", ""), browser(request))
    if token is None:
        return render(request, "sign_in.html", 401, target=target, email=email, error=_REFUSED, signup=door.signup)
    return sign_visitor_in(request, redirect(target), token)


async def sign_out(request: Request) -> Response:
    """Sign out; a GET only asks."""
    if request.method != "POST":
        if await visitor(request) is None:
            return redirect("/sign-in")
        return render(request, "sign_out.html")
    await form(request)
    if session_cookie(request):
        await gate_of(request).get(SignIn).sign_out(browser(request))
    return sign_visitor_out(request, redirect("/sign-in"))


async def forgot_password(request: Request) -> Response:
    """Ask for a mail that lets one choose a new password."""
    if request.method != "POST":
        return render(request, "forgot_password.html", error="", email="")
    fields = await form(request)
    email = fields.get("email", "").strip()
    if not is_address(email):
        return render(request, "forgot_password.html", 400, error="This is no e-mail address.", email=email)
    await _spend(request, email, mail=True)
    await gate_of(request).get(SignIn).ask_for_mail("password_reset", email)
    return render(request, "mail_sent.html")


async def set_password(request: Request) -> Response:
    """Choose a password by a one-time link, and be signed in."""
    door, token = gate_of(request).get(SignIn), request.path_params["token"]
    link = await door.look(token, SETS_PASSWORD)
    shown: dict[str, Any] = {"email": link.email, "minimum": MIN_LENGTH}
    if request.method != "POST":
        return render(request, "set_password.html", error="", **shown)
    fields = await form(request)
    try:
        cookie = await door.set_password(token, fields.get("password", ""), browser(request))
    except InvalidRequest as error:
        return render(request, "set_password.html", 400, error=error.message, **shown)
    return sign_visitor_in(request, redirect(HOME), cookie)


async def sign_up(request: Request) -> Response:
    """Ask for an account, where everybody may have one."""
    door = gate_of(request).get(SignIn)
    if door.signup != "open":
        raise NotFound("Accounts are made by invitation here. Ask somebody who has one, or the administrator.")
    if request.method != "POST":
        return render(request, "sign_up.html", error="", email="")
    fields = await form(request)
    email = fields.get("email", "").strip()
    if not is_address(email):
        return render(request, "sign_up.html", 400, error="This is no e-mail address.", email=email)
    await _spend(request, email, mail=True)
    await door.ask_for_mail("sign_up", email)
    return render(request, "mail_sent.html")


async def register(request: Request) -> Response:
    """Finish an account by the link of a mail, or before accepting an invite."""
    door, token = gate_of(request).get(SignIn), request.path_params["token"]
    link = await door.look(token, MAKES_ACCOUNT)
    shown: dict[str, Any] = {"email": link.email, "minimum": MIN_LENGTH}
    if request.method != "POST":
        return render(request, "register.html", error="", name="", **shown)
    fields = await form(request)
    name = fields.get("name", "")
    try:
        cookie = await door.register(token, name, fields.get("password", ""), browser(request))
    except (InvalidRequest, AddressTaken) as error:
        return render(request, "register.html", 400, error=error.message, name=name, **shown)
    return sign_visitor_in(request, redirect(f"/invite/{token}" if link.purpose == "invite" else HOME), cookie)


async def account(request: Request) -> Response:
    """Show a person's account, and change the password."""
    who = await visitor(request)
    if who is None:
        return sign_in_first(request)
    me = (await call(request, get_me)).data
    shown: dict[str, Any] = {"me": me, "minimum": MIN_LENGTH}
    if request.method != "POST":
        return render(request, "account.html", error="", **shown)
    fields = await form(request)
    await _spend(request, me.email)
    door = gate_of(request).get(SignIn)
    given = fields.get("current", ""), fields.get("password", "")
    try:
        cookie = await door.change_password(who.user_id, *given, browser(request))
    except InvalidRequest as error:
        return render(request, "account.html", 400, error=error.message, **shown)
    return sign_visitor_in(request, redirect("/dashboard/account", "password"), cookie)


async def sessions(request: Request) -> Response:
    """List the browsers where the person is signed in."""
    found = await call(request, operations.list_sign_ins)
    return render(
        request, "sessions.html", sessions=found.data, names=[browser_name(item.user_agent) for item in found.data]
    )


async def end_session(request: Request) -> Response:
    """Sign out in one browser."""
    await form(request)
    await call(request, operations.end_sign_in, signInId=request.path_params["id"])
    return redirect("/dashboard/sessions")


_BOTH = ("GET", "POST")
_DOOR = "nobody is known before it"

PAGES = [
    Page("/sign-in", sign_in, _BOTH, why=_DOOR, rate="sign-in"),
    Page("/sign-out", sign_out, _BOTH, why="ends what it is called with"),
    Page("/forgot-password", forgot_password, _BOTH, why=_DOOR, rate="sign-in"),
    Page("/set-password/{token}", set_password, _BOTH, why=_DOOR, rate="sign-in"),
    Page("/sign-up", sign_up, _BOTH, why=_DOOR, rate="sign-in"),
    Page("/sign-up/{token}", register, _BOTH, why=_DOOR, rate="sign-in"),
    Page("/dashboard/account", account, _BOTH, why="a password is checked before any transaction"),
    Page("/dashboard/sessions", sessions),
    Page("/dashboard/sessions/{id}/end", end_session, ("POST",)),
]

"""The people's side of the authorization server: consent, a device's code, connected apps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

from app.edge.web.page import (
    SIGN_IN,
    Page,
    address,
    form,
    gate_of,
    leave,
    redirect,
    render,
    session_cookie,
    sign_in_first,
    sign_visitor_out,
    visitor,
)
from app.features.oauth import queries
from app.features.oauth.provider.clients import STATIC, is_document_id
from app.features.oauth.provider.server import Answer
from app.features.oauth.schemas import Approval
from app.features.oauth.wire import oauth_of
from app.features.signin.service import Browser, SignIn
from app.gate.policy import MEANINGS, Role, Scope
from app.gate.ports import Revocations
from app.kit.errors import InvalidRequest, NotFound
from app.kit.ids import parse_id
from app.kit.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.oauth.provider.oauth import Asked, OAuth
    from app.gate.principal import Principal

APPS = "/dashboard/apps"
REST = "/v1"
"""The one surface where members and invites can be managed."""
_MAX_QUERY = 16 * 1024
_MAX_FIELDS = 50
_ASK = frozenset({"consent", "select_account"})
_CODE = re.compile(r"[BCDFGHJKLMNPQRSTVWXZ]{8}")


def _pairs(query: str) -> list[tuple[str, str]]:
    """Read the parameters of an authorization request.

    Raises:
        InvalidRequest: they cannot be read.
    """
    if len(query) > _MAX_QUERY:
        raise InvalidRequest("The app's request is too long.")
    try:
        return parse_qsl(query, keep_blank_values=False, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise InvalidRequest("The app's request cannot be read.") from error


def _sent(answer: Answer) -> Response:
    """Send the browser to the client."""
    assert answer.location
    return leave(answer.location)


async def authorize(request: Request) -> Response:
    """Ask a person whether a client may have access, or answer the client at once."""
    if request.method == "POST":
        return await _decide(request)
    query = request.url.query
    pairs = _pairs(query)
    asked = await oauth_of(request).check(pairs)
    if isinstance(asked, Answer):
        return _sent(asked)
    person = await visitor(request)
    if "none" in asked.prompts:
        return _sent(await _without_asking(oauth_of(request), pairs, asked, person))
    if person is None:
        return sign_in_first(request)
    if "login" in asked.prompts:
        return await _sign_in_again(request, pairs)
    known = await _known_consent(oauth_of(request), pairs, asked, person)
    return _sent(known) if known is not None else await _consent_page(request, asked, person, query)


async def _without_asking(
    oauth: OAuth, pairs: Sequence[tuple[str, str]], asked: Asked, person: Principal | None
) -> Answer:
    """Answer `prompt=none`: with a code where nothing has to be asked, else with what is missing."""
    if len(asked.prompts) > 1:
        return await oauth.refuse(pairs, asked.redirect, "invalid_request")
    if person is None:
        return await oauth.refuse(pairs, asked.redirect, "login_required")
    known = await _known_consent(oauth, pairs, asked, person)
    return known or await oauth.refuse(pairs, asked.redirect, "consent_required")


async def _known_consent(
    oauth: OAuth, pairs: Sequence[tuple[str, str]], asked: Asked, person: Principal
) -> Answer | None:
    """Continue an earlier consent to the same client at the same place, for the same resource and scopes.

    A program on the person's machine can be imitated by any other there: its earlier consent proves nothing.
    """
    if asked.prompts & _ASK or asked.redirect.is_loopback:
        return None
    consent = await oauth.consent(asked, person.user_id)
    if consent is None:
        return None
    return await oauth.decide(pairs, Approval(person.user_id, consent.workspace_id, asked.scopes, consent.grant_id))


async def _sign_in_again(request: Request, pairs: Sequence[tuple[str, str]]) -> Response:
    """End the browser's session, here and in the browser, and come back without `prompt=login`."""
    ending = Browser(address(request), request.headers.get("user-agent"), session_cookie(request))
    await gate_of(request).get(SignIn).sign_out(ending)
    kept = [(name, value) for name, value in pairs if name != "prompt"]
    prompts = " ".join(value for name, value in pairs if name == "prompt").replace("login", "").split()
    query = urlencode([*kept, *([("prompt", " ".join(prompts))] if prompts else [])])
    return sign_visitor_out(request, redirect(f"{SIGN_IN}?next={quote(f'{request.url.path}?{query}', safe='/')}"))


async def _consent_page(request: Request, asked: Asked, person: Principal, query: str) -> Response:
    client = asked.client
    return render(
        request,
        "consent.html",
        form_targets=[asked.redirect.origin],
        query=query,
        device_code="",
        action="/oauth/authorize",
        name=client.name,
        origin=client.origin,
        is_document=is_document_id(client.client_id),
        place=asked.redirect.place,
        is_loopback=asked.redirect.is_loopback,
        is_loopback_only=client.is_loopback_only,
        is_app=asked.redirect.is_app,
        **await _choices(request, person, asked.resource, asked.scopes),
    )


async def _choices(request: Request, person: Principal, resource: str, scopes: Sequence[str]) -> dict[str, Any]:
    """Give what every page of consent shows: who decides, for what, and in which workspace."""
    rows = await queries.list_workspaces(gate_of(request).database, person.user_id)
    return {
        "person": person.user_name,
        "resource": resource,
        "scopes": [(scope, MEANINGS[Scope(scope)]) for scope in scopes],
        "manages": resource.endswith(REST) and set(scopes) == set(Scope),
        "workspaces": [(str(row["id"]), _named(row)) for row in rows],
    }


def _named(workspace: asyncpg.Record) -> str:
    whose = f"of {one_line(workspace['owner'])}, " if workspace["owner"] else ""
    return f"{one_line(workspace['name'])} ({whose}{workspace['role']})"


def _approval(person: Principal, fields: dict[str, str], asked: Sequence[str]) -> Approval:
    """Read what a person chose.

    Raises:
        InvalidRequest: no workspace, or nothing is allowed.
    """
    workspace = parse_id(fields.get("workspace", ""))
    scopes = tuple(scope for scope in asked if f"scope.{scope}" in fields)
    if workspace is None or not scopes:
        raise InvalidRequest("Choose a workspace and leave at least one permission checked, or deny the request.")
    return Approval(person.user_id, workspace, scopes)


async def _decide(request: Request) -> Response:
    person = await visitor(request)
    if person is None:
        return sign_in_first(request)
    fields = await form(request)
    oauth, pairs = oauth_of(request), _pairs(fields.get("query", ""))
    asked = await oauth.check(pairs)
    if isinstance(asked, Answer):
        return _sent(asked)
    allowed = fields.get("decision") == "allow"
    approval = _approval(person, fields, asked.scopes) if allowed else None
    return _sent(await oauth.decide(pairs, approval))


async def device(request: Request) -> Response:
    """Enter the code that a device shows, then decide as for any other client."""
    oauth = oauth_of(request)
    person = await visitor(request)
    if person is None:
        return sign_in_first(request)
    fields = await form(request) if request.method == "POST" else dict(request.query_params)
    given = fields.get("user_code", "")
    code = re.sub(r"[^A-Z]", "", given.upper()[:40])
    row = await oauth.device(f"{code[:4]}-{code[4:]}") if _CODE.fullmatch(code) else None
    if row is None:
        wrong = "This code is unknown or its time is over. Start again on the device." if given else ""
        return render(request, "device.html", 400 if wrong else 200, wrong=wrong, done="")
    if request.method == "POST" and "decision" in fields:
        approval = _approval(person, fields, row.scopes) if fields["decision"] == "allow" else None
        if not await oauth.decide_device(row, approval):
            raise InvalidRequest("This request was answered before, or its time is over.")
        done = "The device has access now. You can close this page." if approval else "Access was denied."
        return render(request, "device.html", wrong="", done=done)
    return render(
        request,
        "consent.html",
        query="",
        device_code=row.user_code,
        action="/oauth/device",
        name=row.client_name,
        origin="part of this service" if row.client_id in STATIC else "registered dynamically",
        is_document=False,
        place="",
        is_loopback=False,
        is_loopback_only=False,
        is_app=False,
        **await _choices(request, person, row.resource, row.scopes),
    )


async def apps(request: Request) -> Response:
    """List what has access, and take it back."""
    oauth_of(request)
    person = await visitor(request)
    if person is None:
        return sign_in_first(request)
    database = gate_of(request).database
    if request.method == "POST":
        grant_id = parse_id((await form(request)).get("grant", ""))
        if grant_id is None or not await queries.revoke_grant(database, person.user_id, grant_id):
            raise NotFound("This app has no access any more.")
        gate_of(request).get(Revocations).of_grant(grant_id)  # other processes see it within a few seconds
        return redirect(APPS)
    found = await queries.list_apps(database, person.user_id)
    listed = [(app, [MEANINGS[Scope(scope)] for scope in app.scopes if scope in Role.OWNER.scopes]) for app in found]
    return render(request, "apps.html", apps=listed, action=APPS)


_WHY = "a person decides here what a program may do"
PAGES = [
    Page("/oauth/authorize", authorize, ("GET", "POST"), why=_WHY),
    Page("/oauth/device", device, ("GET", "POST"), why=_WHY, rate="sign-in"),
    Page(APPS, apps, ("GET", "POST"), why="shows a person what has access"),
]

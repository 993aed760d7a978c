"""Every step of the doctor passes against the service, and names itself when the service is broken in its way."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import ssl

import httpx2
import pytest
import typer
from typer.testing import CliRunner

from app.cli import connect_commands
from app.doctor.probe import Probe, Reply, base_of, clean
from app.doctor.steps import STEPS, Step, examine
from tests.cli.faults import Answer, Broken, html, redirect
from tests.features.oauth.conftest import app, people, secure_settings
from tests.features.oauth.flow import ISSUER
from tests.support.asgi import Transport
from tests.support.factories import Make

__all__ = ["app", "people", "secure_settings"]
COMMANDS = typer.Typer()
connect_commands.register(COMMANDS)
WELL_KNOWN = "/.well-known/"
NAMES = [step.name for step in STEPS]


def seen_from_afar(app):
    """Addresses are counted: each examination comes from one of its own."""
    address = f"198.19.{secrets.randbelow(256)}.{secrets.randbelow(256)}"

    async def call(scope, receive, send):
        await app({**scope, "client": (address, 1)}, receive, send)

    return call


async def examined(app, key="", write=False, base=ISSUER, seconds=120.0):
    async with httpx2.AsyncClient(transport=Transport(seen_from_afar(app))) as http:
        probe = Probe(http, base, key, write, request_seconds=5)
        return {outcome.name: outcome for outcome in await examine(probe, seconds)}


def failed(outcomes):
    return {name for name, outcome in outcomes.items() if outcome.status == "fail"}


async def test_every_step_passes_against_the_service(app, people):
    user = await people.user()
    outcomes = await examined(app, user.key, write=True)
    assert {name: (o.message, o.got) for name, o in outcomes.items() if o.status != "pass"} == {}
    assert list(outcomes) == NAMES
    assert len(set(NAMES)) == len(NAMES)
    text = json.dumps([outcome.as_dict() for outcome in outcomes.values()])
    assert user.key not in text
    assert user.key.rpartition("_")[2] not in text


async def test_the_doctor_leaves_nothing_behind(app, people, sql):
    user = await people.user()
    clients = await sql.fetchval("SELECT count(*) FROM oauth_clients")
    await examined(app, user.key, write=True)
    assert await sql.fetchval("SELECT count(*) FROM oauth_clients") == clients
    kept = "SELECT count(*) FROM contents WHERE workspace_id = $1 AND content <> ''"
    assert await sql.fetchval(kept, user.workspace_id) == 0


async def test_without_a_key_its_steps_are_skipped_and_nothing_is_written(app):
    outcomes = await examined(app)
    assert failed(outcomes) == set()
    skipped = {name for name, outcome in outcomes.items() if outcome.status == "skip"}
    assert skipped == {"key-rest", "key-legacy", "key-modern", "document-create", "document-read", "document-delete"}


# -- one fault for each step ----------------------------------------------------------------------------------------


def at(*paths, method=None, rpc=None, then):
    """Change the answers of some requests."""

    def fault(request, answer):
        fits = request.path in paths and method in (None, request.method) and rpc in (None, request.rpc)
        return then(answer) if fits else None

    return fault


def edit(*paths, **changes):
    return at(*paths, then=lambda answer: answer.edit(**changes))


def gives(status, body=b"{}", **headers):
    return lambda _: Answer(status, {"content-type": "application/json"} | headers, body)


def when(condition, then):
    return lambda request, answer: then(answer) if condition(request) else None


def without(name):
    return lambda answer: answer.headers.pop(name, None) and None


PRM, ASM = f"{WELL_KNOWN}oauth-protected-resource", f"{WELL_KNOWN}oauth-authorization-server"
ASMS = (ASM, f"{ASM}/mcp", f"/mcp{ASM}")
CHALLENGED = {"grok-refused", "call-refused", "challenge-answers", "authorization-header"}
NO_DOCUMENT = {"document-create"}
FAULTS = {
    "reachable": (at("/livez", then=lambda _: redirect("https://elsewhere.test/")), {"livez"}, "redirect"),
    "livez": (at("/livez", then=lambda _: Answer(200, {}, b"Welcome to nginx")), set(), "Another program"),
    "readyz": (at("/readyz", then=gives(503)), set(), "does not reach"),
    "resource-root": (edit(PRM, resource=f"{ISSUER}/mcp/"), set(), "slash"),
    "resource-mcp": (edit(f"{PRM}/mcp", resource=f"{ISSUER}/mcp/"), {"challenge-answers"}, "slash"),
    "resource-grok-mcp": (edit(f"{PRM}/grok-mcp", resource="http://10.0.0.7:8000/grok-mcp"), set(), "PUBLIC_URL"),
    "resource-mcp-all": (edit(f"{PRM}/mcp/all", resource=f"{ISSUER}/mcp"), set(), "PUBLIC_URL"),
    "resource-v1": (edit(f"{PRM}/v1", authorization_servers=[]), set(), "where to sign in"),
    "server-root": (at(ASM, then=lambda _: html(404)), set(), "A page for people"),
    "server-inserted": (at(f"{ASM}/mcp", then=gives(404)), set(), "well-known"),
    "server-suffixed": (at(f"/mcp{ASM}", then=lambda _: redirect(f"{ISSUER}/login")), set(), "redirect"),
    "issuer": (edit(*ASMS, issuer=f"{ISSUER}/"), set(), "slash"),
    "pkce": (edit(*ASMS, code_challenge_methods_supported=["plain"]), set(), "S256"),
    "public-clients": (edit(*ASMS, token_endpoint_auth_methods_supported=["client_secret_basic"]), set(), "secret"),
    "registration-endpoint": (edit(*ASMS, registration_endpoint=None), set(), "Most clients"),
    "cimd": (edit(*ASMS, client_id_metadata_document_supported=False), set(), "CIMD"),
    "iss": (edit(*ASMS, authorization_response_iss_parameter_supported=None), set(), "9207"),
    "list-legacy": (at("/mcp", rpc="initialize", then=lambda _: redirect("/mcp/")), set(), "redirect"),
    "list-modern": (
        when(lambda r: r.rpc == "tools/list" and "mcp-method" in r.headers, gives(400, b'{"error":"unsupported"}')),
        set(),
        "passed on to it unchanged",
    ),
    "grok-refused": (at("/grok-mcp", rpc="tools/list", then=gives(200)), set(), "refused with 401"),
    "call-refused": (
        at("/mcp", rpc="tools/call", then=lambda _: html(401)),
        {"key-legacy", "key-modern"},
        "A page for people",
    ),
    "challenge-answers": (at(f"{PRM}/mcp", then=gives(404)), {"resource-mcp"}, "not the service's own"),
    "authorization-header": (
        when(lambda r: "no-such-token" in r.headers.get("authorization", ""), gives(200)),
        set(),
        "strips the Authorization header",
    ),
    "get-refused": (
        at("/mcp", method="GET", then=lambda _: Answer(200, {"content-type": "text/event-stream"}, b"", endless=True)),
        set(),
        "buffering",
    ),
    "stale-session": (when(lambda r: "mcp-session-id" in r.headers, gives(404)), set(), "not the service's own"),
    "json-only": (
        when(
            lambda r: r.rpc == "tools/list" and r.headers.get("accept") == "application/json",
            lambda a: Answer(200, {"content-type": "text/event-stream"}, b"data: " + a.body + b"\n\n"),
        ),
        set(),
        "changes Accept",
    ),
    "trailing-slash": (at("/mcp/", then=lambda _: redirect(f"{ISSUER}/mcp", 308)), set(), "redirect"),
    "cors": (at("/mcp", method="OPTIONS", then=without("access-control-allow-headers")), set(), "OPTIONS"),
    "register": (at("/oauth/register", then=gives(403)), set(), "registration"),
    "authorize-without-pkce": (
        when(
            lambda r: r.path == "/oauth/authorize" and "code_challenge" not in r.query, lambda _: redirect("/sign-in")
        ),
        set(),
        "own fault",
    ),
    "authorize-plain": (when(lambda r: "=plain" in r.query, lambda _: html(200)), set(), "A page for people"),
    "authorize-wrong-redirect": (
        when(lambda r: "attacker" in r.query, lambda _: redirect("https://attacker.example/callback?error=x")),
        set(),
        "own fault",
    ),
    "token-error": (when(lambda r: b"no-such-grant" in r.body, without("cache-control")), set(), "no-store"),
    "refresh-garbage": (
        when(lambda r: b"garbage" in r.body, gives(400, b'{"error":"server_error"}')),
        set(),
        "own fault",
    ),
    "unregister": (when(lambda r: r.method == "DELETE" and "oauth" in r.path, gives(405)), set(), "DELETE"),
    "key-rest": (
        at("/v1/user/me", then=gives(401, **{"www-authenticate": 'Bearer error="invalid_token"'})),
        set(),
        "expired or revoked",
    ),
    "key-legacy": (
        when(
            lambda r: r.rpc == "tools/call" and "mcp-method" not in r.headers and "authorization" in r.headers,
            gives(200, b'{"result":{"isError":true,"content":[{}]}}'),
        ),
        set(),
        "active plan",
    ),
    "key-modern": (when(lambda r: r.headers.get("mcp-name") == "get_user_info", gives(504)), set(), "does not reach"),
    "document-create": (at("/v1/documents", method="POST", then=gives(403)), set(), "scope"),
    "document-read": (
        when(
            lambda r: r.method == "GET" and r.path.startswith("/v1/documents/"), gives(200, b'{"data":{"title":"Old"}}')
        ),
        {"document-delete"},
        "cache",
    ),
    "document-delete": (when(lambda r: r.method == "DELETE" and r.path.startswith("/v1/"), gives(405)), set(), "hand"),
}


def test_each_step_has_a_fault():
    assert list(FAULTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
async def test_a_step_fails_and_names_itself_and_the_likely_cause(name, app, people):
    fault, others, cause = FAULTS[name]
    user = await people.user()
    outcomes = await examined(Broken(app, fault), user.key, write=True)
    assert failed(outcomes) == {name} | others, {n: outcomes[n].got for n in failed(outcomes)}
    assert cause in outcomes[name].advice
    assert outcomes[name].message
    assert outcomes[name].sent or name in ("issuer", "pkce", "public-clients", "registration-endpoint", "cimd", "iss")


async def test_a_proxy_that_strips_the_credential_is_named(app, people):
    user = await people.user()

    def strip(request):
        request.headers.pop("authorization", None)

    outcomes = await examined(Broken(app, lambda *_: None, strip), user.key)
    assert {"authorization-header", "key-rest", "key-legacy", "key-modern"} <= failed(outcomes)
    for name in ("authorization-header", "key-rest"):
        assert "strips the Authorization header" in outcomes[name].advice


async def test_a_challenge_without_the_address_of_the_metadata_is_named(app):
    def fault(_request, answer):
        if "www-authenticate" in answer.headers:
            answer.headers["www-authenticate"] = "Bearer"

    outcomes = await examined(Broken(app, fault))
    assert {"grok-refused", "call-refused"} <= failed(outcomes)
    assert "WWW-Authenticate" in outcomes["call-refused"].advice
    assert outcomes["challenge-answers"].status == "skip"


async def test_an_address_that_is_not_the_public_one_is_named(app):
    outcomes = await examined(app, base="https://other-name.test")
    assert "PUBLIC_URL" in outcomes["resource-mcp"].advice
    assert outcomes["list-legacy"].status == "fail"
    assert "PUBLIC_URL" in outcomes["list-legacy"].advice


async def test_a_credential_is_not_sent_in_plain_text_or_to_another_host(app):
    broken = Broken(app, lambda *_: None)
    outcomes = await examined(broken, "gm_public_secret0123456789", base="http://service.test")
    assert outcomes["reachable"].status == "fail"
    assert outcomes["key-rest"].status == "skip"
    assert not any("gm_public" in request.headers.get("authorization", "") for request in broken.seen)
    elsewhere = edit(*ASMS, token_endpoint="https://thief.test/token", registration_endpoint="https://thief.test/r")
    outcomes = await examined(Broken(app, elsewhere))
    assert {"issuer", "registration-endpoint"} <= failed(outcomes)
    assert outcomes["register"].status == "skip"


async def test_an_authorization_server_elsewhere_is_left_alone(app):
    def fault(request, answer):
        if request.path.startswith(PRM):
            answer.edit(authorization_servers=["https://login.test"])

    outcomes = await examined(Broken(app, fault))
    assert failed(outcomes) == set()
    assert {outcomes[name].status for name in ("server-root", "issuer", "register", "unregister")} == {"skip"}


async def test_time_that_is_over_skips_the_rest_but_cleans_up(app):
    async def pause(_probe):
        await asyncio.sleep(10)

    async def passes(_probe):
        return

    steps = [Step("slow", "slow", pause), Step("late", "late", passes), Step("clean", "clean", passes, cleans=True)]
    async with httpx2.AsyncClient(transport=Transport(app)) as http:
        outcomes = await examine(Probe(http, ISSUER), 0.05, steps)
    assert [outcome.status for outcome in outcomes] == ["fail", "skip", "pass"]


async def test_what_cannot_be_reached_says_why():
    class Down(httpx2.AsyncBaseTransport):
        def __init__(self, cause):
            self.cause = cause

        async def handle_async_request(self, _request):
            raise httpx2.ConnectError("no") from self.cause

    for cause, word in ((OSError("refused"), "listens there"), (ssl.SSLCertVerificationError("bad"), "certificate")):
        async with httpx2.AsyncClient(transport=Down(cause)) as http:
            outcomes = await examine(Probe(http, ISSUER))
        assert outcomes[0].status == "fail"
        assert word in outcomes[0].advice
        assert all(outcome.status in ("fail", "skip") for outcome in outcomes)


@pytest.mark.parametrize("junk", [b"", b"[]", b'"x"', b"{", b'{"data": 3}', b'{"result": {"tools": 7}}', b"\xff\xfe"])
async def test_nonsense_never_breaks_the_doctor(junk):
    async def nonsense(_scope, _receive, send):
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b'Bearer resource_metadata="/"')]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": junk})

    outcomes = await examined(nonsense, "gm_public_secret0123456789", write=True)
    assert list(outcomes) == NAMES


def test_addresses_are_read_as_people_type_them():
    for typed in (
        "https://a.test",
        "https://a.test/",
        "https://a.test/mcp",
        "https://a.test/mcp/",
        " https://a.test/v1",
    ):
        assert base_of(typed) == "https://a.test"
    assert base_of("http://127.0.0.1:8000/base/grok-mcp") == "http://127.0.0.1:8000/base"
    for typed in ("a.test", "ftp://a.test", "https://", "https://u:p@a.test", "https://a.test?x=1", "https://a.test:x"):
        with pytest.raises(ValueError, match=r".+"):
            base_of(typed)


def test_secrets_are_taken_out_of_what_is_shown():
    body = '{"registration_access_token": "abc", "access_token":"def", "name": "kept"}'
    shown = clean(body) + clean("Bearer abcdefghijklmnopqrstuvwxyz gm_publicid_secretpart")
    assert not any(text in shown for text in ("abc", "def", "secretpart"))
    assert "kept" in shown
    told = Reply(401, httpx2.Headers({"www-authenticate": 'Bearer resource_metadata="https://a.test/x"'}), "").told()
    assert 'resource_metadata="https://a.test/x"' in told


# -- the command ----------------------------------------------------------------------------------------------------


async def ctx(*arguments, **environment):
    given = {"CTX_URL": "", "DATA_DIR": "/nowhere", **environment}
    return await asyncio.to_thread(CliRunner().invoke, COMMANDS, ["doctor", *arguments], env=given)


async def test_the_command_exits_with_0_when_all_is_well(listening, database):
    url, app = listening
    user = await Make(app, database).user()
    given = ("--api-key-env", "SOME_KEY", "--write")
    done = await ctx(f"{url}/mcp/", *given, SOME_KEY=user.key)
    assert done.exit_code == 0, done.output
    assert f"{len(NAMES)} passed, 0 failed, 0 skipped." in done.output
    done = await ctx("--json", *given, SOME_KEY=user.key, CTX_URL=url)
    found = json.loads(done.stdout)
    assert (found["url"], found["counts"]) == (url, {"pass": len(NAMES), "fail": 0, "skip": 0})
    assert user.key not in done.output


async def test_the_command_exits_with_1_and_says_what_to_do_when_a_step_fails(listening):
    url, _ = listening
    done = await ctx(url.replace("127.0.0.1", "localhost"))
    assert done.exit_code == 1
    assert "fail  Resource metadata of /mcp" in done.output
    assert "What to do: PUBLIC_URL" in done.output
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    done = await ctx(f"http://127.0.0.1:{port}", "--json")
    assert done.exit_code == 1
    assert [step["status"] for step in json.loads(done.stdout)["steps"]] == ["fail"] + ["skip"] * (len(NAMES) - 1)
    told = (await ctx(f"http://127.0.0.1:{port}")).output
    assert (told.count("What to do"), told.count("skip  ")) == (1, 0)
    assert f"0 passed, 1 failed, {len(NAMES) - 1} skipped." in told


async def test_a_kept_key_is_tried_at_its_own_address_alone(listening, database, tmp_path):
    url, app = listening
    user = await Make(app, database).user()
    (tmp_path / "cli.json").write_text(json.dumps({"url": url, "apiKey": user.key}))
    done = await ctx(DATA_DIR=str(tmp_path))
    assert "pass  The API key works over REST" in done.output
    done = await ctx(url, CTX_URL=url, CTX_API_KEY=user.key)
    assert "pass  The API key works over REST" in done.output
    (tmp_path / "cli.json").write_text(json.dumps({"url": "https://a.test", "apiKey": user.key}))
    done = await ctx(url, DATA_DIR=str(tmp_path), CTX_URL="https://b.test", CTX_API_KEY=user.key)
    assert "skip  The API key works over REST (no API key was given)" in done.output


async def test_the_command_exits_with_2_on_wrong_use():
    wrong = [(), ("not-an-address",), ("http://a.test", "--api-key-env", "UNSET_KEY"), ("http://a.test", "--write")]
    for arguments in wrong:
        assert (await ctx(*arguments, UNSET_KEY="")).exit_code == 2

"""What every page has in common: headers, cookies, forms of our own, and addresses that stay here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.responses import Response

from app import features
from app.edge.address import Addresses
from app.edge.discovery.pages import PAGES as ABOUT
from app.edge.web.page import RATES, _sealed, local_path
from tests.contract.requirements import proves
from tests.edge.web.shown import VIEWS
from tests.support.service import serving
from tests.support.visitor import Visitor, hidden, sign_in_link, with_password

PAGES = list(features.collect("pages", "PAGES"))
SHOWN = sorted({page.path for page in PAGES if "GET" in page.methods and not page.open})
OPEN = sorted({page.path for page in PAGES if "GET" in page.methods and page.open})
TEXTS = {path for path in OPEN if path.endswith((".md", ".txt"))}
SHARED = {"/s/{token}"}
"""Judged in `test_shared_pages.py`."""
NEED_A_LINK = {"/sign-up", "/sign-up/{token}", "/invite/{token}"}
"""Where there is nothing to send to without a link, or while sign-up is closed; their features test them."""
SENT = [page for page in PAGES if "POST" in page.methods and page.path not in NEED_A_LINK and not page.open]
WITH_FILES = {"/dashboard/import", "/dashboard/documents/upload"}
"""Pages whose forms bring files."""
APP = Path(__file__).parents[3] / "app"


async def address_of(path, service, make):
    if path == "/set-password/{token}":
        return await sign_in_link(service, (await make.user()).email)
    return path.replace("{token}", "no-such-token")


def assert_sealed(answer):
    policy = answer.headers["content-security-policy"]
    for part in ("default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] in ("no-referrer", "same-origin")
    assert "access-control-allow-origin" not in answer.headers
    assert len(answer.headers.get_list("referrer-policy")) == 1


@pytest.mark.parametrize("path", SHOWN)
async def test_every_page_is_sealed_signed_in_or_not(path, service, make, visitor, alice):
    signed_in = await with_password(service, alice)
    for browser in (visitor, signed_in):
        answer = await browser.get(await address_of(path, service, make))
        assert answer.status_code in (200, 303, 400, 404, 410), answer.text
        assert_sealed(answer)
        if answer.status_code == 200:
            assert answer.text.count("<h1") == 1
            assert re.search(r"<title>[^<]+ · ", answer.text)
            assert " style=" not in answer.text
            assert " on" + "click" not in answer.text


@pytest.mark.parametrize("path", [path for path in SHOWN if path.startswith("/dashboard")])
async def test_a_page_of_a_person_asks_to_sign_in_and_comes_back(path, visitor):
    path = path.replace("{id}", "some-id").replace("{kind}", "document")
    answer = await visitor.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/sign-in?next={path}"


@pytest.mark.parametrize("page", SENT, ids=lambda page: page.path)
@proves("SIGN-CSRF")
async def test_a_form_that_our_page_did_not_send_is_refused(page, service, make, alice):
    browser = await with_password(service, alice)
    path = (await address_of(page.path, service, make)).replace("{id}", "0")
    fields = hidden(await browser.get("/dashboard/account"), "/dashboard/account")
    right = {"origin": browser.origin, "sec-fetch-site": "same-origin"}
    wrong = [
        ({"x": "1"}, right),
        ({"csrf": "0" * 64}, right),
        (fields, right | {"sec-fetch-site": "cross-site"}),
        (fields, right | {"sec-fetch-site": "same-site"}),
        (fields, right | {"sec-fetch-site": "none"}),
        (fields, right | {"origin": "https://evil.test"}),
        (fields, {"origin": "https://evil.test"}),
        (fields, {"origin": "https://[::1"}),
        (fields, {"origin": "null"}),
        (fields, {}),
    ]
    for sent, headers in wrong:
        parts = {name: (None, value) for name, value in sent.items()} if path in WITH_FILES else None
        answer = await browser.client.post(path, data=None if parts else sent, files=parts, headers=headers)
        assert answer.status_code == 403, (sent, headers, answer.text)
        assert_sealed(answer)
    plain = {"content-type": "text/plain"} | right
    assert (await browser.client.post(path, content=f"csrf={fields['csrf']}", headers=plain)).status_code == 415


@proves("SIGN-CSRF")
async def test_a_token_of_another_browser_or_another_session_is_refused(service, alice):
    first = await with_password(service, alice)
    token = hidden(await first.get("/sign-out"), "/sign-out")["csrf"]
    stranger = Visitor(service)
    await stranger.get("/sign-in")
    assert (await stranger.send("/sign-in", {"csrf": token, "email": "a@b.c", "password": "x"})).status_code == 403
    anonymous = Visitor(service)
    before = hidden(await anonymous.get("/sign-in"), "/sign-in")["csrf"]
    assert (await anonymous.sign_in(alice.email)).status_code == 303
    assert (await anonymous.send("/sign-out", {"csrf": before})).status_code == 403


async def test_a_form_is_bounded_and_has_each_field_once(visitor):
    fields = hidden(await visitor.get("/sign-in"), "/sign-in")
    assert (await visitor.send("/sign-in", fields | {"email": "x" * 70_000})).status_code == 413
    headers = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin"}
    for body in ("a=1&a=2", "&".join(f"f{n}=1" for n in range(200)), "a=%ff", "a=%00"):
        assert (await visitor.client.post("/sign-in", content=body, headers=headers)).status_code in (400, 403)


EVIL = [
    "//evil.test", "/\\evil.test", "\\\\evil.test", "https:evil.test", "https://evil.test", "/\t/evil.test",
    "/\n/evil.test", " /evil", "javascript:alert(1)", "///evil.test", "/%09/evil.test\t", "http:/\\evil", "", "evil",
    "/" + "a" * 3000, "/a\r\nset-cookie: x=y",
]  # fmt: skip


@pytest.mark.parametrize("target", EVIL)
async def test_signing_in_leads_nowhere_else(target, service, visitor, alice):
    assert local_path(target) == "/dashboard"
    await with_password(service, alice)
    answer = await visitor.sign_in(alice.email, next=target)
    assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard")


async def test_signing_in_leads_to_the_page_that_was_asked_for(service, visitor, alice):
    await with_password(service, alice)
    answer = await visitor.fill("/sign-in?next=/dashboard/keys%3Fa%3Db", "/sign-in", email=alice.email, password="x")
    assert answer.status_code == 401
    answer = await visitor.send("/sign-in", hidden(answer, "/sign-in") | {"email": alice.email, "password": "no"})
    assert answer.status_code == 401
    assert hidden(answer, "/sign-in")["next"] == "/dashboard/keys?a=b"


def flags(answer):
    return [line.lower() for line in answer.headers.get_list("set-cookie")]


async def test_cookies_are_for_this_host_and_no_script(service, visitor, alice):
    await with_password(service, alice)
    shown = await visitor.get("/sign-in")
    signed_in = await visitor.sign_in(alice.email)
    for line in (*flags(shown), *flags(signed_in)):
        assert "httponly" in line
        assert "samesite=lax" in line
        assert "path=/" in line
        assert "domain" not in line
        assert "secure" not in line
        assert not line.startswith("__host-")


async def test_over_https_cookies_are_secure_and_bound_to_the_host(settings, make):
    user = await make.user()
    url = "https://repo.test"
    async with serving(settings.model_copy(update={"public_url": url, "insecure_http": False})) as app:
        link = await sign_in_link(app, user.email)
        browser = Visitor(app, url)
        answer = await browser.fill(link, password="a long enough sentence")
        assert answer.status_code == 303
        (line,) = flags(answer)
        assert line.startswith("__host-session=")
        assert "; secure" in line
        assert "strict-transport-security" in answer.headers
        assert (await browser.get("/dashboard")).status_code == 200
        plain = Visitor(app, url)
        plain.client.headers["cookie"] = f"session={browser.cookie('__Host-session')}"
        assert (await plain.get("/dashboard")).status_code == 303  # without the prefix it is no cookie of ours


async def test_over_plain_http_pages_are_for_this_machine_alone(settings, make):
    user = await make.user()
    local = settings.model_copy(update={"public_url": "", "insecure_http": False, "port": 8000})
    async with serving(local) as app:
        away = Visitor(app, "http://192.168.1.5:8000")
        answer = await away.get("/sign-in")
        assert answer.status_code == 403
        assert "PUBLIC_URL" in answer.text
        assert not flags(answer)
        cookie = await make.session(user)
        assert (await away.get("/v1/keys", headers={"cookie": f"session={cookie}"})).status_code == 401
        for host in ("localhost", "127.0.0.1", "[::1]"):
            browser = Visitor(app, f"http://{host}:8000")
            assert (await browser.get("/sign-in")).status_code == 200
            assert (await browser.sign_in(user.email)).status_code == 401


async def test_static_files_change_their_address_with_their_bytes(http):
    shown = await http.get("/sign-in")
    for path in re.findall(r'(?:href|src)="(/static/[^"]+)"', shown.text):
        answer = await http.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    for path in ("/static/app.css", "/static/..%2fpage.py", "/static/%2e%2e/page.py"):
        assert (await http.get(path)).status_code == 404


def test_templates_have_names_of_their_own():
    names = [path.name for path in APP.glob("**/templates/*.html")]
    assert len(names) == len(set(names))


def test_every_page_is_judged_in_a_browser():
    about = {page.path for page in ABOUT}
    assert {view.pattern for view in VIEWS} == {*SHOWN, *OPEN, *about} - TEXTS - SHARED


def test_every_page_has_a_rate_and_a_reason():
    for page in PAGES:
        assert page.rate in RATES
        assert len(page.why) > 10


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "nonsense, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("unix", "198.51.100.1", "unix"),
    ],
)
def test_only_trusted_proxies_say_where_a_request_comes_from(peer, forwarded, address):
    scope = {"client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode())]}
    assert Addresses(["10.0.0.0/8"]).of(scope) == address


def test_an_ipv6_network_counts_as_one():
    found = {Addresses([]).subject({"client": (f"2001:db8::{n}", 1), "headers": []}) for n in range(5)}
    assert found == {"2001:db8::/64"}


@pytest.mark.parametrize(
    "target", ["https://a.test; script-src *", "https://a.test\r\nx: y", "'unsafe-inline'", "*", ""]
)
def test_a_forms_target_cannot_widen_the_policy(target):
    with pytest.raises(ValueError, match="origin"):
        _sealed(Response(), [target])


def test_a_forms_target_may_be_an_origin_or_a_scheme():
    policy = _sealed(Response(), ["https://a.test:8443", "cursor:"]).headers["content-security-policy"]
    assert "form-action 'self' https://a.test:8443 cursor:;" in policy

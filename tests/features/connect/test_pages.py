"""The pages of connecting and of the doctor."""

from __future__ import annotations

import asyncio
import html

import pytest

from app.doctor.steps import STEPS
from app.features.connect import remote
from app.features.connect.remote import Examiner
from app.features.connect.service import clients
from tests.cli.faults import Broken, redirect
from tests.features.oauth.conftest import browser_of
from tests.features.oauth.flow import ISSUER, fields_of
from tests.support.asgi import Transport

CONNECT, DOCTOR = "/dashboard/connect", "/dashboard/doctor"
OWN = {"sec-fetch-site": "same-origin", "origin": ISSUER}


@pytest.fixture
def examining(app, monkeypatch):
    """Let the examiner reach the service in this process, or something broken in its place."""
    examiner = app.state.gate.get(Examiner)

    def through(reached):
        monkeypatch.setattr(examiner, "_transport", Transport(reached))

    through(app)
    return through


async def examine(person):
    page = await person.http.get(DOCTOR)
    form = page.text[page.text.index('action="/dashboard/doctor"') :]
    return await person.http.post(DOCTOR, data=fields_of("<main" + form), headers=OWN)


async def test_the_page_shows_every_guide_without_a_secret(app, people, signed_in):
    user = await people.user()
    person = await signed_in(user)
    page = await person.http.get(CONNECT)
    assert page.status_code == 200
    shown = html.unescape(page.text)
    for guide in clients(ISSUER, "Context Repo"):
        assert f'id="{guide.id}"' in page.text
        assert all(snippet.text in shown for way in guide.ways for snippet in way.snippets), guide.id
        assert guide.link is None or f'href="{guide.link.href}"' in shown
    assert 'href="/dashboard/keys"' in page.text
    assert user.key not in page.text
    assert "needs a public address" not in page.text


async def test_an_address_that_hosted_clients_cannot_reach_is_told(service, make):
    from tests.support.visitor import with_password

    browser = await with_password(service, await make.user())
    assert "needs a public address" in (await browser.get(CONNECT)).text


async def test_the_doctor_examines_the_service_by_its_public_address(app, people, signed_in, examining):
    person = await signed_in(await people.user())
    before = await person.http.get(DOCTOR)
    assert 'class="outcomes"' not in before.text
    page = await examine(person)
    assert page.status_code == 200
    assert "All is well" in page.text
    assert all(step.title in html.unescape(page.text) for step in STEPS)


async def test_the_doctor_shows_what_failed_and_keeps_markup_out(app, people, signed_in, examining):
    person = await signed_in(await people.user())
    examining(Broken(app, lambda r, _: redirect("https://evil.test/<script>") if r.path == "/mcp/" else None))
    page = await examine(person)
    assert "1 of " in page.text
    assert "<script>" not in page.text.partition("<main")[2]
    assert "a proxy adds or removes a slash" in page.text


async def test_a_service_that_hangs_does_not_hang_the_page(app, people, signed_in, examining, monkeypatch):
    async def hangs(_scope, receive, _send):
        while (await receive())["type"] != "http.disconnect":
            pass

    monkeypatch.setattr(remote, "TOTAL_SECONDS", 0.3)
    monkeypatch.setattr(remote, "REQUEST_SECONDS", 0.1)
    person = await signed_in(await people.user())
    examining(hangs)
    async with asyncio.timeout(20):
        page = await examine(person)
    assert page.status_code == 200
    assert "No answer within" in page.text


async def test_one_examination_at_a_time_and_few_of_one_person(app, people, signed_in, examining):
    first, second = await signed_in(await people.user()), await signed_in(await people.user())
    answers = await asyncio.gather(examine(first), examine(second))
    assert sorted(answer.status_code for answer in answers) == [200, 503]
    statuses = [(await examine(first)).status_code for _ in range(6)]
    assert statuses[-1] == 429
    assert 200 in statuses


async def test_nobody_examines_without_signing_in_or_from_another_site(app, people, signed_in):
    stranger = browser_of(app)
    assert (await stranger.post(DOCTOR, data={}, headers=OWN)).status_code == 303
    person = await signed_in(await people.user())
    assert (await person.http.post(DOCTOR, data={}, headers={"origin": "https://evil.test"})).status_code == 403

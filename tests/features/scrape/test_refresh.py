"""Documents of web pages are brought up to date, and no edit is lost on the way."""

from __future__ import annotations

import uuid

import pytest

from tests.contract.requirements import proves
from tests.support.world import PARAGRAPH, article

LEASE, FENCE = "X-ContextRepo-Lease-Id", "X-ContextRepo-Lease-Fence"


class Kept:
    """A page that says what `say` gives, and the document that was kept from it."""

    def __init__(self, alice, world, make):
        self.alice, self.world, self.make = alice, world, make
        self.text, self.headers, self.during = PARAGRAPH, {}, None

    async def answer(self, asked):
        if self.during is not None:
            await self.during()
        tag = self.headers.get("etag")
        if tag is not None and asked.headers.get("if-none-match") == tag:
            return 304, {"etag": tag}, b""
        return article("A page", self.text, **self.headers)

    async def keep(self):
        self.page = self.world.answer(self.answer)
        made = await self.alice.client.post("/v1/documents/scrape", json={"url": self.page, "title": "Mine"})
        assert made.status_code == 202, made.text
        self.url = f"/v1/documents/{made.json()['data']['id']}"
        self.tag = made.headers["etag"]
        return self

    def refresh(self, body=None, **headers):
        return self.alice.client.post(f"{self.url}/refresh", json=body or {}, headers=headers)

    async def read(self):
        return (await self.alice.client.get(self.url)).json()["data"]

    async def leased(self):
        """Require a lease and take it; returns its headers."""
        coordination = f"{self.url}/coordination"
        tag = (await self.alice.client.get(self.url)).headers["etag"]
        await self.alice.client.put(coordination, json={"policy": "lease_required"}, headers={"If-Match": tag})
        answer = await self.alice.client.post(
            f"{coordination}/lease", json={"action": "acquire"}, headers={"idempotency-key": uuid.uuid4().hex}
        )
        lease = answer.json()["data"]
        return {LEASE: lease["leaseId"], FENCE: str(lease["fence"])}

    @property
    def asked(self):
        return self.world.requests(self.page)


@pytest.fixture
async def kept(alice, world, make):
    return await Kept(alice, world, make).keep()


def refusal(answer):
    return answer.status_code, answer.json()["error"]["reason"]


@proves("DOC-16")
async def test_a_page_that_changed_is_a_new_version_with_title_and_tags_as_they_were(kept):
    kept.text = f"{PARAGRAPH}<p>Then the light was electric, and nobody rang the bell by hand any more.</p>"
    answer = await kept.refresh({"changeLog": "weekly"})
    assert answer.status_code == 200, answer.text
    ack = answer.json()["data"]
    assert (ack["revision"], ack["currentVersion"], ack["noop"], ack["title"]) == (2, 2, False, "Mine")
    assert "content" not in ack
    assert answer.headers["etag"] == f'"r2-{ack["contentHash"][:16]}"'
    assert "nobody rang the bell" in (await kept.read())["content"]
    versions = (await kept.alice.client.get(f"{kept.url}/versions")).json()["data"]
    assert [(version["version"], version["changeLog"]) for version in versions] == [(2, "weekly"), (1, None)]


@proves("DOC-16-NOOP")
@pytest.mark.parametrize("headers", [{"etag": '"v1"'}, {"last-modified": "Tue, 03 Nov 2026 10:00:00 GMT"}, {}])
async def test_a_page_that_did_not_change_is_noop(headers, alice, world, make):
    kept = Kept(alice, world, make)
    kept.headers = headers
    await kept.keep()
    answer = await kept.refresh()
    assert (answer.status_code, answer.json()["data"]["noop"], answer.json()["data"]["revision"]) == (200, True, 1)
    sent = kept.asked[-1].headers
    assert sent.get("if-none-match") == headers.get("etag")
    assert sent.get("if-modified-since") == headers.get("last-modified")


@proves("DOC-16-NOOP")
async def test_after_an_edit_the_page_is_asked_for_in_full(alice, world, make):
    kept = Kept(alice, world, make)
    kept.headers = {"etag": '"v1"'}
    await kept.keep()
    before = (await kept.read())["content"]
    await alice.client.patch(kept.url, json={"content": "edited by hand"})
    answer = await kept.refresh()
    assert (answer.json()["data"]["revision"], answer.json()["data"]["noop"]) == (3, False)
    assert "if-none-match" not in kept.asked[-1].headers
    assert (await kept.read())["content"] == before


@proves("DOC-16-REV")
async def test_a_stale_precondition_is_refused_before_the_page_is_asked(kept):
    await kept.alice.client.patch(kept.url, json={"content": "edited"})
    asked = len(kept.asked)
    assert refusal(await kept.refresh(**{"If-Match": kept.tag})) == (412, "REVISION_MISMATCH")
    assert refusal(await kept.refresh({"expectedRevision": 1})) == (409, "REVISION_MISMATCH")
    assert len(kept.asked) == asked


@proves("DOC-16-REV")
@pytest.mark.parametrize(("named", "status"), [(True, 412), (False, 409)])
async def test_an_edit_while_the_page_is_fetched_is_not_overwritten(kept, named, status):
    async def edit():
        kept.during = None
        await kept.alice.client.patch(kept.url, json={"content": "edited meanwhile"})

    kept.text, kept.during = f"{PARAGRAPH}<p>The page says something else now.</p>", edit
    headers = {"If-Match": kept.tag} if named else {}
    assert refusal(await kept.refresh(**headers)) == (status, "REVISION_MISMATCH")
    assert (await kept.read())["content"] == "edited meanwhile"
    assert (await kept.refresh()).status_code == 200


@proves("DOC-16-MANAGED")
async def test_a_managed_refresh_shows_header_key_and_lease(kept):
    lease = await kept.leased()
    key, tag = {"idempotency-key": "k"}, {"If-Match": kept.tag}
    asked = len(kept.asked)
    assert refusal(await kept.refresh(**tag, **key)) == (409, "LEASE_REQUIRED")
    assert refusal(await kept.refresh(**tag, **lease)) == (428, "PRECONDITION_REQUIRED")
    assert refusal(await kept.refresh(**key, **lease)) == (428, "PRECONDITION_REQUIRED")
    assert refusal(await kept.refresh({"expectedRevision": 1}, **key, **lease)) == (428, "PRECONDITION_REQUIRED")
    wrong = lease | {FENCE: "9"}
    assert refusal(await kept.refresh(**tag, **key, **wrong)) == (409, "LEASE_LOST")
    assert len(kept.asked) == asked
    kept.text = f"{PARAGRAPH}<p>Something else.</p>"
    assert (await kept.refresh(**tag, **key, **lease)).json()["data"]["revision"] == 2


@proves("DOC-16-MANAGED", "DOC-16-REV")
async def test_a_lease_that_ends_while_the_page_is_fetched_writes_nothing(kept):
    lease = await kept.leased()

    async def release():
        kept.during = None
        headers = {"idempotency-key": uuid.uuid4().hex} | lease
        await kept.alice.client.post(f"{kept.url}/coordination/lease", json={"action": "release"}, headers=headers)

    kept.text, kept.during = f"{PARAGRAPH}<p>Something else.</p>", release
    answer = await kept.refresh(**{"If-Match": kept.tag, "idempotency-key": "k"}, **lease)
    assert refusal(answer) == (409, "LEASE_LOST")
    assert (await kept.read())["revision"] == 1


@proves("DOC-16-URL")
async def test_only_what_came_from_a_page_can_be_refreshed(alice, make):
    made = await make.document(alice.client)
    answer = await alice.client.post(f"/v1/documents/{made['id']}/refresh", json={})
    assert refusal(answer) == (409, "NOT_REFRESHABLE")
    assert "PATCH" in answer.json()["error"]["message"]


@proves("EFFECT-REPLAY")
async def test_a_replayed_refresh_asks_nobody(kept):
    kept.text = f"{PARAGRAPH}<p>Something else.</p>"
    first = await kept.refresh(**{"idempotency-key": "once"})
    asked = len(kept.asked)
    kept.text = f"{PARAGRAPH}<p>And something else again.</p>"
    again = await kept.refresh(**{"idempotency-key": "once"})
    assert (again.content, len(kept.asked)) == (first.content, asked)


@proves("DOC-15-UPSTREAM")
async def test_a_page_that_is_gone_leaves_the_document_as_it_was(kept):
    kept.world.answer((410, {}, b""), kept.page.removeprefix(kept.world.url("")))
    answer = await kept.refresh()
    assert refusal(answer) == (502, "UPSTREAM_FAILED")
    assert (await kept.read())["revision"] == 1

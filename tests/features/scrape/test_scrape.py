"""Web pages become documents; a little server on loopback is the outside world."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.features.scrape import remote
from app.features.scrape.schemas import ScrapeDocument
from app.store.confined import Limits
from tests.contract.requirements import proves
from tests.support.world import PARAGRAPH, article

VECTORS = json.loads((Path(__file__).parents[2] / "data/ssrf/ssrf_urls.json").read_text())
BAD = [vector["url"] for vector in VECTORS if vector["expect"] == "block"]


def scrape(user, url, key=None, **fields):
    headers = {"idempotency-key": key} if key else {}
    return user.client.post("/v1/documents/scrape", json={"url": url, **fields}, headers=headers)


def refusal(answer):
    return answer.status_code, answer.json()["error"]["reason"]


@proves("DOC-15")
async def test_a_page_becomes_a_document_with_its_text_title_and_canonical_address(alice, world):
    table = "<table><tr><th>Year</th><th>Ships</th></tr><tr><td>1899</td><td>212</td></tr></table>"
    body = f'{PARAGRAPH}<p>See <a href="/log">the log</a> of <b>storms</b>.</p>{table}'
    url = world.serve("The Lighthouse", body, '<link rel="canonical" href="/light#top">')
    answer = await scrape(alice, url, tags=["sea"])
    assert answer.status_code == 202, answer.text
    made = answer.json()["data"]
    assert (made["title"], made["sourceType"], made["sourceUrl"]) == ("The Lighthouse", "url", world.url("/light"))
    assert (made["status"], made["revision"], made["tags"]) == ("pending", 1, ["sea"])
    assert answer.headers["location"] == f"/v1/documents/{made['id']}"
    assert "as his father had done before him" in made["content"]
    assert f"[the log]({world.url('/log')})" in made["content"]
    assert "| 1899 | 212 |" in made["content"]
    assert "Cookie settings" not in made["content"]
    read = (await alice.client.get(f"/v1/documents/{made['id']}")).json()["data"]
    assert read == made
    assert answer.headers["etag"] == f'"r1-{made["contentHash"][:16]}"'


@proves("DOC-15")
async def test_a_title_of_the_callers_wins_and_a_page_without_one_is_named_by_its_address(alice, world):
    url = world.serve("Its own")
    assert (await scrape(alice, url, title="Mine")).json()["data"]["title"] == "Mine"
    plain = world.answer((200, {"content-type": "text/plain"}, b"only text"))
    assert (await scrape(alice, plain)).json()["data"]["title"] == plain.rpartition("/")[2]


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("https://müller.example/grüße?q=ä%20b", "https://xn--mller-kva.example/gr%C3%BC%C3%9Fe?q=%C3%A4%20b"),
        ("https://STRASSE。Example:8443", "https://strasse.example:8443/"),
        ("https://straße.example/", "https://xn--strae-oqa.example/"),
        ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
        ("https://plain.example/ä", "https://plain.example/%C3%A4"),
    ],
)
def test_a_name_beyond_ascii_is_asked_for_as_browsers_do(typed, asked):
    assert ScrapeDocument(url=typed).url == asked


@pytest.mark.parametrize(
    "url",
    [
        "https://me@müller.example/",
        "https://℀.example/",
        "https://m%C3%BCller.example/",
        "https://ü..example/",
        "https://☃.example/",
        "https://ü.１/",
        f"https://{'ü' * 80}.example/",
        "https://[ü]/",
    ],
)
def test_what_is_no_name_is_no_address(url):
    with pytest.raises(ValidationError):
        ScrapeDocument(url=url)


async def test_a_canonical_address_of_another_site_is_not_believed(alice, world):
    url = world.serve("Here", head='<link rel="canonical" href="https://elsewhere.example/">')
    assert (await scrape(alice, url)).json()["data"]["sourceUrl"] == url


@pytest.mark.parametrize("named", ["charset=iso-8859-1", "", "charset=no-such"])
async def test_text_is_read_in_the_charset_that_server_or_page_names(named, alice, world):
    html = article("Grüße", f"{PARAGRAPH}<p>Zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich.</p>")[2].decode()
    html = html.replace("<head>", '<head><meta charset="iso-8859-1">')
    url = world.answer((200, {"content-type": f"text/html; {named}"}, html.encode("iso-8859-1")))
    made = (await scrape(alice, url)).json()["data"]
    assert made["title"] == "Grüße"
    assert "Zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich." in made["content"]


@proves("DOC-15-TYPES")
async def test_text_markdown_and_json_are_kept_as_they_are(alice, world):
    said = {"text/plain": "a  b\n", "text/markdown": "# A\n\n*b*\n"}
    for media_type, text in said.items():
        url = world.answer((200, {"content-type": media_type}, text.encode()))
        assert (await scrape(alice, url)).json()["data"]["content"] == text
    url = world.answer((200, {"content-type": "application/json"}, b'{"a": [1]}'))
    assert (await scrape(alice, url)).json()["data"]["content"] == '```json\n{"a": [1]}\n```\n'


@proves("DOC-15-TYPES")
@pytest.mark.parametrize("media_type", ["image/png", "application/zip", "application/octet-stream"])
async def test_what_is_no_page_is_refused_by_its_type(media_type, alice, world):
    url = world.answer((200, {"content-type": media_type}, b"\x89PNG"))
    answer = await scrape(alice, url)
    assert refusal(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert answer.json()["error"]["details"] == {"mediaType": media_type}


@proves("DOC-15-ROBOTS")
async def test_robots_txt_is_asked_first_and_honoured(alice, world):
    closed, open_ = world.serve("Closed"), world.serve("Open")
    rules = f"User-agent: other\nDisallow: /\n\nUser-agent: context-repo\nDisallow: {closed.rpartition('/')[2]}"
    rules = rules.replace("Disallow: page", "Disallow: /page")
    world.answer((200, {"content-type": "text/plain"}, f"{rules}$\n".encode()), "/robots.txt")
    try:
        answer = await scrape(alice, closed)
        assert refusal(answer) == (502, "UPSTREAM_FAILED")
        assert "robots.txt" in answer.json()["error"]["message"]
        assert world.requests(closed) == []
        assert (await scrape(alice, open_)).status_code == 202
        moved = world.answer((302, {"location": closed}, b""))
        assert refusal(await scrape(alice, moved)) == (502, "UPSTREAM_FAILED")
        assert world.requests(closed) == []
        world.answer((503, {}, b""), "/robots.txt")
        assert refusal(await scrape(alice, open_)) == (502, "UPSTREAM_FAILED")
    finally:
        world.answer((404, {}, b""), "/robots.txt")


@proves("DOC-15-SSRF")
@pytest.mark.parametrize("url", BAD)
async def test_an_address_that_is_not_public_is_refused(url, alice):
    answer = await scrape(alice, url)
    assert refusal(answer) in {(502, "UPSTREAM_FAILED"), (400, "INVALID_REQUEST")}


@proves("DOC-15-SSRF")
@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/",
        "https://wiki.internal/page",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://127.0.0.1:9/",
        "http://93.184.216.34:22/",
        "http://①②⑦.⓪.⓪.①/",
        "http://ｌｏｃａｌｈｏｓｔ/",
        "https://müller.internal/",
    ],
)
async def test_an_address_that_leads_inside_by_itself_is_refused_with_the_policy(alice, url):
    answer = await scrape(alice, url)
    assert refusal(answer) == (400, "INVALID_REQUEST")
    error = answer.json()["error"]
    assert error["message"].startswith("url: addresses inside a network are not fetched")
    assert error["details"][0]["field"] == "url"
    assert "FETCH_ALLOW" in error["message"]


@proves("DOC-15-SSRF")
async def test_a_redirect_to_a_private_address_reads_like_a_server_that_is_not_there(alice, world):
    heard = []
    canary = await asyncio.start_server(lambda _reader, writer: (heard.append(1), writer.close()), "127.0.0.1", 0)
    port = canary.sockets[0].getsockname()[1]
    places = ["http://10.0.0.1/", "http://169.254.169.254/latest/", f"http://127.0.0.1:{port}/", "http://[::1]/"]
    absent = await scrape(alice, "http://no-such-name.invalid/")
    moved = [await scrape(alice, world.answer((302, {"location": place}, b""))) for place in places]
    canary.close()
    said = [answer.json()["error"] for answer in [absent, *moved]]
    assert len({(error["code"], error["reason"], error["message"], str(error["details"])) for error in said}) == 1
    assert heard == []


def packed(body):
    sent = {"content-type": "text/html", "content-encoding": "gzip"}
    return 200, sent, gzip.compress(body)


@proves("DOC-15-BOUNDS")
@pytest.mark.parametrize(
    "said",
    [
        packed(bytes(80_000_000)),
        (200, {"content-type": "text/html"}, b"x" * 6_000_000),
        (200, {"content-type": "text/html"}, b"<div>" * 500_000 + b"deep" + b"</div>" * 500_000),
        (200, {"content-type": "text/html"}, b""),
        (200, {"content-type": "text/html"}, b"<html><body><script>render()</script></body></html>"),
        (200, {"content-type": "text/plain"}, b"  \n"),
    ],
    ids=["bomb", "large", "nested", "empty", "scripts only", "blank"],
)
async def test_a_page_that_cannot_be_read_is_refused_and_nothing_is_kept(said, alice, world):
    answer = await scrape(alice, world.answer(said))
    assert refusal(answer) == (502, "UPSTREAM_FAILED"), answer.text
    assert "POST /v1/documents" in answer.json()["error"]["message"]
    assert (await alice.client.get("/v1/documents")).json()["data"] == []


@proves("DOC-15-BOUNDS")
async def test_redirects_that_go_round_end_and_are_named(alice, world):
    url = world.answer(lambda asked: (302, {"location": asked.path}, b""))
    answer = await scrape(alice, url)
    assert refusal(answer) == (502, "UPSTREAM_FAILED")
    assert "redirects too often, or in a circle" in answer.json()["error"]["message"]
    assert len(world.requests(url)) == 6


@proves("DOC-15-BOUNDS")
async def test_a_page_of_nearly_five_megabytes_is_kept_and_a_larger_one_is_told_the_bound(alice, world):
    lines = (f"<p>{n}. {'The keeper wrote down each ship that passed in the fog. ' * 20}</p>" for n in range(4_400))
    body = "".join(lines)
    assert 4_900_000 < len(body) < 5_200_000
    made = (await scrape(alice, world.serve("Long", body))).json()["data"]
    assert made["content"].count("in the fog") == body.count("in the fog")
    answer = await scrape(alice, world.serve("Longer", body + " " * 400_000))
    assert refusal(answer) == (502, "UPSTREAM_FAILED")
    assert "larger than 5 MiB" in answer.json()["error"]["message"]


@proves("DOC-15-ROBOTS")
async def test_a_robots_txt_that_only_redirects_is_none_and_one_without_end_allows_nothing(alice, world):
    url = world.serve("Page")
    try:
        world.answer(lambda asked: (302, {"location": asked.path}, b""), "/robots.txt")
        assert (await scrape(alice, url)).status_code == 202
        world.answer((200, {"content-type": "text/plain"}, b"# no end\n" * 100_000), "/robots.txt")
        answer = await scrape(alice, url)
        assert refusal(answer) == (502, "UPSTREAM_FAILED")
        assert "robots.txt" in answer.json()["error"]["message"]
    finally:
        world.answer((404, {}, b""), "/robots.txt")


@proves("DOC-15-TYPES")
@pytest.mark.parametrize("named", ["; charset=iso-8859-1", "", "; charset=no-such", "; charset=hex"])
async def test_plain_text_is_read_in_its_charset_or_as_it_looks(named, alice, world):
    text = "Grüße aus Köln, wo der Dom steht und der Rhein fließt. " * 5
    url = world.answer((200, {"content-type": f"text/plain{named}"}, text.encode("iso-8859-1")))
    assert (await scrape(alice, url)).json()["data"]["content"] == text


@proves("DOC-15-BOUNDS")
@pytest.mark.parametrize("media_type", ["text/plain", "text/html"])
async def test_a_charset_that_takes_hours_to_decode_is_given_up(media_type, alice, world, service, monkeypatch):
    monkeypatch.setattr(service.state.gate.get(remote.Pages)._confined, "_limits", Limits(cpu_seconds=1))
    sent = {"content-type": f"{media_type}; charset=punycode"}
    answer = await scrape(alice, world.answer((200, sent, b"a" * 100_000 + b"-" + b"b" * 100_000)))
    assert refusal(answer) == (502, "UPSTREAM_FAILED"), answer.text
    assert "took too long" in answer.json()["error"]["message"]


@proves("DOC-15-UPSTREAM")
@pytest.mark.parametrize(("status", "advice"), [(404, "check the address"), (503, "retry later"), (429, "retry later")])
async def test_what_the_pages_server_answered_is_told_with_what_to_do(status, advice, alice, world):
    answer = await scrape(alice, world.answer((status, {}, b"secret words of the server")))
    assert refusal(answer) == (502, "UPSTREAM_FAILED")
    error = answer.json()["error"]
    assert (error["details"], advice in error["message"]) == ({"status": status}, True)
    assert "secret" not in answer.text


@proves("DOC-15-UPSTREAM")
async def test_a_page_that_does_not_come_in_time_is_504(alice, world, monkeypatch):
    held = asyncio.Event()

    async def say(_asked):
        await held.wait()
        return article("Late")

    monkeypatch.setattr(remote, "PAGE", replace(remote.PAGE, seconds=0.5))
    answer = await scrape(alice, world.answer(say))
    held.set()
    assert refusal(answer) == (504, "UPSTREAM_FAILED")
    assert "retry later" in answer.json()["error"]["message"]


@proves("EFFECT-REPLAY")
async def test_a_replay_fetches_nothing(alice, world):
    url = world.serve("Once")
    first = await scrape(alice, url, "one key")
    again = await scrape(alice, url, "one key")
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    assert len(world.requests(url)) == 1
    other = await scrape(alice, url, "one key", title="Another")
    assert refusal(other) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert len(world.requests(url)) == 1


async def test_twins_at_once_make_one_document(alice, world):
    url = world.serve("Twins")
    answers = await asyncio.gather(*(scrape(alice, url, "twins") for _ in range(3)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1
    assert len((await alice.client.get("/v1/documents")).json()["data"]) == 1


@proves("EFFECT-TX")
async def test_no_transaction_waits_for_the_page(alice, world, sql):
    states = []

    async def say(_asked):
        found = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL"
        states.append(
            await sql.fetchval(f"{found} AND pid <> pg_backend_pid() AND usename IN ('app_write', 'app_read')")
        )
        return article("Watched")

    assert (await scrape(alice, world.answer(say), "watched")).status_code == 202
    assert states == [0]


@proves("DOC-15-PLAN")
async def test_pages_count_in_a_family_of_their_own(alice, world, strict):
    client = strict.client(alice.key)
    url = world.serve("Counted")
    first = await client.post("/v1/documents/scrape", json={"url": url})
    second = await client.post("/v1/documents/scrape", json={"url": url})
    assert (first.status_code, first.headers["x-ratelimit-limit"]) == (202, "1")
    assert refusal(second) == (429, "RATE_LIMITED")
    assert (await client.get("/v1/documents")).status_code == 200


async def test_a_purge_forgets_where_a_document_came_from(alice, world, sql):
    url = world.serve("To be forgotten")
    document_id = (await scrape(alice, url)).json()["data"]["id"]
    await alice.client.delete(f"/v1/documents/{document_id}")
    purged = (await alice.client.delete(f"/v1/trash/{document_id}")).json()["data"]["purged"]
    assert purged["sources"] == 1
    assert await sql.fetchval("SELECT count(*) FROM document_sources WHERE document_id::text = $1", document_id) == 0

"""The budget of round trips between the service and Postgres, counted on the wire, BEGIN and COMMIT included."""

import pytest
import pytest_asyncio

from tests.support.service import client_of, serving
from tests.support.wire_proxy import FrontendMessages, proxying

KEY = "idempotency-key"


@pytest_asyncio.fixture
async def proxied(settings):
    """The proxy, and the application whose every pool leads through it."""
    async with proxying(settings.database_write_url) as proxy:
        names = ("database_write_url", "database_read_url", "database_system_url")
        update = {name: proxy.url(getattr(settings, name)) for name in names}
        async with serving(settings.model_copy(update=update | {"pool_size": 1})) as app:
            yield proxy, app


@pytest_asyncio.fixture
async def counted(proxied, alice):
    """Send a request twice, so that pools, plans and the key's cache are warm, and count the second."""
    proxy, app = proxied
    async with client_of(app, f"API-Key {alice.key}") as client:

        async def send(method, path, **options):
            for number in range(3):
                given = {name: value(number) for name, value in options.items()}
                with proxy.counting() as trips:
                    answer = await client.request(method, path, **given)
                assert answer.is_success, answer.text
            return trips[0], answer

        yield send


async def _created(counted):
    return await counted("POST", "/v1/documents", json=lambda n: {"title": f"Number {n}", "content": "text"})


async def test_create_takes_at_most_five(counted):
    trips, _ = await _created(counted)
    assert trips <= 5
    assert trips == 1  # one function that sets the tenant, writes, and records itself


async def test_hot_read_takes_one(counted):
    _, created = await _created(counted)
    trips, _ = await counted("GET", f"/v1/documents/{created.json()['data']['id']}")
    assert trips == 1


@pytest.mark.parametrize(("keyed", "most", "goal"), [(False, 5, 1), (True, 7, 3)])
async def test_patch_stays_in_budget(counted, keyed, most, goal):
    _, created = await _created(counted)
    trips, answer = await counted(
        "PATCH",
        f"/v1/documents/{created.json()['data']['id']}",
        json=lambda n: {"content": f"content {n}", "expectedRevision": n + 1},
        headers=lambda n: {KEY: f"trips-{n}"} if keyed else {},
    )
    assert answer.json()["data"]["noop"] is False
    assert trips <= most
    assert trips <= goal


def test_messages_are_found_in_any_split():
    startup = (8).to_bytes(4) + (80877103).to_bytes(4) + (9).to_bytes(4) + (196608).to_bytes(4) + b"\x00"
    session = b"Q" + (9).to_bytes(4) + b"BEGIN" + b"S" + (4).to_bytes(4)
    for size in (1, 2, 7, 100):
        messages, data = FrontendMessages(), startup + session
        found = [item for i in range(0, len(data), size) for item in messages.feed(data[i : i + size])]
        assert [kind for kind, _ in found] == [0, 0, ord("Q"), ord("S")]

"""R8, directed: the write has committed, the answer was never sent, the client tries again under its key."""

import asyncio
import json

import pytest

from tests.chaos import run
from tests.chaos.clients import exchange
from tests.support.stack import ServerProcess, Stack
from tests.support.wire_proxy import proxying

pytestmark = pytest.mark.prove


def request(method, path, credential, body=None, key=""):
    payload = json.dumps(body).encode() if body is not None else b""
    lines = [f"{method} {path} HTTP/1.1", "Host: service.test", f"Authorization: {credential}", "Connection: close"]
    lines += [f"Idempotency-Key: {key}"] if key else []
    lines += ["Content-Type: application/json", f"Content-Length: {len(payload)}"] if payload else []
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + payload


async def test_a_retry_finds_the_receipt_of_a_write_whose_answer_was_lost(servers, settings):
    stack = Stack(settings, servers.superuser_url(settings.database_url.rpartition("/")[2]))
    users = await asyncio.to_thread(run.sign_up, stack, "crash")
    async with proxying(settings.database_write_url) as proxy:
        through = settings.model_copy(update={"database_write_url": proxy.url(settings.database_write_url)})
        doomed, sound = ServerProcess(through), ServerProcess(settings)
        try:
            for process in (doomed, sound):
                process.start()
            for process in (doomed, sound):
                await asyncio.to_thread(process.wait_ready)
            (document, *_) = await run.create_documents([sound], users)
            await _lose_the_answer(proxy, doomed, sound, document)
        finally:
            for process in (doomed, sound):
                process.close()


async def _lose_the_answer(proxy, doomed, sound, document):
    path, credential = f"/v1/documents/{document.id}", document.credentials[0]
    change = request("PATCH", path, credential, {"content": "kept", "expectedRevision": 1}, key="crash")
    proxy.commit_delay = 20.0
    lost = asyncio.create_task(exchange(doomed.port, change))
    await asyncio.wait_for(proxy.committed.wait(), 10)
    await _until_written(sound, path, credential)
    doomed.kill()
    with pytest.raises((OSError, EOFError)):
        await lost
    status, headers, body = await exchange(sound.port, change)
    assert (status, headers.get("idempotency-replayed")) == (200, "true")
    assert json.loads(body)["data"]["revision"] == 2
    assert json.loads((await exchange(sound.port, request("GET", path, credential)))[2])["data"]["revision"] == 2


async def _until_written(sound, path, credential):
    for _ in range(200):
        if json.loads((await exchange(sound.port, request("GET", path, credential)))[2])["data"]["revision"] == 2:
            return
        await asyncio.sleep(0.02)
    pytest.fail("the write never committed")

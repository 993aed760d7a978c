"""Exports and imports of a workspace, as a client does them."""

from __future__ import annotations

import base64
import gzip
import io
import tarfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

    from tests.support.factories import Make, User

Files = list[tuple[str, str | bytes]]


async def export(make: Make, user: User) -> bytes:
    """Export a workspace; gives the archive."""
    started = await user.client.post("/v1/exports")
    assert started.status_code == 202, started.text
    export_id = started.json()["data"]["id"]
    await make.export(user, export_id)
    answer = await user.client.get(f"/v1/exports/{export_id}/content")
    assert answer.status_code == 200, answer.text
    return answer.content


def files(archive: bytes) -> Files:
    """Unpack an archive: texts, and uploaded files as bytes."""
    with gzip.open(io.BytesIO(archive)) as raw, tarfile.open(fileobj=raw, mode="r|") as tar:
        found = [(info.name, tar.extractfile(info).read()) for info in tar]  # type: ignore[union-attr]
    return [(name, content if name.endswith("/original") else content.decode()) for name, content in found]


async def put(client: httpx2.AsyncClient, import_id: str, number: int, part: Files) -> httpx2.Response:
    """Send a chunk."""
    entries = [{"path": path} | as_sent(content) for path, content in part]
    return await client.put(f"/v1/imports/{import_id}/chunks/{number}", json={"entries": entries})


def as_sent(content: str | bytes) -> dict[str, str]:
    """Give a file's content as an entry has it."""
    return {"text": content} if isinstance(content, str) else {"base64": base64.b64encode(content).decode()}


async def start(client: httpx2.AsyncClient) -> str:
    """Begin an import; gives its id."""
    answer = await client.post("/v1/imports")
    assert answer.status_code == 201, answer.text
    return str(answer.json()["data"]["id"])


async def load(client: httpx2.AsyncClient, content: Files, size: int = 4) -> dict[str, Any]:
    """Import files in chunks of so many; gives the import."""
    import_id = await start(client)
    for number, place in enumerate(range(0, len(content), size), 1):
        answer = await put(client, import_id, number, content[place : place + size])
        assert answer.status_code == 200, answer.text
    done = await client.post(f"/v1/imports/{import_id}:finish")
    assert done.status_code == 200, done.text
    found: dict[str, Any] = done.json()["data"]
    return found

"""Two agents write one lease-managed document over MCP; one is paused past its lease. Prints what each says and hears.

Against a running service: `CTX_URL=… CTX_API_KEY=… python -m tests.clients.two_agents`, or where `ctx up` has run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx2

from app.cli.client import Target, find_target

LEASE_SECONDS = 5
PAUSE_SECONDS = LEASE_SECONDS + 0.5


class Agent:
    """A client of `/mcp/all`: each call has an idempotency key of its own."""

    def __init__(self, name: str, target: Target) -> None:
        self.name = name
        headers = {"Authorization": f"API-Key {target.api_key}", "X-Agent-Id": name, "Accept": "application/json"}
        self._http = httpx2.Client(base_url=target.url, headers=headers, timeout=30)
        self.lease: dict[str, Any] = {}

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; gives its structured content."""
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        found: dict[str, Any] = self._http.post("/mcp/all", json=body).json()["result"]["structuredContent"]
        return found

    def rest(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """Call REST, for what is no tool: the policy."""
        return self._http.request(method, path, json=body, headers=headers)

    def acquire(self, document_id: str) -> dict[str, Any]:
        """Take the lease, if nobody has it."""
        answer = self.call(
            "acquire_lease", documentId=document_id, ttlSeconds=LEASE_SECONDS, idempotencyKey=uuid4().hex
        )
        if "data" in answer:
            self.lease = {"leaseId": answer["data"]["leaseId"], "leaseFence": answer["data"]["fence"]}
        return answer

    def append(self, document_id: str, revision: int, line: str, key: str | None = None) -> dict[str, Any]:
        """Write a line under the lease, based on a revision."""
        change = {"edits": [{"op": "insert", "text": line}], "expectedRevision": revision}
        return self.call(
            "update_document", documentId=document_id, **change, **self.lease, idempotencyKey=key or uuid4().hex
        )


def told(answer: dict[str, Any]) -> str:
    """Say an answer in a line."""
    if "error" in answer:
        return f"refused: {answer['error']['reason']}: {answer['error']['message']}"
    shown = ("revision", "fence", "state", "expiresAt", "noop")
    return "ok: " + ", ".join(f"{name} {answer['data'][name]}" for name in shown if name in answer["data"])


def story(target: Target) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each step in words, with the answer."""
    ann, ben = Agent("ann", target), Agent("ben", target)
    made = ann.call("create_document", title="Shared log", content="# Log\n", idempotencyKey=uuid4().hex)
    document = made["data"]["id"]
    yield "ann creates the document", made
    place = f"/v1/documents/{document}/coordination"
    tag = ann.rest("GET", place).headers["etag"]
    managed = ann.rest("PUT", place, {"policy": "lease_required"}, **{"If-Match": tag})
    yield "ann turns on lease_required", managed.json()
    yield "ann takes the lease", ann.acquire(document)
    yield "ben wants it too", ben.acquire(document)
    key = uuid4().hex
    yield "ann writes under her lease", ann.append(document, 1, "ann: first\n", key)
    time.sleep(PAUSE_SECONDS)
    yield f"ann was paused {PAUSE_SECONDS} s, past her lease; ben takes it", ben.acquire(document)
    yield "ben writes under his lease", ben.append(document, 2, "ben: second\n")
    yield "ann wakes up and writes under her old lease, on the new revision", ann.append(document, 3, "ann: late\n")
    yield "ann repeats her first write, as it was: its receipt answers", ann.append(document, 1, "ann: first\n", key)
    yield "ann wants the lease while ben has it", ann.acquire(document)
    release = ben.call("release_lease", documentId=document, **ben.lease, idempotencyKey=uuid4().hex)
    yield "ben releases", release
    yield "ann takes the lease again: a higher fence", ann.acquire(document)
    read = ann.call("get_document", documentId=document)
    yield "ann reads", read
    yield "ann writes on what she read", ann.append(document, read["data"]["revision"], "ann: third\n")
    yield "the document", ann.call("get_document", documentId=document)


def main() -> None:
    """Print the story."""
    answer: dict[str, Any] = {}
    for words, answer in story(find_target()):
        print(f"{words}\n    {told(answer)}")
    print("".join(f"    | {line}\n" for line in answer["data"]["content"].splitlines()))


if __name__ == "__main__":
    main()

"""A store that cannot be reached is a 503 that says when to retry, whatever the system calls it."""

from __future__ import annotations

import errno
import socket

import pytest

from app.store.postgres import Database

FAULTS = {
    "a name that does not resolve": socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
    "several addresses that all refuse": OSError("Multiple exceptions: [Errno 111] ('::1'), [Errno 111] ('127.0.0.1')"),
    "no route": OSError(errno.EHOSTUNREACH, "No route to host"),
    "no descriptor left": OSError(errno.EMFILE, "Too many open files"),
    "a refused connection": ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_database_out_of_reach_is_unavailable(fault, alice, monkeypatch):
    def away(*_args, **_options):
        raise FAULTS[fault]

    assert (await alice.client.get("/v1/documents")).status_code == 200  # the credential is known from here on
    for opening in ("hot", "snapshot", "tx", "single"):
        monkeypatch.setattr(Database, opening, away)
    answers = [
        await alice.client.get("/v1/documents/1"),
        await alice.client.get("/v1/documents"),
        await alice.client.post("/v1/documents", json={"title": "T", "content": "c"}),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["reason"]) == (503, "UNAVAILABLE")
        assert answer.headers["retry-after"] == "1"

"""Readers of what strangers wrote run in a child process: bounded memory, processor time, wall time and answer.

The child (`app.store.readers`) has no environment of ours, writes no file, and ends with its parent. One child serves
one call, so that nothing of one tenant is left for the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from app.kit.errors import Unavailable
from app.store.readers import DAMAGED, SMALLER, TOO_MUCH, Unreadable
from app.store.shares import Shares

if TYPE_CHECKING:
    from uuid import UUID

_MIB = 1024 * 1024
_WAIT_SECONDS = 20.0
_RETRY_SECONDS = 5
_END_SECONDS = 5.0
_PROGRAM = "from app.store.readers import main; main()"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may cost."""

    memory_bytes: int = 1024 * _MIB
    cpu_seconds: int = 20
    seconds: float = 30.0
    answer_bytes: int = 10 * _MIB


_TOO_LONG = ("reading it took too long", SMALLER)
_ENDED: dict[int, tuple[str, str]] = {signal.SIGKILL: _TOO_LONG, signal.SIGXCPU: _TOO_LONG, signal.SIGABRT: TOO_MUCH}
"""What ends a child: the bound on its processor time, or a library that got no memory."""
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "1"}
"""One heap for all threads of a library: glibc would reserve addresses for several, which the memory bound counts."""


class Confined:
    """Starts the children, at most `at_once` of this process at a time, of which no workspace takes all."""

    def __init__(self, at_once: int = 2, limits: Limits | None = None) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._shares = Shares(at_once, _WAIT_SECONDS)
        self._limits = limits or Limits()

    async def call(self, workspace_id: UUID, reader: str, options: dict[str, Any], body: bytes) -> dict[str, Any]:
        """Run `module:function` on a body, in the workspace's turn.

        Raises:
            Unreadable: it cannot be read, or reading it took more than the limits.
            Unavailable: its turn did not come in time.
        """
        head = {"reader": reader, "options": options, "limits": asdict(self._limits)}
        async with contextlib.AsyncExitStack() as turn:
            try:
                async with asyncio.timeout(_WAIT_SECONDS):
                    await turn.enter_async_context(self._shares.held(workspace_id))
                    await turn.enter_async_context(self._turns)
            except TimeoutError:
                raise Unavailable(
                    "Too much is being read just now; retry shortly.", retry_after=_RETRY_SECONDS
                ) from None
            return _answer(await self._run(json.dumps(head).encode() + b"\n" + body))

    async def _run(self, message: bytes) -> bytes:
        """Start a child, talk with it, and see to its end whatever happens."""
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-c", _PROGRAM),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
        )
        try:
            async with asyncio.timeout(self._limits.seconds):
                said = await self._converse(child, message)
                await child.wait()
        except TimeoutError:
            raise Unreadable(*_TOO_LONG) from None
        finally:
            if child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    child.kill()
                await _ended(child)
        if child.returncode:
            raise Unreadable(*_ENDED.get(-child.returncode, DAMAGED))
        return said

    async def _converse(self, child: asyncio.subprocess.Process, message: bytes) -> bytes:
        assert child.stdin is not None
        assert child.stdout is not None
        sending = asyncio.create_task(_send(child.stdin, message))
        said = bytearray()
        try:
            while chunk := await child.stdout.read(_MIB):
                said += chunk
                if len(said) > self._limits.answer_bytes:
                    raise Unreadable("its text is too large", SMALLER)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        return bytes(said)


async def _ended(child: asyncio.subprocess.Process) -> None:
    """Wait until a killed child is gone. What it said is read to its end: with a full buffer `wait` never returns.

    Who else holds its pipe open is not waited for.
    """
    assert child.stdout is not None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_SECONDS):
            while await child.stdout.read(_MIB):
                pass
            await child.wait()


async def _send(pipe: asyncio.StreamWriter, message: bytes) -> None:
    """Write and close; a child that ended early says so by what it answered."""
    with contextlib.suppress(OSError):
        pipe.write(message)
        await pipe.drain()
        pipe.close()


def _answer(said: bytes) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(said)
    if "unreadable" in answer:
        raise Unreadable(*answer["unreadable"])
    found: dict[str, Any] = answer["found"]
    return found

"""The child process of `app.store.confined`, and what a reader that runs in it says.

Its start is most of what a small file costs: it loads no more than every reader needs.
"""

from __future__ import annotations

import importlib
import json
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any, Final

from app.process import set_death_signal

Reader = Callable[[dict[str, Any], bytes], dict[str, Any]]
"""What runs in the child: options and a body make an answer, all of it JSON but for the body."""


class Unreadable(Exception):
    """The reader refuses the body; the message says why in words for people, and `step` what helps where one knows."""

    def __init__(self, why: str, step: str = "") -> None:
        super().__init__(why)
        self.step = step


SMALLER: Final = "Split it into smaller files and send those."
TOO_MUCH: Final = ("reading it took too much memory", SMALLER)
DAMAGED: Final = ("it is damaged, or not what it says it is", "")


def main() -> None:
    """Serve one call: a line of JSON and the body come in, a JSON object goes out."""
    head = json.loads(sys.stdin.buffer.readline())
    _confine(head["limits"])
    body = sys.stdin.buffer.read()
    module, _, name = head["reader"].partition(":")
    reader: Reader = getattr(importlib.import_module(module), name)
    try:
        answer: dict[str, Any] = {"found": reader(head["options"], body)}
    except Unreadable as error:
        answer = {"unreadable": (str(error), error.step)}
    except (RecursionError, MemoryError):
        answer = {"unreadable": TOO_MUCH}
    except Exception:  # noqa: BLE001  whatever a reader of strange bytes raises, it could not read them
        answer = {"unreadable": DAMAGED}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))


def _confine(limits: dict[str, Any]) -> None:
    """Take the limits on, for good: they are inherited and cannot be raised again by who is no superuser."""
    set_death_signal(signal.SIGKILL)
    bounds = {
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform == "darwin":  # its kernel takes no bound on addresses
        del bounds[resource.RLIMIT_AS]
    for what, bound in bounds.items():
        resource.setrlimit(what, (bound, bound))

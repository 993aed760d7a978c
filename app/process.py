"""Children that never outlive their parent: death signals on Linux, a watch thread everywhere."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

PARENT_ENV = "CTX_PARENT_PID"
READY_FD_ENV = "CTX_READY_FD"
LISTEN_FD_ENV = "CTX_LISTEN_FD"

_PR_SET_PDEATHSIG = 1
# A child that was asked to stop because its parent died may wait for open streams; nobody is left to kill it.
ORPHAN_GRACE_SECONDS = 10.0


def _load_libc() -> ctypes.CDLL | None:
    """Open the C library once, before any fork, since loading it between fork and exec may deadlock."""
    if not sys.platform.startswith("linux"):
        return None
    return ctypes.CDLL(None, use_errno=True)


_LIBC = _load_libc()


def set_death_signal(sig: signal.Signals) -> None:
    """Ask the kernel (Linux) to send `sig` to this process when the thread that forked it ends."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(sig), 0, 0, 0)


def die_with(parent: int, sig: signal.Signals) -> Callable[[], None]:
    """Build a `preexec_fn` that ties the child to `parent`, also when it died between fork and prctl."""

    def preexec() -> None:
        set_death_signal(sig)
        if os.getppid() != parent:
            os._exit(1)

    return preexec


def watch_parent() -> None:
    """Stop this process when the parent named by the environment is gone, and kill it when stopping hangs."""
    parent = int(os.environ.get(PARENT_ENV) or 0)
    if not parent:
        return
    set_death_signal(signal.SIGTERM)
    threading.Thread(target=_watch, args=(parent,), name="parent-watch", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_GRACE_SECONDS)
    os._exit(1)


def is_alive(pid: int) -> bool:
    """Tell whether a process with this id exists, whoever owns it; a zombie counts as dead on Linux."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def stop_process(proc: subprocess.Popen[bytes], sig: signal.Signals, seconds: float) -> None:
    """Signal a child, wait for it, and kill it when it does not end in time."""
    if proc.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        proc.send_signal(sig)
    try:
        proc.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        proc.kill()
        proc.wait()


def report_ready() -> None:
    """Tell the supervisor, over the inherited pipe, that this process serves."""
    fd = os.environ.pop(READY_FD_ENV, "")
    if fd:
        with contextlib.suppress(OSError):
            os.write(int(fd), b"1")
            os.close(int(fd))

"""One supervised child process: start, readiness, restart with growing pauses, stop."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping

from app.process import LISTEN_FD_ENV, PARENT_ENV, READY_FD_ENV, die_with, stop_process

log = logging.getLogger("app.supervisor")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
# A process that ran this long was sound: its next failure is a new story.
SOUND_SECONDS = 60.0


class Backoff:
    """Decides when something that ended is started again."""

    def __init__(self) -> None:
        self._pause = FIRST_PAUSE
        self._started = time.monotonic()
        self._due: float | None = None

    def started(self) -> None:
        """Note a start."""
        self._started, self._due = time.monotonic(), None

    def remaining(self, name: str, code: int) -> float:
        """Return the seconds until the next start of what ended with `code`; zero or less means now."""
        now = time.monotonic()
        if self._due is None:
            if now - self._started > SOUND_SECONDS:
                self._pause = FIRST_PAUSE
            log.warning("%s ended unexpectedly (exit code %d); starting it again in %.1f s", name, code, self._pause)
            self._due = now + self._pause
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
        return self._due - now


def _command(kind: str) -> list[str]:
    # -P: a folder named `app` where the command was typed must not be taken for ours.
    return [sys.executable, "-P", "-m", "app.child", kind]


class Child:
    """A process of the service that is started again when it ends."""

    def __init__(self, kind: str, listen_fd: int | None = None) -> None:
        self.kind = kind
        self.ready = False
        self.ready_fd: int | None = None
        self._settings: Mapping[str, str] | None = None
        self._listen_fd = listen_fd
        self._process: subprocess.Popen[bytes] | None = None
        self._backoff = Backoff()

    @property
    def pid(self) -> int:
        """Process id, 0 when it does not run."""
        return self._process.pid if self._process is not None and self.running else 0

    @property
    def running(self) -> bool:
        """Whether the process exists."""
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Exit code of a process that ended."""
        return self._process.poll() if self._process is not None else None

    def start(self) -> None:
        """Start the process; it loads its code and waits for its settings.

        It gets a session of its own, so that a terminal's Ctrl-C reaches the supervisor only.
        """
        self._close_ready()
        self.ready_fd, write = os.pipe()
        fds = [write, *([] if self._listen_fd is None else [self._listen_fd])]
        environment = dict(os.environ) | {PARENT_ENV: str(os.getpid()), READY_FD_ENV: str(write)}
        if self._listen_fd is not None:
            environment[LISTEN_FD_ENV] = str(self._listen_fd)
        try:
            self._process = subprocess.Popen(
                _command(self.kind),
                stdin=subprocess.PIPE,
                env=environment,
                pass_fds=fds,
                start_new_session=True,
                preexec_fn=die_with(os.getpid(), signal.SIGTERM),  # noqa: PLW1509  (no threads here)
            )
        finally:
            os.close(write)
        self._backoff.started()
        if self._settings is not None:
            _send(self._process, self._settings)

    def release(self, settings: Mapping[str, str]) -> None:
        """Let the process begin its work, with these variables added to its environment now and after restarts."""
        self._settings = settings
        if self._process is not None:
            _send(self._process, settings)

    def check_ready(self) -> None:
        """Note whether the process has reported that it serves, without blocking."""
        if self.ready_fd is not None:
            os.set_blocking(self.ready_fd, False)
            with contextlib.suppress(BlockingIOError):
                self.ready = os.read(self.ready_fd, 1) == b"1" or self.ready
                self._close_ready()

    def tend(self) -> float:
        """Start the process again when its pause is over and return the seconds until something is due."""
        if self.running or self._process is None:
            return 60.0
        wait = self._backoff.remaining(f"The {self.kind} process", self._process.returncode)
        if wait > 0:
            return wait
        self.start()
        return 60.0

    def terminate(self) -> None:
        """Ask the process to finish what it does and end."""
        if self._process is not None and self.running:
            self._process.terminate()

    def kill(self) -> None:
        """End the process at once if it is still there."""
        self._close_ready()
        if self._process is not None and self.running:
            log.warning("The %s process did not stop in time and was killed", self.kind)
            self._process.kill()
            self._process.wait()

    def _close_ready(self) -> None:
        if self.ready_fd is not None:
            os.close(self.ready_fd)
            self.ready_fd = None


def _send(process: subprocess.Popen[bytes], settings: Mapping[str, str]) -> None:
    """Hand over settings through a pipe: they hold secrets, and arguments are visible to every user."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it has ended already, which the caller sees by its exit code
        process.stdin.write(json.dumps(dict(settings)).encode())
        process.stdin.close()


def run_step(kind: str, settings: Mapping[str, str], should_stop: Callable[[], bool]) -> tuple[int, str]:
    """Run a part of the start in a process of its own and return exit code and output.

    The supervisor itself stays small and free of threads, which forking would not survive.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            _command(kind),
            stdin=subprocess.PIPE,
            stdout=output,
            env=dict(os.environ) | {PARENT_ENV: str(os.getpid())},
            start_new_session=True,
            preexec_fn=die_with(os.getpid(), signal.SIGTERM),  # noqa: PLW1509  (no threads here)
        )
        _send(process, settings)
        while process.poll() is None:
            if should_stop():
                stop_process(process, signal.SIGTERM, seconds=10)
            time.sleep(0.02)
        output.seek(0)
        return process.returncode, output.read().decode("utf-8", "replace")

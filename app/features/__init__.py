"""One folder per capability; `collect` finds what each of them offers, the only reflection in the program."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def collect(module: str, name: str) -> Iterator[Any]:
    """Yield the objects called `name` of every feature that has a file `module`, in the order of folder names."""
    for info in pkgutil.iter_modules(__path__):
        if not info.ispkg:
            continue
        path = f"{__name__}.{info.name}.{module}"
        if importlib.util.find_spec(path) is not None:
            yield from getattr(importlib.import_module(path), name)


def folders(name: str) -> Iterator[Path]:
    """Yield the folders called `name` (templates) of the features that have one."""
    for info in pkgutil.iter_modules(__path__):
        folder = Path(__path__[0]) / info.name / name
        if info.ispkg and folder.is_dir():
            yield folder

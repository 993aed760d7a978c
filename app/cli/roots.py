"""Loads the composition roots by name, so that the thin client works without the server's packages."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from pydantic import ValidationError

from app.cli.output import complain

if TYPE_CHECKING:
    from app.settings import Settings

# Present exactly when the extra `server` is installed.
_SERVER_PACKAGES = ("asyncpg", "fastapi", "sqlalchemy", "uvicorn")


def root(target: str) -> Any:
    """Resolve `module:attribute` of the service, or say what to install."""
    if any(importlib.util.find_spec(name) is None for name in _SERVER_PACKAGES):
        fail("this command needs the server: pip install 'context-repo[server]'", 2)
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def read_settings() -> Settings:
    """Read the environment, or name the variables that are wrong without showing their values."""
    try:
        settings: Settings = root("app.settings:Settings")()
    except ValidationError as exc:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in exc.errors())
        fail(f"{problems}; correct the environment", 2)
    return settings


def guarded(target: str, *args: Any) -> Any:
    """Call a root and turn the errors meant for the operator into a message and exit code 1."""
    call = root(target)
    explained: tuple[type[Exception], ...] = root("app.supervisor:explained_errors")()
    try:
        return call(*args)
    except explained as exc:
        fail(str(exc), 1)


def fail(message: str, code: int) -> NoReturn:
    """End the command with a message."""
    complain(message)
    raise typer.Exit(code)

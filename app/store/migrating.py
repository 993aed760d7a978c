"""Bring a database to the newest schema, and know without loading Alembic when there is nothing to do."""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

import asyncpg

import app
from app.store.bootstrap import sqlalchemy_url

FUNCTIONS: Final = "functions.sql"
"""Database functions of a folder of the code."""

_STATE: Final = "SELECT version_num, obj_description('alembic_version'::regclass) AS functions FROM alembic_version"


class MigrationError(RuntimeError):
    """The schema cannot be brought up to date; the message names the next step."""


def migrations_folder() -> Path:
    """Find the migrations inside the installed package, else beside it in a checkout."""
    package = Path(app.__file__).resolve().parent
    for folder in (package / "migrations", package.parent / "migrations"):
        if (folder / "env.py").is_file():
            return folder
    raise MigrationError("The migrations folder is missing; reinstall the package or run from a complete checkout")


def newest_revisions(folder: Path) -> set[str]:
    """Read the heads out of the revision files' text: importing Alembic takes a second, which each start would pay."""
    revisions: set[str] = set()
    parents: set[str] = set()
    for path in (folder / "versions").glob("*.py"):
        values = dict(_assignments(ast.parse(path.read_text(encoding="utf-8"))))
        if isinstance(revision := values.get("revision"), str):
            revisions.add(revision)
            parents.update(_names(values.get("down_revision")))
    return revisions - parents


def _assignments(module: ast.Module) -> Iterator[tuple[str, object]]:
    for node in module.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and target.id in ("revision", "down_revision"):
                value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
                yield target.id, ast.literal_eval(value) if value is not None else None


def _names(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(name) for name in value] if isinstance(value, tuple | list) else []


def functions_digest(package: Path) -> str:
    """Digest the database functions of the code, which stands as comment on the table of the schema's version."""
    files = sorted(package.rglob(FUNCTIONS))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


async def is_current(owner_url: str, folder: Path) -> bool:
    """Tell whether the database already has the newest schema and functions."""
    connection = await asyncpg.connect(owner_url)
    try:
        rows = await connection.fetch(_STATE)
    except asyncpg.UndefinedTableError:
        return False
    finally:
        await connection.close()
    known = {row["version_num"] for row in rows}
    digest = functions_digest(Path(app.__file__).parent)
    return known == newest_revisions(folder) and all(row["functions"] == digest for row in rows)


def upgrade(owner_url: str) -> None:
    """Run all outstanding migrations as the owner. Call it outside any event loop: Alembic starts its own."""
    from alembic import command
    from alembic.config import Config

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.attributes["url"] = sqlalchemy_url(owner_url)
    command.upgrade(config, "head")


def newest_revision() -> str:
    """Name the one head of the migrations."""
    (head,) = newest_revisions(migrations_folder())
    return head

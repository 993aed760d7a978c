"""Run plain SQL in a migration, and install database functions from the text that stands beside their feature."""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op
from sqlalchemy import text

APP = Path(__file__).parent.parent / "app"
_FUNCTION = re.compile(r"CREATE OR REPLACE FUNCTION (\w+)\(")


def run(sql: str) -> None:
    """Execute several statements as they stand, in the migration's transaction."""
    bind = op.get_bind()
    bind.execute(text("SELECT 1"))  # the driver begins its transaction with its first statement
    bind.connection.dbapi_connection.run_async(lambda connection: connection.execute(sql))


def source(place: str) -> str:
    """Read the functions of a folder below `app`."""
    return (APP / place / "functions.sql").read_text(encoding="utf-8")


def install(place: str) -> None:
    """Create or replace the functions of a folder below `app`."""
    run(source(place))


def drop(place: str) -> None:
    """Drop the functions of a folder below `app`."""
    run(";\n".join(f"DROP FUNCTION IF EXISTS {name}" for name in _FUNCTION.findall(source(place))))

"""Run plain SQL in a migration, and install database functions from the text that stands beside their feature."""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op
from sqlalchemy import text

import app
from app.store import migrating
from app.store.migrating import FUNCTIONS as FILE

APP = Path(app.__file__).parent
_FUNCTION = re.compile(r"CREATE OR REPLACE FUNCTION (\w+)\(")
_DROP = """
DO $$
DECLARE known regprocedure;
BEGIN
  FOR known IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname IN ({names})
  LOOP
    BEGIN
      EXECUTE format('DROP FUNCTION %s', known);
    EXCEPTION WHEN dependent_objects_still_exist THEN NULL;
    END;
  END LOOP;
END $$;
"""


def run(sql: str) -> None:
    """Execute several statements as they stand, in the migration's transaction."""
    bind = op.get_bind()
    bind.execute(text("SELECT 1"))  # the driver begins its transaction with its first statement
    bind.connection.dbapi_connection.run_async(lambda connection: connection.execute(sql))


def source(place: str) -> str:
    """Read the functions of a folder below `app`."""
    return (APP / place / FILE).read_text(encoding="utf-8")


def install(place: str) -> None:
    """Create the functions of a folder below `app`, in place of any that had their names.

    Postgres replaces no function whose parameters or results are others, so that all are dropped first, but for those
    that a policy or a view holds: these can only be replaced as they are.
    """
    text = source(place)
    run(_DROP.format(names=", ".join(f"'{name}'" for name in _FUNCTION.findall(text))) + text)


def refresh() -> None:
    """Create all functions as they stand in the code now: an older database may have older ones of the same schema."""
    for file in sorted(APP.rglob(FILE)):
        install(str(file.parent.relative_to(APP)))
    run(f"COMMENT ON TABLE alembic_version IS '{migrating.functions_digest(APP)}'")


def drop(place: str) -> None:
    """Drop the functions of a folder below `app`."""
    run(";\n".join(f"DROP FUNCTION IF EXISTS {name}" for name in _FUNCTION.findall(source(place))))

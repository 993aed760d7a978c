"""SQL of usage and subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.gate.policy import Meter

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database
    from app.store.tx import Tx

_MONTH = "date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')"

# Texts and files count once however many versions and documents hold them; what is in the trash takes room until it is
# purged. Archives are gone within a day and count nothing.
_COUNTS = {
    Meter.DOCUMENTS: "SELECT count(*) FROM documents WHERE workspace_id = $1 AND deleted_at IS NULL",
    Meter.PROMPTS: "SELECT count(*) FROM prompts WHERE workspace_id = $1 AND deleted_at IS NULL",
    Meter.COLLECTIONS: "SELECT count(*) FROM collections WHERE workspace_id = $1 AND deleted_at IS NULL",
    Meter.STORAGE_BYTES: """
        SELECT coalesce((SELECT sum(octet_length(content)) FROM contents WHERE workspace_id = $1), 0)
             + coalesce((SELECT sum(octet_length(content)) FROM prompt_versions WHERE workspace_id = $1), 0)
             + coalesce((SELECT sum(octet_length(content)) FROM import_texts WHERE workspace_id = $1), 0)
             + coalesce((SELECT sum(b.size) FROM blobs b
                          WHERE b.workspace_id = $1 AND EXISTS (
                                SELECT FROM document_files f
                                 WHERE f.workspace_id = b.workspace_id AND f.digest = b.digest)), 0)""",
    Meter.API_KEYS: """
        SELECT count(*) FROM credentials
         WHERE workspace_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())""",
}

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('quota' || $1::uuid, 0))"

# One statement decides and takes: no two calls take the last one.
_RESERVE = f"""
INSERT INTO usage_counters AS u (workspace_id, meter, month, used)
SELECT $1, $2, {_MONTH}, 1 WHERE $3::bigint > 0
ON CONFLICT (workspace_id, meter, month) DO UPDATE SET used = u.used + 1 WHERE u.used < $3
RETURNING used
"""

_THIS_MONTH = f"""
SELECT ({_MONTH} + interval '1 month') AT TIME ZONE 'UTC' AS resets_at,
       (SELECT coalesce(jsonb_object_agg(meter, used), '{{}}') FROM usage_counters
         WHERE workspace_id = $1 AND month = {_MONTH}) AS used
"""

_PLAN = "SELECT plan FROM subscriptions WHERE workspace_id = $1"

_SET_PLAN = """
INSERT INTO subscriptions (workspace_id, plan, trial_ends_at)
SELECT w.id, $2, clock_timestamp() + make_interval(days => $3)
  FROM workspaces w JOIN users u ON u.id = w.created_by
 WHERE w.kind = 'personal' AND lower(u.email) = lower($1)
ON CONFLICT (workspace_id) DO UPDATE
   SET plan = excluded.plan, trial_ends_at = excluded.trial_ends_at, updated_at = clock_timestamp()
RETURNING workspace_id, plan, trial_ends_at
"""

_TEXTS = {meter: f"({sql})::bigint AS {meter.value}" for meter, sql in _COUNTS.items()}


def _count(meters: Collection[Meter]) -> str:
    return "SELECT " + ", ".join(_TEXTS[meter] for meter in _TEXTS if meter in meters)


async def count(tx: Tx, meters: Collection[Meter]) -> dict[Meter, int]:
    """Count what a workspace stores, as the transaction sees it; also what its caller may not see."""
    async with tx.of_everything():
        row = await tx.fetchrow(_count(meters), tx.workspace_id)
    assert row is not None
    return {Meter(name): value for name, value in row.items()}


async def count_all(database: Database, workspace_id: UUID) -> dict[Meter, int]:
    """Count all that a workspace stores."""
    rows = await database.system_rows(_count(_TEXTS), workspace_id)
    return {Meter(name): value for name, value in rows[0].items()}


async def wait_for_others(tx: Tx) -> None:
    """Wait until no other transaction of the workspace counts; the next statement sees what they committed."""
    await tx.execute(_LOCK, tx.workspace_id)


async def reserve(tx: Tx, meter: Meter, limit: int) -> bool:
    """Take one of this month's allowance; False when there is none left."""
    return await tx.fetchval(_RESERVE, tx.workspace_id, meter.value, limit) is not None


async def this_month(tx: Tx) -> tuple[datetime, dict[Meter, int]]:
    """Give the end of the month, and what was used of its allowances."""
    row = await tx.fetchrow(_THIS_MONTH, tx.workspace_id)
    assert row is not None
    return row["resets_at"], {Meter(name): used for name, used in row["used"].items()}


async def get_plan(tx: Tx, default: str) -> str | None:
    """Name the plan that a workspace subscribed to, the default one without a subscription."""
    row = await tx.fetchrow(_PLAN, tx.workspace_id)
    return row["plan"] if row is not None else default


async def set_plan(database: Database, email: str, plan: str | None, trial_days: int | None) -> asyncpg.Record | None:
    """Give a person's own workspace a plan, or none; None when there is no such person."""
    rows = await database.system_rows(_SET_PLAN, email, plan, trial_days)
    return rows[0] if rows else None

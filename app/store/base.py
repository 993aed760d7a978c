"""Schema conventions: constraint names, and the two row-level policies that every tenant table has."""

from __future__ import annotations

from sqlalchemy import MetaData

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

TENANT = "(SELECT nullif(current_setting('app.workspace_id', true), '')::uuid)"
"""The workspace of the running transaction; NULL, so no row, when none is set."""

EVERYTHING = "*"
"""What `app.collections` holds where nothing is narrowed; else it holds ids of collections, by commas.

A transaction that does not say what it may see, sees nothing.
"""

_ALL = f"(SELECT current_setting('app.collections', true) = '{EVERYTHING}')"
_OWN = (
    f"(SELECT string_to_array(nullif(current_setting('app.collections', true), '{EVERYTHING}'), ',')::uuid[])::uuid[]"
)
_SNAPSHOT = "(SELECT current_setting('transaction_isolation') = 'repeatable read')"

GLOBAL_TABLES = frozenset(
    {
        "users",
        "memberships",
        "credentials",
        "subscriptions",
        "event_epochs",
        "browser_sessions",
        "one_time_links",
        "link_tokens",
        "mail_outbox",
        "account_audit",
        "oauth_clients",
        "oauth_grants",
        "oauth_codes",
        "oauth_tokens",
        "oauth_device_codes",
        "identities",
        "alembic_version",
        "pgqueuer",
        "pgqueuer_log",
        "pgqueuer_schedules",
        "pgqueuer_statistics",
    }
)
"""Tables without a tenant. `workspaces` has a policy by its own id."""


def tenant_policies(table: str, column: str = "workspace_id", *, sampled: bool = False) -> str:
    """Write the SQL that fences a table: tenants see their rows, the dispatcher's role sees all, nobody else any.

    ANALYZE does not sample the column, so that a workspace counts as 1/200 of the table. Sampled while all workspaces
    are small it would count as one row, and no index be better than another to look up one id: in a workspace that has
    grown since, the planner would read all of it for each. `sampled` is for tables whose indexes all serve a look-up
    well, and of which the planner must know how large a workspace is.
    """
    return f"""
ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS {-1 if sampled else 0};
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {table} USING ({column} = {TENANT}) WITH CHECK ({column} = {TENANT});
CREATE POLICY system ON {table} TO app_system USING (true) WITH CHECK (true);
"""


def member_policy(table: str, kind: str, column: str = "id") -> str:
    """Write the SQL that narrows a table to the members of the transaction's collections.

    It holds for every statement, reading and writing, on top of the tenant's policy. `column` has the item's id.
    A snapshot looks at many rows: it hashes the members once. Writes and hot reads ask of the few rows that they touch.
    """
    item = f"{table}.{column}"
    among, one = f"{item} IN (SELECT reach_of('{kind}'))", f"in_reach({table}.workspace_id, '{kind}', {item})"
    return _narrowed(table, f"CASE WHEN {_SNAPSHOT} THEN {among} ELSE {one} END")


def collection_policy(table: str, column: str) -> str:
    """Write the SQL that narrows a table to the rows of the transaction's collections."""
    return _narrowed(table, f"{column} = ANY ({_OWN})")


def unrestricted_policy(table: str) -> str:
    """Write the SQL that shows a table's rows only where nothing is narrowed; rows can still be added."""
    return f"CREATE POLICY collections ON {table} AS RESTRICTIVE FOR SELECT TO app_write, app_read USING ({_ALL});\n"


def _narrowed(table: str, condition: str) -> str:
    rule = f"({_ALL} OR {condition})"
    return f"""
CREATE POLICY collections ON {table} AS RESTRICTIVE TO app_write, app_read USING {rule} WITH CHECK {rule};
"""


def items_view(titles: dict[str, str]) -> str:
    """Write the SQL of the view of all that people store, by kind; `titles` names each kind's column with its title.

    The table of a kind is its plural and has `id`, `tags`, `created_at`, `deleted_at`, `deleted_by`, `purged_at`.
    """
    parts = [
        f"SELECT workspace_id, '{kind}'::text AS kind, id, {title} AS title, tags, created_at, deleted_at, deleted_by"
        f" FROM {kind}s WHERE purged_at IS NULL"
        for kind, title in titles.items()
    ]
    return (
        "CREATE OR REPLACE VIEW items WITH (security_invoker = true) AS\n"
        + "\nUNION ALL\n".join(parts)
        + ";\nGRANT SELECT ON items TO app_write, app_read, app_system;\n"
    )

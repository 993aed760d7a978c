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

GLOBAL_TABLES = frozenset(
    {
        "users",
        "memberships",
        "credentials",
        "subscriptions",
        "event_epochs",
        "browser_sessions",
        "one_time_links",
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


def tenant_policies(table: str, column: str = "workspace_id") -> str:
    """Write the SQL that fences a table: tenants see their rows, the dispatcher's role sees all, nobody else any."""
    return f"""
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {table} USING ({column} = {TENANT}) WITH CHECK ({column} = {TENANT});
CREATE POLICY system ON {table} TO app_system USING (true) WITH CHECK (true);
"""

"""Tables of users, workspaces, their members and plans, and of how people sign in."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
    func,
    text,
)

from app.store.base import metadata


def _made_at(name: str = "created_at") -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp())


users = Table(
    "users",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("email", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("external_id", Text),
    _made_at(),
    Column("password_hash", Text),
    Column("password_changed_at", DateTime(timezone=True)),
    Index("users_email_key", text("lower(email)"), unique=True),
)

workspaces = Table(
    "workspaces",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, CheckConstraint("kind IN ('personal', 'shared')", name="kind"), nullable=False),
    Column("created_by", Uuid, ForeignKey("users.id"), nullable=False),
    _made_at(),
    Index(None, "created_by"),
)

memberships = Table(
    "memberships",
    metadata,
    Column("workspace_id", Uuid, ForeignKey("workspaces.id"), primary_key=True),
    Column("user_id", Uuid, ForeignKey("users.id"), primary_key=True),
    Column("role", Text, CheckConstraint("role IN ('owner', 'member', 'viewer')", name="role"), nullable=False),
    _made_at(),
    Index(None, "user_id"),
)

# The plans themselves are `plans.toml`; which one a workspace has is a fact about the workspace.
subscriptions = Table(
    "subscriptions",
    metadata,
    Column("workspace_id", Uuid, ForeignKey("workspaces.id"), primary_key=True),
    Column("plan", Text),
    Column("trial_ends_at", DateTime(timezone=True)),
    _made_at("updated_at"),
)

browser_sessions = Table(
    "browser_sessions",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("token_hash", LargeBinary, nullable=False, unique=True),
    Column("user_id", Uuid, ForeignKey("users.id"), nullable=False),
    Column("workspace_id", Uuid, ForeignKey("workspaces.id"), nullable=False),
    Column("address", Text),
    Column("user_agent", Text),
    _made_at(),
    _made_at("last_seen_at"),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Column("revoked_at", DateTime(timezone=True)),
    Index(None, "user_id"),
)

one_time_links = Table(
    "one_time_links",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("id", Uuid, nullable=False, unique=True, server_default=func.gen_random_uuid()),
    Column(
        "purpose",
        Text,
        CheckConstraint("purpose IN ('sign_in', 'password_reset', 'invite')", name="purpose"),
        nullable=False,
    ),
    Column("user_id", Uuid, ForeignKey("users.id")),
    Column("email", Text),
    Column("workspace_id", Uuid, ForeignKey("workspaces.id")),
    Column("role", Text, CheckConstraint("role IN ('owner', 'member', 'viewer')", name="role")),
    Column("created_by", Uuid, ForeignKey("users.id")),
    _made_at(),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Column("used_at", DateTime(timezone=True)),
    Index(None, "workspace_id"),
)

mail_outbox = Table(
    "mail_outbox",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("recipient", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("body", Text, nullable=False),
    _made_at(),
    Column("sent_at", DateTime(timezone=True)),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("error", Text),
)

account_audit = Table(
    "account_audit",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("user_id", Uuid),
    Column("workspace_id", Uuid),
    Column("action", Text, nullable=False),
    Column("subject", Text),
    Column("address", Text),
    _made_at(),
    Index(None, "user_id", "created_at"),
)

TABLES = [
    users,
    workspaces,
    memberships,
    subscriptions,
    browser_sessions,
    one_time_links,
    mail_outbox,
    account_audit,
]

"""Tables of users, workspaces, their members and plans, and of how people sign in."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
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
    Column("grant_id", Uuid),
    Column("agent", Text),
    Column("operation", Text),
    Column("request_id", Text),
    Index(None, "user_id", "created_at"),
    Index(None, "workspace_id", "created_at"),
)

TABLES = [users, workspaces, memberships, subscriptions, account_audit]

"""Accounts that people have at an external issuer."""

from __future__ import annotations

from migrations import functions

revision = "0003"
down_revision = "0002"

TABLES = """
CREATE TABLE identities (
  id uuid PRIMARY KEY,
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL REFERENCES users (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT identities_issuer_subject_key UNIQUE (issuer, subject),
  CONSTRAINT identities_issuer_user_id_key UNIQUE (issuer, user_id)
);
CREATE INDEX identities_user_id_idx ON identities (user_id);

GRANT SELECT ON identities TO app_write, app_read, app_system;
GRANT INSERT ON identities TO app_write, app_system;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE identities")

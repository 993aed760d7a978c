"""Prompts with versions and labels."""

from __future__ import annotations

from app.store.base import tenant_policies
from migrations import functions

revision = "0004"
down_revision = "0003"

TABLES = """
CREATE TABLE prompts (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  title text NOT NULL,
  description text NOT NULL,
  tags text[] NOT NULL,
  variables json,
  parameters json NOT NULL,
  archived boolean NOT NULL DEFAULT false,
  content_hash bytea NOT NULL,
  revision int NOT NULL DEFAULT 1,
  current_version int NOT NULL DEFAULT 1,
  published_at timestamptz,
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL,
  last_changed_at timestamptz NOT NULL,
  deleted_at timestamptz,
  deleted_by uuid,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX prompts_workspace_id_created_at_id_idx ON prompts (workspace_id, created_at DESC, id DESC)
  WHERE deleted_at IS NULL;

CREATE TABLE prompt_versions (
  workspace_id uuid NOT NULL,
  prompt_id uuid NOT NULL,
  version int NOT NULL,
  id uuid NOT NULL,
  revision int NOT NULL,
  content text NOT NULL,
  names text[] NOT NULL,
  change_log text,
  author_id uuid NOT NULL,
  author_name text NOT NULL,
  grant_id uuid NOT NULL,
  agent text,
  decided_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, prompt_id, version),
  CONSTRAINT prompt_versions_prompt_fkey FOREIGN KEY (workspace_id, prompt_id) REFERENCES prompts (workspace_id, id)
);
CREATE UNIQUE INDEX prompt_versions_workspace_id_id_key ON prompt_versions (workspace_id, id);

CREATE TABLE prompt_labels (
  workspace_id uuid NOT NULL,
  prompt_id uuid NOT NULL,
  label text NOT NULL,
  version int NOT NULL,
  moved_by_name text NOT NULL,
  moved_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, prompt_id, label),
  CONSTRAINT prompt_labels_version_fkey FOREIGN KEY (workspace_id, prompt_id, version)
    REFERENCES prompt_versions (workspace_id, prompt_id, version)
);
"""

NAMES = ["prompts", "prompt_versions", "prompt_labels"]

# Versions can only be added; the system's role may purge.
GRANTS = f"""
GRANT SELECT ON {", ".join(NAMES)} TO app_write, app_read, app_system;
GRANT INSERT ON {", ".join(NAMES)} TO app_write, app_system;
GRANT UPDATE ON prompts, prompt_labels TO app_write;
GRANT DELETE ON prompt_labels TO app_write;
GRANT UPDATE, DELETE ON {", ".join(NAMES)} TO app_system;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    for table in NAMES:
        functions.run(tenant_policies(table))
    functions.run(GRANTS)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE " + ", ".join(reversed(NAMES)))

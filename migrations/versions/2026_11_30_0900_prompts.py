"""Prompts with versions and labels."""

from __future__ import annotations

from app.store.base import items_view, member_policy, tenant_policies
from migrations import functions

revision = "0005"
down_revision = "0004"

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
  purged_at timestamptz,
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

# History goes with its prompt, and only when that is purged.
PURGE = """
CREATE POLICY purge ON prompt_versions AS RESTRICTIVE FOR DELETE TO app_write USING (EXISTS (
  SELECT FROM prompts p
   WHERE p.workspace_id = prompt_versions.workspace_id AND p.id = prompt_versions.prompt_id
     AND p.purged_at IS NOT NULL));
"""
MEMBERS = {"prompts": "id", "prompt_versions": "prompt_id", "prompt_labels": "prompt_id"}

GRANTS = f"""
GRANT SELECT ON {", ".join(NAMES)} TO app_write, app_read, app_system;
GRANT INSERT ON {", ".join(NAMES)} TO app_write, app_system;
GRANT UPDATE ON prompts, prompt_labels TO app_write;
GRANT DELETE ON prompt_versions, prompt_labels TO app_write;
GRANT UPDATE, DELETE ON {", ".join(NAMES)} TO app_system;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    for table in NAMES:
        functions.run(tenant_policies(table))
    functions.run("".join(member_policy(table, "prompt", column) for table, column in MEMBERS.items()) + PURGE)
    functions.run(GRANTS)
    functions.run(items_view({"document": "title", "collection": "name", "prompt": "title"}))


def downgrade() -> None:
    """Take back."""
    functions.run("DROP VIEW items;" + items_view({"document": "title", "collection": "name"}))
    functions.run("DROP TABLE " + ", ".join(reversed(NAMES)))

"""Every revision of a prompt, and how often it was read by its public links."""

from __future__ import annotations

from app.store.base import member_policy, tenant_policies
from migrations import functions

revision = "0019"
down_revision = "0018"

TABLE = """
CREATE TABLE prompt_revisions (
  workspace_id uuid NOT NULL,
  prompt_id uuid NOT NULL,
  revision int NOT NULL,
  version int NOT NULL,
  title text NOT NULL,
  description text NOT NULL,
  tags text[] NOT NULL,
  variables json,
  parameters json NOT NULL,
  archived boolean NOT NULL,
  published boolean NOT NULL,
  content_hash bytea NOT NULL,
  decided_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, prompt_id, revision),
  CONSTRAINT prompt_revisions_prompt_fkey FOREIGN KEY (workspace_id, prompt_id) REFERENCES prompts (workspace_id, id)
);
ALTER TABLE prompts ADD COLUMN views bigint NOT NULL DEFAULT 0, ADD COLUMN copies bigint NOT NULL DEFAULT 0;
"""

# History goes with its prompt, and only when that is purged.
RIGHTS = """
CREATE POLICY purge ON prompt_revisions AS RESTRICTIVE FOR DELETE TO app_write USING (EXISTS (
  SELECT FROM prompts p
   WHERE p.workspace_id = prompt_revisions.workspace_id AND p.id = prompt_revisions.prompt_id
     AND p.purged_at IS NOT NULL));
GRANT SELECT ON prompt_revisions TO app_write, app_read, app_system;
GRANT INSERT ON prompt_revisions TO app_write, app_system;
GRANT DELETE ON prompt_revisions TO app_write;
GRANT UPDATE, DELETE ON prompt_revisions TO app_system;
"""

# What prompts were before was not kept beside their texts: their past begins with what they are now.
BACKFILL = """
SET LOCAL ROLE app_system;
DO $$
DECLARE
  kept bigint;
BEGIN
  INSERT INTO prompt_revisions (workspace_id, prompt_id, revision, version, title, description, tags, variables,
                                parameters, archived, published, content_hash, decided_at)
  SELECT workspace_id, id, revision, current_version, title, description, tags, variables, parameters, archived,
         published_at IS NOT NULL, content_hash, last_changed_at
    FROM prompts WHERE purged_at IS NULL;
  GET DIAGNOSTICS kept = ROW_COUNT;
  ASSERT kept = (SELECT count(*) FROM prompts WHERE purged_at IS NULL);
END $$;
RESET ROLE;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLE + tenant_policies("prompt_revisions"))
    functions.run(member_policy("prompt_revisions", "prompt", "prompt_id") + RIGHTS + BACKFILL)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE prompt_revisions; ALTER TABLE prompts DROP COLUMN views, DROP COLUMN copies")

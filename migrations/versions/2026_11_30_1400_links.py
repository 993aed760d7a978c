"""Public links to documents and prompts."""

from __future__ import annotations

from app.store.base import tenant_policies, unrestricted_policy
from migrations import functions

revision = "0013"
down_revision = "0012"

TABLES = """
CREATE TABLE links (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  item_type text NOT NULL CONSTRAINT links_item_type_check CHECK (item_type IN ('document', 'prompt')),
  item_id uuid NOT NULL,
  password_hash text,
  created_by uuid NOT NULL,
  created_by_name text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  ended_at timestamptz,
  views bigint NOT NULL DEFAULT 0,
  copies bigint NOT NULL DEFAULT 0,
  last_viewed_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX links_workspace_id_item_type_item_id_key ON links (workspace_id, item_type, item_id)
  WHERE ended_at IS NULL;
CREATE TABLE link_tokens (
  token_hash bytea PRIMARY KEY,
  workspace_id uuid NOT NULL,
  link_id uuid NOT NULL UNIQUE,
  CONSTRAINT link_tokens_link_fkey FOREIGN KEY (workspace_id, link_id) REFERENCES links (workspace_id, id)
);
"""

GRANTS = """
GRANT SELECT ON links, link_tokens TO app_write, app_read, app_system;
GRANT INSERT, UPDATE, DELETE ON links TO app_write, app_system;
GRANT INSERT, DELETE ON link_tokens TO app_write, app_system;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    functions.run(tenant_policies("links"))
    functions.run(unrestricted_policy("links"))
    functions.run(GRANTS)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE link_tokens, links")

"""Context packs."""

from __future__ import annotations

from app.store.base import member_policy, tenant_policies
from migrations import functions

revision = "0014"
down_revision = "0013"

TABLES = """
CREATE TABLE packs (
  workspace_id uuid NOT NULL,
  hash bytea NOT NULL,
  manifest jsonb NOT NULL,
  used_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, hash)
);
CREATE INDEX packs_workspace_id_used_at_idx ON packs (workspace_id, used_at);

CREATE TABLE pack_documents (
  workspace_id uuid NOT NULL,
  hash bytea NOT NULL,
  document_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, hash, document_id),
  CONSTRAINT pack_documents_pack_fkey FOREIGN KEY (workspace_id, hash) REFERENCES packs (workspace_id, hash),
  CONSTRAINT pack_documents_document_fkey FOREIGN KEY (workspace_id, document_id)
    REFERENCES documents (workspace_id, id)
);
CREATE INDEX pack_documents_workspace_id_document_id_idx ON pack_documents (workspace_id, document_id);
"""

GRANTS = """
GRANT SELECT ON packs, pack_documents TO app_write, app_read, app_system;
GRANT INSERT, UPDATE, DELETE ON packs TO app_write, app_system;
GRANT INSERT, DELETE ON pack_documents TO app_write, app_system;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    functions.run(tenant_policies("packs"))
    functions.run(tenant_policies("pack_documents"))
    functions.run(member_policy("pack_documents", "document", "document_id"))
    functions.run(GRANTS)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE pack_documents; DROP TABLE packs")

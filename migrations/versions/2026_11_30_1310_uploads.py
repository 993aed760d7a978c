"""Files that documents were made from."""

from __future__ import annotations

from app.store.base import member_policy, tenant_policies
from migrations import functions

revision = "0012"
down_revision = "0011"

TABLES = """
CREATE TABLE document_files (
  workspace_id uuid NOT NULL,
  document_id uuid NOT NULL,
  digest bytea NOT NULL,
  name text NOT NULL,
  media_type text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, document_id),
  CONSTRAINT document_files_document_fkey FOREIGN KEY (workspace_id, document_id)
    REFERENCES documents (workspace_id, id),
  CONSTRAINT document_files_blob_fkey FOREIGN KEY (workspace_id, digest) REFERENCES blobs (workspace_id, digest)
);
CREATE INDEX document_files_workspace_id_digest_idx ON document_files (workspace_id, digest);
"""

GRANTS = """
GRANT SELECT ON document_files TO app_write, app_read, app_system;
GRANT INSERT, DELETE ON document_files TO app_write, app_system;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    functions.run(tenant_policies("document_files"))
    functions.run(member_policy("document_files", "document", "document_id"))
    functions.run(GRANTS)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE document_files")

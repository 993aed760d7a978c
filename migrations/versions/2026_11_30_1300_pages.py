"""Where documents of web pages came from."""

from __future__ import annotations

from app.store.base import member_policy, tenant_policies
from migrations import functions

revision = "0011"
down_revision = "0010"

# `content_digest` is the text as it was fetched: once a document says something else, the page is asked for in full.
TABLES = """
CREATE TABLE document_sources (
  workspace_id uuid NOT NULL,
  document_id uuid NOT NULL,
  url text NOT NULL,
  etag text,
  last_modified text,
  language text,
  content_digest bytea NOT NULL,
  fetched_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, document_id),
  CONSTRAINT document_sources_document_fkey FOREIGN KEY (workspace_id, document_id)
    REFERENCES documents (workspace_id, id)
);
"""

GRANTS = """
GRANT SELECT ON document_sources TO app_write, app_read, app_system;
GRANT INSERT, UPDATE, DELETE ON document_sources TO app_write, app_system;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    functions.run(tenant_policies("document_sources") + member_policy("document_sources", "document", "document_id"))
    functions.run(GRANTS)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE document_sources")

"""Collections and their items, the view of all stored items, purged documents, keys narrowed to collections."""

from __future__ import annotations

from app.store.base import collection_policy, items_view, member_policy, tenant_policies, unrestricted_policy
from migrations import functions

revision = "0004"
down_revision = "0003"

TABLES = """
CREATE TABLE collections (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  color text,
  icon text NOT NULL,
  tags text[] NOT NULL,
  content_hash bytea NOT NULL,
  revision int NOT NULL DEFAULT 1,
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL,
  last_changed_at timestamptz NOT NULL,
  deleted_at timestamptz,
  deleted_by uuid,
  purged_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX collections_workspace_id_created_at_id_idx ON collections (workspace_id, created_at DESC, id DESC)
  WHERE deleted_at IS NULL;

CREATE TABLE collection_items (
  workspace_id uuid NOT NULL,
  collection_id uuid NOT NULL,
  item_type text NOT NULL CHECK (item_type IN ('document', 'prompt')),
  item_id uuid NOT NULL,
  added_by uuid NOT NULL,
  added_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, collection_id, item_type, item_id),
  CONSTRAINT collection_items_collection_fkey FOREIGN KEY (workspace_id, collection_id)
    REFERENCES collections (workspace_id, id)
);
CREATE INDEX collection_items_workspace_id_item_type_item_id_idx ON collection_items (workspace_id, item_type, item_id);
CREATE INDEX collection_items_added_idx
  ON collection_items (workspace_id, collection_id, added_at DESC, item_id DESC);

ALTER TABLE documents ADD COLUMN purged_at timestamptz;
CREATE INDEX documents_workspace_id_deleted_at_id_idx ON documents (workspace_id, deleted_at DESC, id DESC)
  WHERE deleted_at IS NOT NULL AND purged_at IS NULL;
ALTER TABLE receipts ADD COLUMN object_ids uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE credentials ADD COLUMN collection_ids uuid[];

GRANT SELECT ON collections, collection_items TO app_write, app_read, app_system;
GRANT INSERT, UPDATE ON collections TO app_write, app_system;
GRANT INSERT, DELETE ON collection_items TO app_write, app_system;
GRANT DELETE ON document_revisions TO app_write;
"""

FENCED = ["collections", "collection_items"]
MEMBERS = {
    "documents": "id",
    "document_tags": "document_id",
    "document_revisions": "document_id",
    "chunks": "document_id",
}
UNSEEN = ["events", "audit"]

# History goes with its document, and only when that is purged.
PURGE = """
CREATE POLICY purge ON document_revisions AS RESTRICTIVE FOR DELETE TO app_write USING (EXISTS (
  SELECT FROM documents d
   WHERE d.workspace_id = document_revisions.workspace_id AND d.id = document_revisions.document_id
     AND d.purged_at IS NOT NULL));
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    for place in ("gate", "features/documents", "features/collections"):
        functions.install(place)
    for table in FENCED:
        functions.run(tenant_policies(table))
    functions.run(collection_policy("collections", "id") + collection_policy("collection_items", "collection_id"))
    functions.run("".join(member_policy(table, "document", column) for table, column in MEMBERS.items()))
    functions.run("".join(map(unrestricted_policy, UNSEEN)) + PURGE)
    functions.run(items_view({"document": "title", "collection": "name"}))


def downgrade() -> None:
    """Take back."""
    functions.run("DROP VIEW items; DROP POLICY purge ON document_revisions")
    functions.run(";\n".join(f"DROP POLICY collections ON {table}" for table in [*MEMBERS, *UNSEEN]))
    functions.drop("features/collections")
    functions.run(
        """
        REVOKE DELETE ON document_revisions FROM app_write;
        DROP TABLE collection_items, collections;
        DROP INDEX documents_workspace_id_deleted_at_id_idx;
        ALTER TABLE documents DROP COLUMN purged_at;
        ALTER TABLE receipts DROP COLUMN object_ids;
        ALTER TABLE credentials DROP COLUMN collection_ids;
        """
    )

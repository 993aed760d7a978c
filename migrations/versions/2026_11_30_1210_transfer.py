"""Blobs, exports and imports."""

from __future__ import annotations

from app.store.base import tenant_policies, unrestricted_policy
from migrations import functions

revision = "0010"
down_revision = "0009"

TABLES = """
CREATE TABLE blobs (
  workspace_id uuid NOT NULL,
  digest bytea NOT NULL,
  size bigint NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (workspace_id, digest)
);
-- What is kept here is packed already: it is stored as it comes.
ALTER TABLE blobs ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE exports (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  state text NOT NULL,
  watermark timestamptz NOT NULL,
  kind text NOT NULL,
  seen_at timestamptz,
  seen_id uuid,
  items_done int NOT NULL,
  items_total int NOT NULL,
  parts int NOT NULL,
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX exports_workspace_id_created_at_idx ON exports (workspace_id, created_at);

CREATE TABLE export_parts (
  workspace_id uuid NOT NULL,
  export_id uuid NOT NULL,
  number int NOT NULL,
  digest bytea NOT NULL,
  PRIMARY KEY (workspace_id, export_id, number),
  CONSTRAINT export_parts_export_fkey FOREIGN KEY (workspace_id, export_id) REFERENCES exports (workspace_id, id),
  CONSTRAINT export_parts_blob_fkey FOREIGN KEY (workspace_id, digest) REFERENCES blobs (workspace_id, digest)
);
CREATE INDEX export_parts_workspace_id_digest_idx ON export_parts (workspace_id, digest);

CREATE TABLE imports (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);

CREATE TABLE import_chunks (
  workspace_id uuid NOT NULL,
  import_id uuid NOT NULL,
  number int NOT NULL,
  digest bytea NOT NULL,
  counts jsonb NOT NULL,
  PRIMARY KEY (workspace_id, import_id, number),
  CONSTRAINT import_chunks_import_fkey FOREIGN KEY (workspace_id, import_id) REFERENCES imports (workspace_id, id)
);

CREATE TABLE import_texts (
  workspace_id uuid NOT NULL,
  import_id uuid NOT NULL,
  digest bytea NOT NULL,
  content text NOT NULL,
  PRIMARY KEY (workspace_id, import_id, digest),
  CONSTRAINT import_texts_import_fkey FOREIGN KEY (workspace_id, import_id) REFERENCES imports (workspace_id, id)
);
"""

NAMES = ["blobs", "exports", "export_parts", "imports", "import_chunks", "import_texts"]
WHOLE = NAMES[1:]

GRANTS = f"""
GRANT SELECT ON {", ".join(NAMES)} TO app_write, app_read, app_system;
GRANT INSERT ON {", ".join(NAMES)} TO app_write;
GRANT UPDATE ON blobs, exports, imports TO app_write;
GRANT INSERT, UPDATE, DELETE ON blobs TO app_system;
GRANT DELETE ON blobs, export_parts, import_texts TO app_write;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    functions.run("".join(map(tenant_policies, NAMES)) + "".join(map(unrestricted_policy, WHOLE)) + GRANTS)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE " + ", ".join(reversed(NAMES)))

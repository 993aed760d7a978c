"""Tenants, credentials, documents with revisions, search index, receipts, events, audit, the queue."""

from __future__ import annotations

from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment

from app.store.base import tenant_policies
from app.store.jobs import ENQUEUE_FUNCTION, MERGE_FUNCTION, SETTINGS
from migrations import functions

revision = "0001"
down_revision = None

PARTITIONS = 32

GLOBAL = """
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  name text NOT NULL,
  external_id text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));

CREATE TABLE workspaces (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('personal', 'shared')),
  created_by uuid NOT NULL REFERENCES users (id),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE memberships (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  user_id uuid NOT NULL REFERENCES users (id),
  role text NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX memberships_user_id_idx ON memberships (user_id);

CREATE TABLE credentials (
  public_id text PRIMARY KEY,
  secret_hash bytea NOT NULL,
  grant_id uuid NOT NULL,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  user_id uuid NOT NULL REFERENCES users (id),
  name text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
CREATE INDEX credentials_workspace_id_user_id_idx ON credentials (workspace_id, user_id);

CREATE TABLE subscriptions (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id),
  plan text,
  trial_ends_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE event_epochs (epoch int PRIMARY KEY, began_at timestamptz NOT NULL DEFAULT clock_timestamp());
INSERT INTO event_epochs (epoch) VALUES (1);
"""

TENANT = """
CREATE TABLE contents (
  workspace_id uuid NOT NULL,
  digest bytea NOT NULL,
  content text NOT NULL,
  PRIMARY KEY (workspace_id, digest)
);
ALTER TABLE contents ALTER COLUMN content SET COMPRESSION pglz;

CREATE TABLE documents (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL DEFAULT 'plain',
  project_id uuid,
  slug text,
  title text NOT NULL,
  tags text[] NOT NULL,
  frontmatter jsonb,
  title_digest bytea NOT NULL,
  content_digest bytea NOT NULL,
  tags_digest bytea NOT NULL,
  frontmatter_digest bytea,
  content_hash bytea NOT NULL,
  page_sha bytea,
  revision int NOT NULL DEFAULT 1,
  current_version int NOT NULL DEFAULT 1,
  policy text NOT NULL DEFAULT 'standard',
  fence bigint NOT NULL DEFAULT 0,
  lease_digest bytea,
  lease_grant uuid,
  lease_seconds int,
  lease_granted_at timestamptz,
  lease_expires_at timestamptz,
  lease_released_at timestamptz,
  language text,
  source_type text NOT NULL DEFAULT 'text',
  source_url text,
  status text NOT NULL DEFAULT 'pending',
  status_reason text,
  indexed_revision int NOT NULL DEFAULT 0,
  chunked_revision int NOT NULL DEFAULT 0,
  index_attempts int NOT NULL DEFAULT 0,
  index_claimed_until timestamptz,
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL,
  last_changed_at timestamptz NOT NULL,
  deleted_at timestamptz,
  deleted_by uuid,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT documents_status_check CHECK (status IN ('pending', 'processing', 'ready', 'failed')),
  CONSTRAINT documents_content_fkey FOREIGN KEY (workspace_id, content_digest)
    REFERENCES contents (workspace_id, digest)
);
CREATE INDEX documents_workspace_id_created_at_id_idx ON documents (workspace_id, created_at DESC, id DESC)
  WHERE deleted_at IS NULL;
CREATE INDEX documents_unindexed_idx ON documents (workspace_id, last_changed_at)
  WHERE (deleted_at IS NULL AND indexed_revision < revision) OR (deleted_at IS NOT NULL AND chunked_revision > 0);
CREATE INDEX documents_workspace_id_content_digest_idx ON documents (workspace_id, content_digest);
CREATE UNIQUE INDEX documents_workspace_id_project_id_slug_key ON documents (workspace_id, project_id, slug)
  WHERE deleted_at IS NULL AND slug IS NOT NULL;

CREATE TABLE document_tags (
  workspace_id uuid NOT NULL,
  tag text NOT NULL,
  document_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, tag, document_id),
  CONSTRAINT document_tags_document_fkey FOREIGN KEY (workspace_id, document_id) REFERENCES documents (workspace_id, id)
);
CREATE INDEX document_tags_workspace_id_document_id_idx ON document_tags (workspace_id, document_id);

CREATE TABLE document_revisions (
  workspace_id uuid NOT NULL,
  document_id uuid NOT NULL,
  revision int NOT NULL,
  id uuid NOT NULL,
  version int NOT NULL,
  content_changed boolean NOT NULL,
  title text,
  tags text[],
  frontmatter jsonb,
  content_digest bytea,
  content_hash bytea NOT NULL,
  action text NOT NULL,
  change_log text,
  author_id uuid NOT NULL,
  author_name text NOT NULL,
  grant_id uuid NOT NULL,
  agent text,
  decided_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, document_id, revision),
  CONSTRAINT document_revisions_document_fkey FOREIGN KEY (workspace_id, document_id)
    REFERENCES documents (workspace_id, id),
  CONSTRAINT document_revisions_content_fkey FOREIGN KEY (workspace_id, content_digest)
    REFERENCES contents (workspace_id, digest)
);
CREATE UNIQUE INDEX document_revisions_workspace_id_id_key ON document_revisions (workspace_id, id);
CREATE INDEX document_revisions_workspace_id_content_digest_idx ON document_revisions (workspace_id, content_digest);

CREATE TABLE chunks (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  document_id uuid NOT NULL,
  revision int NOT NULL,
  level text NOT NULL CHECK (level IN ('document', 'section', 'paragraph')),
  ordinal int NOT NULL,
  parent_id uuid,
  section_path text[] NOT NULL,
  heading text,
  header text NOT NULL,
  content text NOT NULL,
  start_index int NOT NULL,
  end_index int NOT NULL,
  word_count int NOT NULL,
  language text NOT NULL,
  text_digest bytea NOT NULL,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT chunks_document_fkey FOREIGN KEY (workspace_id, document_id) REFERENCES documents (workspace_id, id)
);
CREATE INDEX chunks_workspace_id_document_id_level_ordinal_idx ON chunks (workspace_id, document_id, level, ordinal);
CREATE INDEX chunks_workspace_id_text_digest_idx ON chunks (workspace_id, text_digest);

CREATE TABLE vectors (
  workspace_id uuid NOT NULL,
  text_digest bytea NOT NULL,
  slot smallint NOT NULL,
  model text NOT NULL,
  dim smallint NOT NULL,
  embedding halfvec NOT NULL,
  PRIMARY KEY (workspace_id, text_digest, slot)
) PARTITION BY HASH (workspace_id);
ALTER TABLE vectors ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE postings (
  workspace_id uuid NOT NULL,
  language text NOT NULL,
  level text NOT NULL,
  term text NOT NULL,
  chunk_id uuid NOT NULL,
  tf int NOT NULL,
  length int NOT NULL,
  CONSTRAINT postings_pkey PRIMARY KEY (workspace_id, level, language, term, chunk_id) INCLUDE (tf, length)
) PARTITION BY HASH (workspace_id);
CREATE INDEX postings_workspace_id_chunk_id_idx ON postings (workspace_id, chunk_id);

CREATE TABLE index_statistics (
  workspace_id uuid NOT NULL,
  language text NOT NULL,
  level text NOT NULL,
  chunks bigint NOT NULL,
  length bigint NOT NULL,
  PRIMARY KEY (workspace_id, language, level)
);

CREATE TABLE receipts (
  workspace_id uuid NOT NULL,
  user_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  key_digest bytea NOT NULL,
  fingerprint bytea NOT NULL,
  body bytea,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, user_id, grant_id, key_digest)
);
CREATE INDEX receipts_created_at_idx ON receipts (created_at);

CREATE TABLE events (
  workspace_id uuid NOT NULL,
  epoch int NOT NULL,
  xid xid8 NOT NULL,
  id uuid NOT NULL,
  topic text NOT NULL,
  object_id uuid NOT NULL,
  revision int,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, epoch, xid, id)
);

CREATE TABLE audit (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  agent text,
  operation text NOT NULL,
  topic text NOT NULL,
  object_id uuid NOT NULL,
  revision int,
  request_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX audit_workspace_id_created_at_idx ON audit (workspace_id, created_at);
"""

FENCED = [
    "contents",
    "documents",
    "document_tags",
    "document_revisions",
    "chunks",
    "vectors",
    "postings",
    "index_statistics",
    "receipts",
    "events",
    "audit",
]

GRANTS = """
GRANT USAGE ON SCHEMA public TO app_write, app_read, app_system;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO app_write, app_read, app_system;
GRANT INSERT, UPDATE, DELETE ON contents, documents, document_tags, chunks, vectors, postings,
  index_statistics, receipts, events TO app_write, app_system;
GRANT INSERT ON audit, document_revisions TO app_write, app_system;
GRANT UPDATE, DELETE ON document_revisions TO app_system;
GRANT INSERT, UPDATE, DELETE ON users, workspaces, memberships, credentials, subscriptions TO app_system;
GRANT INSERT ON event_epochs TO app_system;
GRANT INSERT, UPDATE, DELETE, TRUNCATE ON pgqueuer, pgqueuer_log, pgqueuer_schedules, pgqueuer_statistics TO app_system;
GRANT INSERT ON pgqueuer, pgqueuer_log TO app_write;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO app_write, app_system;
GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO app_system;
REVOKE SELECT ON pgqueuer, pgqueuer_log, pgqueuer_schedules, pgqueuer_statistics FROM app_read;
"""

SAMPLED = ("vectors", "postings")
"""Of a workspace's vectors the planner must know whether they are many: then it walks the approximate index.
Of postings it must know that a passage has several, and takes the workspace and the passage for independent."""


def upgrade() -> None:
    """Apply."""
    functions.run(GLOBAL)
    functions.run(tenant_policies("workspaces", "id"))
    functions.run(TENANT)
    for table in ("vectors", "postings"):
        functions.run("\n".join(_partition(table, part) for part in range(PARTITIONS)))
    for table in FENCED:
        functions.run(tenant_policies(table, sampled=table in SAMPLED))
    functions.run(QueryBuilderEnvironment(settings=SETTINGS).build_install_query())
    functions.run(GRANTS)
    functions.run(ENQUEUE_FUNCTION)
    functions.run(MERGE_FUNCTION)
    functions.install("gate")
    functions.install("features/documents")
    functions.install("features/leases")


def _partition(table: str, part: int) -> str:
    name = f"{table}_p{part:02}"
    bounds = f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})"
    return f"CREATE TABLE {name} PARTITION OF {table} {bounds};" + tenant_policies(name, sampled=table in SAMPLED)


def downgrade() -> None:
    """Take back: the first migration leaves an empty schema."""
    functions.run(QueryBuilderEnvironment(settings=SETTINGS).build_uninstall_query())
    functions.drop("features/leases")
    functions.drop("features/documents")
    functions.run("DROP TABLE " + ", ".join(reversed(FENCED)))
    functions.run("DROP TABLE event_epochs, subscriptions, credentials, memberships, workspaces, users")
    functions.drop("gate")
    functions.run("DROP FUNCTION merge_job, enqueue_jobs")

"""Passwords, browser sessions, one-time links, mail, workspaces' members, OAuth clients, grants and tokens."""

from __future__ import annotations

from migrations import functions

revision = "0002"
down_revision = "0001"

TABLES = """
ALTER TABLE users ADD COLUMN password_hash text, ADD COLUMN password_changed_at timestamptz;
CREATE INDEX workspaces_created_by_idx ON workspaces (created_by);
ALTER TABLE credentials
  ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  ADD COLUMN last_used_by text,
  ADD COLUMN replaced_at timestamptz;

CREATE VIEW principals WITH (security_invoker = true) AS
SELECT m.workspace_id, m.user_id, u.name AS user_name, m.role, s.workspace_id IS NOT NULL AS subscribed, s.plan,
       coalesce(s.trial_ends_at < clock_timestamp(), false) AS lapsed
  FROM memberships m
  JOIN users u ON u.id = m.user_id
  LEFT JOIN subscriptions s ON s.workspace_id = m.workspace_id;

CREATE TABLE browser_sessions (
  id uuid PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  user_id uuid NOT NULL REFERENCES users (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  address text,
  user_agent text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX browser_sessions_user_id_idx ON browser_sessions (user_id);

CREATE TABLE one_time_links (
  token_hash bytea PRIMARY KEY,
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  purpose text NOT NULL CHECK (purpose IN ('sign_in', 'password_reset', 'sign_up', 'invite')),
  user_id uuid REFERENCES users (id),
  email text,
  workspace_id uuid REFERENCES workspaces (id),
  role text CHECK (role IN ('owner', 'member', 'viewer')),
  created_by uuid REFERENCES users (id),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX one_time_links_workspace_id_idx ON one_time_links (workspace_id);

CREATE TABLE mail_outbox (
  id uuid PRIMARY KEY,
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  sent_at timestamptz,
  attempts int NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  error text
);

CREATE TABLE account_audit (
  id uuid PRIMARY KEY,
  user_id uuid,
  workspace_id uuid,
  action text NOT NULL,
  subject text,
  address text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX account_audit_user_id_created_at_idx ON account_audit (user_id, created_at);

CREATE TABLE oauth_clients (
  client_id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('registered', 'document', 'static')),
  secret_hash bytea,
  metadata jsonb NOT NULL,
  registration_hash bytea,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_used_at timestamptz,
  expires_at timestamptz
);

CREATE TABLE oauth_grants (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  client_id text NOT NULL,
  client_name text NOT NULL,
  resource text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX oauth_grants_user_id_idx ON oauth_grants (user_id);

CREATE TABLE oauth_codes (
  code_hash bytea PRIMARY KEY,
  grant_id uuid NOT NULL REFERENCES oauth_grants (id),
  client_id text NOT NULL,
  redirect_uri text NOT NULL,
  code_challenge text NOT NULL,
  resource text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);

CREATE TABLE oauth_tokens (
  token_hash bytea PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
  grant_id uuid NOT NULL REFERENCES oauth_grants (id),
  client_id text NOT NULL,
  resource text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX oauth_tokens_grant_id_idx ON oauth_tokens (grant_id);
CREATE INDEX oauth_tokens_expires_at_idx ON oauth_tokens (expires_at);

CREATE TABLE oauth_device_codes (
  device_hash bytea PRIMARY KEY,
  user_code text NOT NULL UNIQUE,
  client_id text NOT NULL,
  client_name text NOT NULL,
  resource text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  last_polled_at timestamptz,
  grant_id uuid REFERENCES oauth_grants (id),
  denied_at timestamptz,
  used_at timestamptz
);
"""

NAMES = [
    "browser_sessions",
    "one_time_links",
    "mail_outbox",
    "account_audit",
    "oauth_clients",
    "oauth_grants",
    "oauth_codes",
    "oauth_tokens",
    "oauth_device_codes",
]

# Pages and OAuth wires write these in the transaction of the request; audit lines can only be added.
GRANTS = f"""
GRANT SELECT ON principals, {", ".join(NAMES)} TO app_write, app_read, app_system;
GRANT INSERT, UPDATE, DELETE ON browser_sessions, one_time_links, mail_outbox, oauth_clients, oauth_grants, oauth_codes,
  oauth_tokens, oauth_device_codes TO app_write, app_system;
GRANT INSERT ON account_audit TO app_write, app_system;
GRANT INSERT, UPDATE ON users, memberships, credentials TO app_write;
GRANT DELETE ON memberships TO app_write;
GRANT INSERT, UPDATE ON workspaces TO app_write;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLES)
    functions.run(GRANTS)


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE " + ", ".join(reversed(NAMES)))
    functions.run(
        """
        REVOKE INSERT, UPDATE, DELETE ON users, memberships, credentials, workspaces FROM app_write;
        DROP VIEW principals;
        DROP INDEX workspaces_created_by_idx;
        ALTER TABLE users DROP COLUMN password_hash, DROP COLUMN password_changed_at;
        ALTER TABLE credentials DROP COLUMN id, DROP COLUMN last_used_by, DROP COLUMN replaced_at;
        """
    )

"""What a workspace used of its monthly allowances."""

from __future__ import annotations

from app.store.base import tenant_policies
from migrations import functions

revision = "0009"
down_revision = "0008"

TABLE = """
CREATE TABLE usage_counters (
  workspace_id uuid NOT NULL,
  meter text NOT NULL,
  month date NOT NULL,
  used bigint NOT NULL,
  PRIMARY KEY (workspace_id, meter, month)
);
GRANT SELECT ON usage_counters TO app_write, app_read, app_system;
GRANT INSERT, UPDATE ON usage_counters TO app_write;
"""


def upgrade() -> None:
    """Apply."""
    functions.run(TABLE + tenant_policies("usage_counters"))


def downgrade() -> None:
    """Take back."""
    functions.run("DROP TABLE usage_counters")

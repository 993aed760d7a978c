"""SQL of the audit trail: lines of the workspace's items, and of its members, keys and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.features.audit.schemas import ListAudit
    from app.store.tx import Tx

# Each side is cut to a page first, so that neither is read to its beginning.
_LIST = """
SELECT a.id, a.created_at, a.user_id, u.name AS user_name, a.grant_id, a.agent, a.topic, a.operation, a.object,
       i.title, a.revision, a.request_id,
       CASE WHEN k.name IS NOT NULL THEN 'api_key' WHEN g.id IS NOT NULL THEN 'oauth'
            WHEN s.id IS NOT NULL THEN 'session' END AS credential,
       coalesce(k.name, g.client_name, s.user_agent) AS client
  FROM ((SELECT id, created_at, user_id, grant_id, agent, topic, operation, object_id::text AS object, object_id,
                revision, request_id
           FROM audit
          WHERE workspace_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
            AND ($5::text IS NULL OR object_id::text = $5) AND ($6::text IS NULL OR user_id::text = $6)
          ORDER BY created_at DESC, id DESC LIMIT $4)
        UNION ALL
        (SELECT id, created_at, user_id, grant_id, agent, action, operation, subject, NULL, NULL, request_id
           FROM account_audit
          WHERE workspace_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
            AND ($5::text IS NULL OR subject = $5) AND ($6::text IS NULL OR user_id::text = $6)
          ORDER BY created_at DESC, id DESC LIMIT $4)
        ORDER BY created_at DESC, id DESC LIMIT $4) AS a
  LEFT JOIN users u ON u.id = a.user_id
  LEFT JOIN items i ON i.workspace_id = $1 AND i.id = a.object_id AND i.kind = split_part(a.topic, '.', 1)
  LEFT JOIN LATERAL (SELECT c.name FROM credentials c
                      WHERE c.workspace_id = $1 AND c.user_id = a.user_id AND c.grant_id = a.grant_id
                      ORDER BY c.created_at DESC LIMIT 1) AS k ON true
  LEFT JOIN oauth_grants g ON g.id = a.grant_id AND g.workspace_id = $1
  LEFT JOIN browser_sessions s ON s.id = a.grant_id AND s.user_id = a.user_id
 ORDER BY a.created_at DESC, a.id DESC
"""


async def list_audit(tx: Tx, args: ListAudit, after: tuple[datetime, UUID] | None, limit: int) -> list[asyncpg.Record]:
    """List lines of the trail, the newest first, after a cursor."""
    return await tx.fetch(_LIST, tx.workspace_id, *(after or (None, None)), limit, args.object, args.user)

"""SQL of citations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.features.reason.citations import Pin
    from app.store.tx import Tx

# The current text is looked at only where the revision is another: first at the same place, then anywhere. The
# regular-expression engine with every character literal (`***=`) stays linear where `position` would not.
_OPEN = """
SELECT d.purged_at IS NOT NULL AS purged, d.deleted_at IS NOT NULL AS deleted, d.revision AS current_revision,
       coalesce(r.title, d.title) AS title, substr(then_.content, $4 + 1, $5) AS quote,
       CASE WHEN now_.digest = then_.digest OR substr(now_.content, $4 + 1, $5) = substr(then_.content, $4 + 1, $5)
            THEN $4
            ELSE nullif(regexp_instr(now_.content, '***=' || substr(then_.content, $4 + 1, $5)), 0) - 1 END AS place,
       document_trust(d, $3, $6) AS trust
  FROM documents d
  LEFT JOIN document_revisions r ON r.workspace_id = $1 AND r.document_id = d.id AND r.revision = $3
  LEFT JOIN contents then_ ON then_.workspace_id = $1 AND then_.digest = r.content_digest
  LEFT JOIN contents now_ ON now_.workspace_id = $1 AND now_.digest = d.content_digest
 WHERE d.workspace_id = $1 AND d.id = $2
"""

# The stop words of Postgres, and those of the index where Postgres knows none.
_STOPS = """
SELECT language, array_agg(word) AS words
  FROM unnest($1::text[]) AS language CROSS JOIN unnest($2::text[]) AS word
 WHERE tsvector_to_array(to_tsvector(language::regconfig, word)) <@ search_stops(language)
 GROUP BY language
"""


async def open_pin(tx: Tx, pin: Pin, reader: UUID) -> asyncpg.Record | None:
    """Read the text that was cited, and the place in the current text where it stands (NULL: nowhere)."""
    length = pin.end - pin.start
    return await tx.fetchrow(_OPEN, tx.workspace_id, pin.document_id, pin.revision, pin.start, length, reader)


async def list_stops(tx: Tx, languages: Sequence[str], words: Sequence[str]) -> dict[str, list[str]]:
    """Tell which of some words the index leaves out, since they say nothing, in each of some languages."""
    return {row["language"]: row["words"] for row in await tx.fetch(_STOPS, languages, words)}

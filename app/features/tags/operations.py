"""What can be asked about tags."""

from __future__ import annotations

from app.features.collections.service import readable_kinds
from app.features.tags import queries
from app.features.tags.schemas import ListTags, TagCount
from app.gate.operation import Context, query
from app.gate.policy import Rate, Scope
from app.kit import cursor
from app.kit.paging import clamped
from app.kit.schema import Page, Pagination


@query("tags.list", scope=(Scope.DOCUMENTS_READ, Scope.PROMPTS_READ), rate=Rate.READONLY)
async def list_tags(ctx: Context, args: ListTags) -> Page[TagCount]:
    """List the tags in use, with the number of items that carry each, of the kinds that the credential may read."""
    limit, notice = clamped(args.limit)
    after = cursor.decode_text(args.cursor) if args.cursor else None
    async with ctx.snapshot() as tx:
        rows = await queries.list_tags(tx, readable_kinds(ctx), args.search, after, limit + 1)
    more = len(rows) > limit
    shown = [TagCount(tag=row["tag"], count=row["count"], kinds=row["kinds"]) for row in rows[:limit]]
    last = cursor.encode_text(shown[-1].tag) if more else None
    return Page(data=shown, pagination=Pagination(cursor=last, has_more=more), notice=notice)

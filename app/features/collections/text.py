"""Collections as Markdown for models; what others wrote stays on one line or inside a fence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.gate.trash import in_trash
from app.kit.sanitize import one_line
from app.kit.wording import excerpt, found, moment, page_end, stored, tag_list

if TYPE_CHECKING:
    from app.features.collections.schemas import (
        Added,
        ChangedCollection,
        ChangeItems,
        Collection,
        ListCollections,
        OpenCollection,
        OpenedCollection,
        Removed,
    )
    from app.kit.schema import One, Page


def collections(result: Page[Collection], args: ListCollections) -> str:  # noqa: ARG001  one signature for all
    """Render a page of collections."""
    lines = [found(len(result.data), "collection")]
    for item in result.data:
        lines.append(f"- {_name(item)} ({_items(item.item_count)})")
        lines += excerpt("Description", item.description, item.trust)
        lines.append(f"  ID: {item.id}")
        if item.tags:
            lines.append(f"  Tags: {tag_list(item.tags)}")
    return "\n".join([*lines, *page_end(result, "list_collections")])


def opened(result: OpenedCollection, args: OpenCollection) -> str:  # noqa: ARG001  one signature for all
    """Render a collection, with its items when they were asked for."""
    item = result.data
    lines = [f"# {one_line(item.icon, 32)} {one_line(item.name)}", *_facts(item), f"Created: {moment(item.created_at)}"]
    if item.description:
        lines += ["", stored(item.description, f"Stored description of collection {item.id}.", item.trust)]
    if (page := result.page) is not None:
        lines += ["", found(len(page.data), "item")]
        lines += [f"- **{one_line(one.title)}** ({one.item_type}) ID: {one.item_id}" for one in page.data]
        lines += page_end(page, "get_collection")
    return "\n".join(lines)


def created(result: One[Collection], args: Any) -> str:  # noqa: ARG001  one signature for all
    """Acknowledge a new collection."""
    return "\n".join([f"Created collection {_name(result.data)}.", *_facts(result.data)])


def updated(result: One[ChangedCollection], args: Any) -> str:  # noqa: ARG001  one signature for all
    """Acknowledge a change."""
    name = _name(result.data)
    first = f"No change (no-op): {name} already says this." if result.data.noop else f"Updated collection {name}."
    return "\n".join([first, *_facts(result.data)])


def deleted(result: None, args: Any) -> str:  # noqa: ARG001  there is no result
    """Acknowledge a delete."""
    return f"Deleted collection {args.collection_id}. Its items were kept. {in_trash(args.collection_id)}"


def added(result: One[Added], args: ChangeItems) -> str:
    """Acknowledge new members."""
    counts = result.data
    first = f"Added {_items(counts.added)} to collection {args.collection_id}."
    if not counts.already_in_collection:
        return first
    return f"{first}\nAlready in the collection: {counts.already_in_collection}"


def removed(result: One[Removed], args: ChangeItems) -> str:
    """Acknowledge that items are members no more."""
    return (
        f"Removed {_items(result.data.removed)} from collection {args.collection_id}. The items themselves were kept."
    )


def _name(item: Collection) -> str:
    return f"{one_line(item.icon, 32)} **{one_line(item.name)}**"


def _items(count: int) -> str:
    return f"{count} item{'' if count == 1 else 's'}"


def _facts(item: Collection) -> list[str]:
    lines = [f"ID: {item.id}"]
    if item.color:
        lines.append(f"Color: {item.color}")
    if item.tags:
        lines.append(f"Tags: {tag_list(item.tags)}")
    return [*lines, f"Items: {item.item_count}", f"Revision: {item.revision}"]

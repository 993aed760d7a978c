"""MCP faces of collections (contract: tools 16 to 22)."""

from __future__ import annotations

from typing import Any

from app.edge.mcp.tool import ADDS, CHANGES, CREATES, DELETES, READS, Tool
from app.features.collections import operations, text


def _deleted(sent: dict[str, Any]) -> dict[str, Any]:
    return {"id": sent["collectionId"], "deleted": True}


TOOLS = [
    Tool(
        16,
        "list_collections",
        "List collections",
        "Browse collections, newest first, with their number of items; narrow by text in name or description, or by "
        "tags. Then get_collection shows the items of one.",
        operations.list_collections,
        READS,
        text.collections,
    ),
    Tool(
        17,
        "get_collection",
        "Read collection",
        "Read one collection with its items (title, type, id), the last added first. Read an item with get_document.",
        operations.open_collection,
        READS,
        text.opened,
    ),
    Tool(
        18,
        "create_collection",
        "Create collection",
        "Make an empty collection when the user wants to group items. Gives its id for add_to_collection.",
        operations.create_collection,
        CREATES,
        text.created,
    ),
    Tool(
        19,
        "update_collection",
        "Update collection",
        "Change name, description, color, icon or tags when the user wants it; what is left out stays. Items change by "
        "add_to_collection and remove_from_collection.",
        operations.update_collection,
        CHANGES,
        text.updated,
    ),
    Tool(
        20,
        "delete_collection",
        "Delete collection",
        "Move a collection to the trash, for 30 days; the items in it are kept. Only on the user's clear wish. "
        "Deleting one that is gone succeeds.",
        operations.delete_collection,
        DELETES,
        text.deleted,
        structured=_deleted,
        when_absent=lambda sent: f"Collection {sent['collectionId'][:100]} was already deleted (no-op).",
    ),
    Tool(
        21,
        "add_to_collection",
        "Add to collection",
        "Put items of one type into a collection when the user wants it; those in it stay. An item may be in many.",
        operations.add_items,
        ADDS,
        text.added,
    ),
    Tool(
        22,
        "remove_from_collection",
        "Remove from collection",
        "Take items of one type out of a collection when the user wants it; the items themselves are kept.",
        operations.remove_items,
        ADDS,
        text.removed,
    ),
]

"""MCP faces of documents (contract: tools 9 to 15)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from app.edge.mcp.tool import CREATES, DELETES, READS, REPLACES, Tool
from app.features.documents import operations, text
from app.features.documents.schemas import (
    LeasedDelete,
    LeasedPatch,
    LeasedRestore,
    PatchDocument,
    RestoreVersion,
)
from app.kit.schema import Model, Positive

_Current = Annotated[
    Positive,
    Field(description="The document's current `revision`, from get_document or the last write."),
]


class UpdateDocument(PatchDocument):
    """A change over MCP must name the revision that it is based on."""

    expected_revision: _Current


class RestoreDocumentVersion(RestoreVersion):
    """A restore over MCP must name the revision that it replaces."""

    expected_revision: _Current


class UpdateLeasedDocument(LeasedPatch):
    """A change over MCP that may show a lease."""

    expected_revision: _Current


class RestoreLeasedVersion(LeasedRestore):
    """A restore over MCP that may show a lease."""

    expected_revision: _Current


def _deleted(sent: dict[str, Any]) -> dict[str, Any]:
    return {"id": sent["documentId"], "deleted": True}


_TOOLS = [
    Tool(
        9,
        "list_documents",
        "List documents",
        "Browse documents, newest first, without their content; narrow by title text, tags or collection. "
        "Gives id, title, status, type and tags, and a `cursor` when there are more.",
        operations.list_documents,
        READS,
        text.documents,
    ),
    Tool(
        10,
        "get_document",
        "Read document",
        "Read one document: whole content, tags, status and `revision`. "
        "Do this before update_document, which needs the revision.",
        operations.get_document,
        READS,
        text.document,
    ),
    Tool(
        11,
        "create_document",
        "Create document",
        "Save a new document of text or Markdown when the user wants to keep something: a conversation worth keeping, "
        "a decision with its reasons, a handoff at the end of a session. Any client finds it later: say in the title "
        "what it is and about what, and tag it (`conversation`, `decision`, `handoff`). "
        "Gives its id and revision; search finds it once `status` is `ready`.",
        operations.create_document,
        CREATES,
        text.created,
    ),
    Tool(
        12,
        "update_document",
        "Update document",
        "Change title, content or tags when the user wants it; what is left out stays, what is sent replaces the whole "
        "old value: read first. "
        "To change parts of a long text send `edits`, not content. "
        "Gives the new revision, or `noop: true`. On REVISION_MISMATCH read again: stop if the change is there, "
        "else redo it on the latest text.",
        operations.update_document,
        REPLACES,
        text.updated,
        narrowed=UpdateDocument,
    ),
    Tool(
        13,
        "delete_document",
        "Delete document",
        "Move a document with its versions to the trash, for 30 days. Only on the user's clear wish; read it first. "
        "Deleting one that is gone succeeds.",
        operations.delete_document,
        DELETES,
        text.deleted,
        structured=_deleted,
        when_absent=lambda sent: f"Document {sent['documentId'][:100]} was already deleted (no-op).",
    ),
    Tool(
        14,
        "get_document_versions",
        "List document versions",
        "See a document's history, newest first: version id, author, change log and content of each version. "
        "Use it to compare, or to find the id for restore_document_version.",
        operations.list_versions,
        READS,
        text.versions,
    ),
    Tool(
        15,
        "restore_document_version",
        "Restore document version",
        "Make an earlier version's title, content and tags current again when the user wants it, as a new revision; "
        "nothing is lost. "
        "`expectedRevision` is the document's current revision, not the old one. "
        "On REVISION_MISMATCH read the document again and decide anew.",
        operations.restore_version,
        REPLACES,
        text.restored,
        narrowed=RestoreDocumentVersion,
    ),
]

_LEASED: dict[str, type[Model]] = {
    "update_document": UpdateLeasedDocument,
    "delete_document": LeasedDelete,
    "restore_document_version": RestoreLeasedVersion,
}
_DIFF = Tool(
    104,
    "get_document_diff",
    "Compare document revisions",
    "See what changed between two revisions or times: lines as a unified diff, sections, title, tags. "
    "Without `to`, up to now.",
    operations.diff_document,
    READS,
    text.difference,
    wide=True,
)

TOOLS = [
    *_TOOLS,
    *(replace(tool, narrowed=_LEASED[tool.name], wide=True) for tool in _TOOLS if tool.name in _LEASED),
    _DIFF,
]

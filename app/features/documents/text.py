"""Documents as Markdown for models; what others wrote stays on one line or inside a fence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.gate.trash import in_trash
from app.kit.sanitize import one_line
from app.kit.wording import UNKNOWN, found, moment, page_end, stored, tag_list, version_texts

if TYPE_CHECKING:
    from app.features.documents.schemas import (
        CreateDocument,
        DeleteDocument,
        DiffDocument,
        Document,
        DocumentAck,
        DocumentDiff,
        DocumentItem,
        GetDocument,
        ListDocuments,
        ListVersions,
        Version,
    )
    from app.kit.guarded import Guarded
    from app.kit.schema import One, Page


def document(result: One[Document], args: GetDocument) -> str:  # noqa: ARG001  one signature for all
    """Render a document with its content."""
    item = result.data
    lines = [f"# {one_line(item.title)}", *_facts(item), f"Created: {moment(item.created_at)}"]
    where = f"Content: stored text of document {item.id}, revision {item.revision}, {moment(item.last_changed_at)}."
    return "\n".join([*lines, "", stored(item.content, where, item.trust)])


def difference(result: One[DocumentDiff], args: DiffDocument) -> str:  # noqa: ARG001  one signature for all
    """Render what differs between two revisions."""
    item = result.data
    lines = [f"Document {item.id}: revision {item.from_revision} to {item.to_revision}."]
    if item.old_title != item.new_title:
        lines.append(f"Title: {one_line(item.old_title or UNKNOWN)} → {one_line(item.new_title or UNKNOWN)}")
    if item.old_tags != item.new_tags:
        lines.append(f"Tags: {_tags(item.old_tags)} → {_tags(item.new_tags)}")
    lines.extend(
        f"- {section.change}: {one_line(' > '.join(section.path)) or '(above the first heading)'}"
        for section in item.sections
    )
    if not item.unified:
        return "\n".join([*lines, "The content is the same."])
    said = "Changed lines of stored text, as a unified diff."
    return "\n".join([*lines, "", stored(item.unified, said, item.trust)])


def documents(result: Page[DocumentItem], args: ListDocuments) -> str:  # noqa: ARG001  one signature for all
    """Render a page of documents."""
    lines = [found(len(result.data), "document")]
    for item in result.data:
        lines.append(f"- **{one_line(item.title)}**")
        lines.append(f"  Status: {item.status} | Type: {item.source_type} | ID: {item.id}")
        if item.tags:
            lines.append(f"  Tags: {tag_list(item.tags)}")
    return "\n".join([*lines, *page_end(result, "list_documents")])


def created(result: One[Document], args: CreateDocument) -> str:  # noqa: ARG001  one signature for all
    """Acknowledge a new document."""
    item = result.data
    return "\n".join([f"Created document **{one_line(item.title)}**.", *_facts(item)])


def updated(result: One[DocumentAck], args: Guarded) -> str:  # noqa: ARG001  one signature for all
    """Acknowledge a change."""
    return _acknowledged(result.data, "Updated")


def restored(result: One[DocumentAck], args: Guarded) -> str:  # noqa: ARG001  one signature for all
    """Acknowledge a restore."""
    return _acknowledged(result.data, "Restored a version of")


def deleted(result: None, args: DeleteDocument) -> str:  # noqa: ARG001  there is no result
    """Acknowledge a delete."""
    return f"Deleted document {args.document_id}. {in_trash(args.document_id)}"


def versions(result: Page[Version], args: ListVersions) -> str:
    """Render versions, newest first, with the beginning of each text."""
    lines = [found(len(result.data), "version")]
    for index, item in enumerate(result.data):
        latest = " (Latest Snapshot)" if index == 0 and args.cursor is None else ""
        lines.append(f"- **Version {item.version}**{latest}: {one_line(item.title or UNKNOWN)}")
        lines.append(f"  Version ID: {item.id} | Revision: {item.revision}")
        lines.append(f"  By: {one_line(item.user_name, 100)} | {moment(item.created_at)}")
    return "\n".join([*lines, *version_texts(result), *page_end(result, "get_document_versions")])


def _tags(tags: list[str] | None) -> str:
    return UNKNOWN if tags is None else tag_list(tags) or "none"


def _facts(item: Document) -> list[str]:
    lines = [f"ID: {item.id}", f"Status: {item.status} | Type: {item.source_type}"]
    if item.source_url:
        lines.append(f"Source: {one_line(item.source_url, 2_000)}")
    if item.tags:
        lines.append(f"Tags: {tag_list(item.tags)}")
    return [*lines, f"Version: {item.current_version}", f"Revision: {item.revision}"]


def _acknowledged(ack: DocumentAck, done: str) -> str:
    title = one_line(ack.title)
    first = f"No change (no-op): **{title}** already says this." if ack.noop else f"{done} document **{title}**."
    lines = [first, f"ID: {ack.id}", f"Version: {ack.current_version}", f"Revision: {ack.revision}"]
    return "\n".join([*lines, *(f"Warning: {notice.code}: {one_line(notice.message)}" for notice in ack.warnings)])

"""Prompts as Markdown for models; what others wrote stays on one line or inside a fence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.gate.trash import in_trash
from app.kit.sanitize import one_line
from app.kit.wording import excerpt, found, page_end, stored, tag_list, version_texts

if TYPE_CHECKING:
    from app.features.documents.schemas import Notice
    from app.features.prompts.schemas import (
        ChangedPrompt,
        CreatePrompt,
        DeletePrompt,
        GetPrompt,
        ListPrompts,
        ListPromptVersions,
        PatchPrompt,
        Prompt,
        PromptAck,
        PromptItem,
        PromptVersion,
        RestorePromptVersion,
    )
    from app.kit.schema import One, Page


def prompts(result: Page[PromptItem], args: ListPrompts) -> str:  # noqa: ARG001  one signature for all
    """Render a page of prompts."""
    lines = [found(len(result.data), "prompt")]
    for item in result.data:
        lines.append(f"- **{one_line(item.title)}** (v{item.current_version})")
        lines += [*excerpt("Description", item.description, item.trust), f"  ID: {item.id}"]
    return "\n".join([*lines, *page_end(result, "search_prompts")])


def prompt(result: One[Prompt], args: GetPrompt) -> str:  # noqa: ARG001  one signature for all
    """Render a prompt with its text and variables."""
    item = result.data
    lines = [f"# {one_line(item.title)}", "", f"**Version:** {item.version}"]
    if item.label is not None:
        lines.append(f"**Label:** {one_line(item.label)} (current version: {item.current_version})")
    lines.append(f"**Public:** {'Yes' if item.is_public else 'No'}")
    if item.tags:
        lines.append(f"**Tags:** {tag_list(item.tags)}")
    lines += [f"**ID:** {item.id}", f"**Revision:** {item.revision}"]
    texts = [("Description", item.description, f"Stored description of prompt {item.id}.")]
    texts.append(("Content", item.content, f"Content: stored text of prompt {item.id}, version {item.version}."))
    for name, text, provenance in texts:
        if text or name == "Content":
            lines += ["", f"## {name}", "", stored(text, provenance, item.trust)]
    return "\n".join([*lines, *_variables(item), *_warnings(item.warnings)])


def created(result: One[Prompt], args: CreatePrompt) -> str:  # noqa: ARG001  one signature for all
    """Acknowledge a new prompt."""
    item = result.data
    lines = [f'Successfully created prompt "{one_line(item.title)}"', "", f"ID: {item.id}"]
    if item.tags:
        lines.append(f"Tags: {tag_list(item.tags)}")
    if item.variables:
        lines.append(f"Variables: {', '.join(variable.name for variable in item.variables)}")
    return "\n".join([*lines, f"Revision: {item.revision}", *_warnings(item.warnings)])


def updated(result: One[ChangedPrompt], args: PatchPrompt) -> str:  # noqa: ARG001  one signature for all
    """Acknowledge a change."""
    item = result.data
    title = one_line(item.title)
    first = f'No change (no-op): prompt "{title}" already says this' if item.noop else ""
    lines = [first or f'Successfully updated prompt "{title}"', "", f"Version: {item.current_version}"]
    return "\n".join([*lines, f"Revision: {item.revision}", *_warnings(item.warnings)])


def restored(result: One[PromptAck], args: RestorePromptVersion) -> str:  # noqa: ARG001  one signature for all
    """Acknowledge a restore."""
    ack = result.data
    if ack.noop:
        lines = ["No change (no-op): the prompt already has this text.", "", f"Version number: {ack.current_version}"]
    else:
        lines = ["Successfully restored prompt to previous version.", "", f"New version number: {ack.current_version}"]
    return "\n".join([*lines, f"Revision: {ack.revision}", *_warnings(ack.warnings)])


def deleted(result: None, args: DeletePrompt) -> str:  # noqa: ARG001  there is no result
    """Acknowledge a delete."""
    return f"Successfully deleted prompt {args.prompt_id}. {in_trash(args.prompt_id)}"


def versions(result: Page[PromptVersion], args: ListPromptVersions) -> str:
    """Render versions, newest first, with the beginning of each text."""
    count = len(result.data)
    lines = [f"## Version History ({count} version{'' if count == 1 else 's'})"]
    for index, item in enumerate(result.data):
        latest = " (Latest Snapshot)" if index == 0 and args.cursor is None else ""
        lines += ["", f"### Version {item.version}{latest}", f"- **ID:** {item.id}"]
        lines.append(f"- **Changed by:** {one_line(item.user_name, 100)}")
        if item.labels:
            lines.append(f"- **Labels:** {tag_list(item.labels)}")
    return "\n".join([*lines, *version_texts(result), *page_end(result, "get_prompt_versions")])


def _variables(item: Prompt) -> list[str]:
    if not item.variables:
        return []
    lines = ["", "## Variables", "", *(f"- `${{{each.name}}}` ({each.type})" for each in item.variables)]
    said = "\n".join(f"{each.name}: {one_line(each.description)}" for each in item.variables if each.description)
    return [*lines, "", stored(said, "Stored descriptions of the variables.", item.trust)] if said else lines


def _warnings(warnings: list[Notice]) -> list[str]:
    return [f"Warning: {notice.code}: {one_line(notice.message)}" for notice in warnings]

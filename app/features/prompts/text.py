"""Prompts as Markdown for models; what others wrote stays on one line or inside a fence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.sanitize import fenced, one_line

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
        Variable,
    )
    from app.kit.schema import One, Page

_EXCERPT = 200


def prompts(result: Page[PromptItem], args: ListPrompts) -> str:  # noqa: ARG001  one signature for all
    """Render a page of prompts."""
    count = len(result.data)
    lines = [f"Found {count} prompt{'' if count == 1 else 's'}{':' if count else '.'}"]
    for item in result.data:
        lines.append(f"- **{one_line(item.title)}** (v{item.current_version})")
        if item.description:
            lines.append(f"  {one_line(item.description)}")
        lines.append(f"  ID: {item.id}")
    return "\n".join([*lines, *_page_end(result, "search_prompts")])


def prompt(result: One[Prompt], args: GetPrompt) -> str:  # noqa: ARG001  one signature for all
    """Render a prompt with its text and variables."""
    item = result.data
    lines = [f"# {one_line(item.title)}", "", f"**Description:** {one_line(item.description, 2_000)}"]
    lines.append(f"**Version:** {item.version}")
    if item.label is not None:
        lines.append(f"**Label:** {one_line(item.label)} (current version: {item.current_version})")
    lines.append(f"**Public:** {'Yes' if item.is_public else 'No'}")
    if item.tags:
        lines.append(f"**Tags:** {_tags(item.tags)}")
    lines += [f"**ID:** {item.id}", f"**Revision:** {item.revision}", "", "## Content", ""]
    lines.append(fenced(item.content, f"Content: stored text of prompt {item.id}, version {item.version}."))
    if item.variables:
        lines += ["", "## Variables", "", *(f"- {_variable(variable)}" for variable in item.variables)]
    return "\n".join([*lines, *_warnings(item.warnings)])


def created(result: One[Prompt], args: CreatePrompt) -> str:  # noqa: ARG001  one signature for all
    """Acknowledge a new prompt."""
    item = result.data
    lines = [f'Successfully created prompt "{one_line(item.title)}"', "", f"ID: {item.id}"]
    if item.tags:
        lines.append(f"Tags: {_tags(item.tags)}")
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
    return f"Successfully deleted prompt {args.prompt_id}"


def versions(result: Page[PromptVersion], args: ListPromptVersions) -> str:
    """Render versions, newest first, with the beginning of each text."""
    count = len(result.data)
    lines = [f"## Version History ({count} version{'' if count == 1 else 's'})"]
    for index, item in enumerate(result.data):
        latest = " (Latest Snapshot)" if index == 0 and args.cursor is None else ""
        lines += ["", f"### Version {item.version}{latest}", f"- **ID:** {item.id}"]
        lines.append(f"- **Changed by:** {one_line(item.user_name, 100)}")
        if item.labels:
            lines.append(f"- **Labels:** {_tags(item.labels)}")
        if item.change_log:
            lines.append(f"- **Change log:** {one_line(item.change_log)}")
    if result.data:
        starts = "\n".join(f"Version {item.version}: {one_line(item.content, _EXCERPT)}" for item in result.data)
        lines += ["", fenced(starts, "Stored texts, each cut to its beginning (whole in structuredContent).")]
    return "\n".join([*lines, *_page_end(result, "get_prompt_versions")])


def _variable(variable: Variable) -> str:
    said = f" - {one_line(variable.description)}" if variable.description else ""
    return f"`${{{variable.name}}}` ({variable.type}){said}"


def _warnings(warnings: list[Notice]) -> list[str]:
    return [f"Warning: {notice.code}: {one_line(notice.message)}" for notice in warnings]


def _page_end(page: Page[PromptItem] | Page[PromptVersion], tool: str) -> list[str]:
    lines = [f"Note: {page.notice}"] if page.notice else []
    if page.pagination.has_more:
        lines.append(f'There are more: call {tool} again with cursor="{page.pagination.cursor}".')
    return lines


def _tags(tags: list[str]) -> str:
    return ", ".join(one_line(tag, 100) for tag in tags)

"""The caller's own account as Markdown for models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.sanitize import one_line

if TYPE_CHECKING:
    from app.features.accounts.schemas import GetMe, User
    from app.kit.schema import One


def user(result: One[User], args: GetMe) -> str:  # noqa: ARG001  one signature for all
    """Render the caller with its rights, workspace and plan."""
    me = result.data
    lines = [
        f"# {one_line(me.name)}",
        f"- ID: {me.id}",
        f"- Email: {one_line(me.email)}",
        f"- External ID: {one_line(me.external_id) if me.external_id else 'none'}",
        f"- Auth Method: {me.auth_method}",
        f"- Permissions: {', '.join(me.permissions) or 'none'}",
        f"- Workspace: {one_line(me.workspace.name)} ({me.workspace.role})",
        f"- Plan: {me.plan.name if me.plan else 'none active'}",
    ]
    for meter, usage in me.usage.items():
        limit = "unlimited" if usage["limit"] is None else usage["limit"]
        lines.append(f"- {meter.replace('_', ' ').capitalize()}: {usage['used']} of {limit}")
    return "\n".join(lines)

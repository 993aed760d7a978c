"""Pages of a prompt's past: versions with their labels, two of them side by side, and one made current again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.edge.web.diffs import columns
from app.edge.web.forms import filled, filters
from app.edge.web.page import Page, call, form, redirect, render
from app.features.documents.service import beside
from app.features.prompts import operations
from app.features.prompts.errors import PromptVersionNotFound
from app.kit import diff
from app.kit.errors import AppError, InvalidRequest

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.prompts.schemas import PromptVersion

_PATH: Final = "/dashboard/prompts"
_SIZE: Final = 25
_MOST: Final = 1_000_000


async def versions(request: Request) -> Response:
    """List a prompt's versions and what is labelled."""
    return await _versions(request)


async def _versions(request: Request, status: int = 200, error: str = "") -> Response:
    here = request.path_params["id"]
    found = (await call(request, operations.get_prompt, promptId=here)).data
    after = filters(request, "cursor")
    page = await call(request, operations.list_prompt_versions, promptId=here, limit=_SIZE, **filled(after))
    return render(
        request,
        "prompt_versions.html",
        status,
        prompt=found,
        versions=page.data,
        after=page.pagination.cursor,
        first=bool(after["cursor"]),
        error=error,
    )


async def compare(request: Request) -> Response:
    """Show two versions side by side."""
    here = request.path_params["id"]
    found = (await call(request, operations.get_prompt, promptId=here)).data
    old = await _version(request, request.query_params.get("from", ""))
    new = await _version(request, request.query_params.get("to", ""))
    lines = diff.lines_of(old.content), diff.lines_of(new.content)
    text = await beside(len(old.content) + len(new.content), diff.unified_text, *lines, _MOST)
    return render(request, "prompt_diff.html", prompt=found, old=old, new=new, columns=columns(text))


async def _version(request: Request, number: str) -> PromptVersion:
    """Find a version by its number: it is the first below the next one.

    Raises:
        PromptVersionNotFound: there is none.
    """
    after: dict[str, str] = {}
    while True:
        page = await call(
            request, operations.list_prompt_versions, promptId=request.path_params["id"], limit=100, **after
        )
        for version in page.data:
            if str(version.version) == number:
                return version
        if page.pagination.cursor is None:
            raise PromptVersionNotFound
        after = {"cursor": page.pagination.cursor}


async def restore(request: Request) -> Response:
    """Make a version current again, unless the prompt was changed since the list was shown."""
    fields = await form(request)
    here = request.path_params["id"]
    known = filled({"expectedRevision": fields.get("revision", "")})
    version = request.path_params["version"]
    try:
        await call(request, operations.restore_prompt_version, promptId=here, versionId=version, **known)
    except AppError as error:
        if error.reason != "REVISION_MISMATCH":
            raise
        said = "It was changed meanwhile. Look at the newest version, then restore again if you still want to."
        return await _versions(request, 409, said)
    return redirect(f"{_PATH}/{here}", "restored")


async def label(request: Request) -> Response:
    """Point a label at a version."""
    fields = await form(request)
    here, version = request.path_params["id"], request.path_params["version"]
    name = fields.get("label", "").strip()
    try:
        await call(request, operations.set_label, promptId=here, label=name, versionId=version)
    except InvalidRequest as error:
        return await _versions(request, 400, error.message)
    return redirect(f"{_PATH}/{here}/versions", "saved")


async def unlabel(request: Request) -> Response:
    """Take a label away."""
    fields = await form(request)
    here = request.path_params["id"]
    await call(request, operations.remove_label, promptId=here, label=fields.get("label", ""))
    return redirect(f"{_PATH}/{here}/versions", "saved")


HISTORY = [
    Page(f"{_PATH}/{{id}}/versions", versions),
    Page(f"{_PATH}/{{id}}/versions/{{version}}/restore", restore, ("POST",)),
    Page(f"{_PATH}/{{id}}/versions/{{version}}/label", label, ("POST",)),
    Page(f"{_PATH}/{{id}}/unlabel", unlabel, ("POST",)),
    Page(f"{_PATH}/{{id}}/diff", compare),
]

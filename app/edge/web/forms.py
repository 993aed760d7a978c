"""What forms of many fields have in common: ticked rows, tags, files, and texts that went through a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from app.edge.asgi import header, read_body
from app.edge.rest.multipart import FRAME_BYTES, read_form
from app.edge.web.page import checked, own_form_only, web_of
from app.kit.diff import changes
from app.kit.errors import InvalidRequest
from app.kit.schema import unstorable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from starlette.requests import Request

MAX_TEXT_BYTES: Final = 4 * 1024 * 1024
"""Of a form with a long text, as it is sent: letters beyond ASCII take three to nine bytes each."""
MAX_TEXT: Final = 400_000
"""Characters of a text that is edited in a browser; longer ones are written by a program."""
TICK: Final = "item."
BULK: Final = {"collect": "added", "tag": "tagged", "delete": "trashed"}
"""What can be done with ticked rows, and the word that says it was (`DONE`)."""
_ORDERS: Final = {"": "Newest first", "changed": "Last changed first"}
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def ticked(fields: Mapping[str, str], prefix: str = TICK) -> list[str]:
    """Name the rows of a list that were ticked, by what follows the prefix of their boxes."""
    return [name.removeprefix(prefix) for name in fields if name.startswith(prefix)]


def tags_of(text: str, before: Sequence[str] = ()) -> list[str]:
    """Read tags that a person writes, with commas between them.

    Of the tags that stood there `before`, those that were left as they are stay as they are: old ones hold commas.
    """
    if text == tag_text(before):
        return list(before)
    parts = [part.strip() for part in text.split(",")]
    several = [(tag, own) for tag in before if len(own := [part.strip() for part in tag.split(",")]) > 1]
    several.sort(key=lambda one: -len(one[1]))
    found: list[str] = []
    while parts:
        tag, own = next((one for one in several if parts[: len(one[1])] == one[1]), (parts[0], parts[:1]))
        found.append(tag)
        del parts[: len(own)]
    return list(dict.fromkeys(filter(None, found)))


def tag_text(tags: Sequence[str]) -> str:
    """Write tags as a person does."""
    return ", ".join(tags)


def filters(request: Request, *names: str) -> dict[str, str]:
    """Read what a list is narrowed by, from the address; what is empty counts as left out."""
    query = request.query_params
    found = {name: query.get(name, "").strip() for name in names}
    if any(unstorable(value) for value in found.values()):
        raise InvalidRequest("The address cannot be read.")
    return found


def filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is empty."""
    return {name: value for name, value in values.items() if value not in ("", None, [])}


def kept(chosen: Mapping[str, str]) -> str:
    """Write what a list is narrowed by as a query, for the links that lead on."""
    return urlencode(filled({name: value for name, value in chosen.items() if name != "cursor"}))


async def form_with_files(request: Request, file: str = "file") -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Read a posted form of our own with files: its fields, and each file that was chosen as name, type and content.

    Raises:
        Forged: another site sent it.
        UnsupportedMediaType, PayloadTooLarge, InvalidRequest: it is no form of ours.
    """
    own_form_only(request)
    limit = web_of(request).max_body_bytes
    body = await read_body(request.scope, request.receive, limit, frame=FRAME_BYTES)
    raw = read_form(header(request.scope, b"content-type") or "", body, file, limit, many=True)
    files = raw.pop(file, [])
    fields = {name: value for name, value in raw.items() if isinstance(value, str) and "\0" not in value}
    if len(fields) != len(raw):
        raise InvalidRequest("The form cannot be read.")
    return checked(request, fields), [one for one in files if one["name"]]


def as_written(stored: str, sent: str) -> str:
    r"""Give a text that a browser sent the line ends of the stored one: lines that nobody changed stay byte for byte.

    Browsers send every line end as `\r\n`. New lines end as most stored ones do.
    """
    before, after = _lines(stored), _lines(sent)
    bare = ([line.rstrip("\r\n") for line in before], [line.rstrip("\r\n") for line in after])
    if bare[0] == bare[1] and _open_ended(before) == _open_ended(after):
        return stored
    crlf = sum(line.endswith("\r\n") for line in before)
    end = "\r\n" if crlf * 2 > len(before) else "\n"
    found: list[str] = []
    at = 0
    for change in changes(*bare):
        found += before[at : change.old_start]
        found += [line + end for line in bare[1][change.new_start : change.new_end]]
        at = change.old_end
    found += before[at:]
    text = _ended(found, after, end)
    plain = "\n".join(bare[1]) + ("" if _open_ended(after) or not after else "\n")
    return text if _plain(text) == plain else plain.replace("\n", end)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)


def _open_ended(lines: list[str]) -> bool:
    return bool(lines) and not lines[-1].endswith(("\r", "\n"))


def _ended(found: list[str], sent: list[str], end: str) -> str:
    """End the last line as it was sent."""
    if not found:
        return ""
    last = found[-1].rstrip("\r\n")
    inner = [line if line.endswith(("\r", "\n")) else line + end for line in found[:-1]]
    kept = found[-1] if not _open_ended(found) else last + end
    return "".join([*inner, last if _open_ended(sent) else kept])


def differing(base: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what a form changed: what it left as it was belongs to whoever changes it meanwhile."""
    return dict(wanted) if base is None else {name: value for name, value in wanted.items() if base[name] != value}


def orders(chosen: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    """Write the ways to order a list as queries from its first page on, with their names and which one it has."""
    return [(kept({**chosen, "sort": sort}), label, chosen["sort"] == sort) for sort, label in _ORDERS.items()]


def choices(items: Iterable[Any], label: str, first: str) -> list[tuple[str, str]]:
    """Make the options of a choice: an empty one in words, then each item by its id."""
    return [("", first), *((str(item.id), getattr(item, label)) for item in items)]

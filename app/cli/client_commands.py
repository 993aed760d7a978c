"""Commands of a client: they speak HTTP and need no server packages."""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from datetime import date, datetime, time
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from app.cli import connect_commands
from app.cli.archives import export_archive, import_archive, is_archive
from app.cli.client import Client, RefusedError, find_target
from app.cli.importing import Memory, Outcome, find_files, import_files
from app.cli.output import complain, note, say
from app.cli.roots import fail
from app.cli.uploading import upload_files, wait_for_reading

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


_DONE = ("created", "updated", "unchanged")
_EXCERPT = 200
_Type = Literal["all", "documents", "prompts", "collections"]
_MAX_NAMED = 20
"""Files that are named for people, of each result: a folder may hold very many."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("import")(import_paths)
    app.command("export")(export)
    app.command("search")(search)
    connect_commands.register(app)


def import_paths(
    paths: Annotated[list[Path], typer.Argument(exists=True, help="Files, folders of them, or one archive.")],
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag for every document; may be repeated.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Take the file also where somebody edited the document meanwhile.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import files as documents, or an archive that `ctx export` wrote. Running it again sends only what is missing.

    Text is sent as it is; PDF, Office, HTML, data, code and other kinds are read by the service, which this waits for.
    """
    if any(map(is_archive, paths)):
        _import_archive(paths, as_json)
        return
    target, found = find_target(), find_files(paths)
    client, memory = Client(target), Memory(target)
    total, outcomes = len(found.texts) + len(found.uploads), list[Outcome]()
    try:
        with _progress(hidden=as_json) as progress:
            task = progress.add_task("Importing", total=total)
            texts = import_files(client, memory, found, tag or [], overwrite=overwrite)
            for outcome in chain(texts, upload_files(client, memory, found.uploads, tag or [])):
                outcomes.append(outcome)
                progress.advance(task)
            if sent := [outcome for outcome in outcomes if outcome.being_read]:
                read = wait_for_reading(client, memory, sent)
                read_as = {outcome.path: outcome for outcome in progress.track(read, len(sent), description="Reading")}
                outcomes = [read_as.get(outcome.path, outcome) for outcome in outcomes]
    except RefusedError as error:
        fail(f"{error.reason}: {error.message} {len(outcomes)} of {total} files were done; run it again.", 1)
    finally:
        client.close()
    _report([*outcomes, *found.skipped], as_json)
    if any(outcome.result == "failed" for outcome in outcomes):
        raise typer.Exit(1)


def _import_archive(paths: list[Path], as_json: bool) -> None:
    if len(paths) > 1:
        fail("import an archive by itself", 2)
    client = Client(find_target())
    try:
        with _progress(hidden=as_json) as progress:
            task = progress.add_task("Importing", total=None)
            done = import_archive(client, paths[0], lambda at, end: progress.update(task, completed=at, total=end))
    except RefusedError as error:
        fail(f"{error.reason}: {error.message} Run it again to go on.", 1)
    except (OSError, EOFError, tarfile.TarError, UnicodeDecodeError) as error:
        fail(f"{paths[0]} cannot be read as an archive: {error}", 1)
    finally:
        client.close()
    counts = done["counts"]
    say(json.dumps(done) if as_json else f"{counts['created']} created, {counts['existing']} were there already")


def export(
    path: Annotated[Path, typer.Argument(dir_okay=False, help="The archive to write, such as repository.tar.gz.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Export the whole workspace, with its history, into an archive. Running it again goes on where it was cut off."""
    if path.exists() and not overwrite:
        fail(f"{path} is there already; --overwrite replaces it", 2)
    client = Client(find_target())
    try:
        with _progress(hidden=as_json) as progress:
            task = progress.add_task("Exporting", total=None)
            done = export_archive(client, path, lambda at, end: progress.update(task, completed=at, total=end))
    except RefusedError as error:
        fail(f"{error.reason}: {error.message}", 1)
    except OSError as error:
        fail(f"{path} cannot be written: {error}", 1)
    finally:
        client.close()
    say(json.dumps(done | {"path": str(path)}) if as_json else f"{done['itemsDone']} items were written to {path}")


def _progress(*, hidden: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), disable=hidden)


def _report(outcomes: list[Outcome], as_json: bool) -> None:
    counts = Counter(outcome.result for outcome in outcomes)
    if as_json:
        files = [
            {"path": item.path, "result": item.result, "documentId": item.document_id, "message": item.message}
            for item in outcomes
        ]
        say(json.dumps({"counts": counts, "files": files}))
        return
    for outcome in outcomes:
        if outcome.result == "failed":
            complain(f"{outcome.path}: {outcome.message}")
    skipped = [f"Skipped {item.path}: {item.message}." for item in outcomes if item.result == "skipped"]
    noted = [f"{item.path}: {item.message}." for item in outcomes if item.result in _DONE and item.message]
    for lines, more in ((skipped, "Skipped {} more"), (noted, "The same of {} more")):
        for line in lines[:_MAX_NAMED]:
            note(line)
        if len(lines) > _MAX_NAMED:
            note(f"{more.format(len(lines) - _MAX_NAMED)}; --json names them all.")
    names = (*_DONE, "skipped", "failed")
    say(", ".join(f"{counts[name]} {name}" for name in names if counts[name]) or "No files were found.")


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    literal: Annotated[bool, typer.Option("--literal", help="Find the text as it stands, ignoring case.")] = False,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag; may be repeated.")] = None,
    kind: Annotated[_Type, typer.Option("--type", help="Only items of this type.")] = "all",
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many hits of each type.")] = 10,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            help="As documents were at a time (2026-05-01T12:00), or at the end of a day (2026-05-01), of this "
            "machine's zone unless the time names another.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Search what is stored by meaning and words, or literally; documents as of a time by their words of then."""
    options = {"q": query, "type": kind, "limit": str(limit), "semantic": "false" if literal else "true"}
    if tag:
        options["tags"] = ",".join(tag)
    if as_of is not None:
        options["asOf"] = _moment(as_of)
    client = Client(find_target())
    try:
        answer = client.get("/v1/search", **options)
    except RefusedError as error:
        fail(f"{error.reason}: {error.message}", 1)
    finally:
        client.close()
    if as_json:
        say(json.dumps(answer, ensure_ascii=False))
        return
    _show(answer)


def _show(answer: dict[str, Any]) -> None:
    meta, groups = answer["meta"], answer["data"]
    hits = [(kind, hit) for kind in get_args(_Type)[1:] for hit in groups[kind]]
    for kind, hit in hits:
        item, score = kind.removesuffix("s"), f"{hit['score']:.2f}  " if "score" in hit else ""
        which = hit[f"{item}Id"] if kind == "documents" else f"{item} {hit[f'{item}Id']}"
        revision = f", revision {hit['revision']}" if "revision" in hit else ""
        say(f"{score}{hit.get('title') or hit['name']}  ({which}{revision})", "bold")
        found = (hit[name] for name in ("sectionPath", "highlight", "description") if hit.get(name))
        if shown := " — ".join(" ".join(text.split())[:_EXCERPT] for text in found):
            say(f"    {shown}")
    if any("score" in hit for _, hit in hits):
        note("Best first; the number says how well each fits by itself, so that neighbours may stand the other way.")
    if not hits:
        say("Nothing was found.")
        if meta["semantic"]:
            note("Words count as a whole, and by their meaning; --literal finds parts of words, too.")
    if meta["pending"]:
        say(f"Still being indexed: {meta['pending']}; search again shortly.")
    if "notice" in meta:
        note(meta["notice"])


def _moment(text: str) -> str:
    """Read a day, of which its end counts, or a time; without a zone it is this machine's."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    try:
        found = datetime.fromisoformat(text) if day is None else datetime.combine(day, time.max)
        return found.astimezone().isoformat()
    except (ValueError, OverflowError, OSError):
        fail(f"--as-of {text}: name a day or a time, such as 2026-05-01 or 2026-05-01T12:00", 2)

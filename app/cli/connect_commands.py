"""`ctx connect` tells what to paste into a client; `ctx doctor` examines a service. Both need no server packages."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Annotated

import httpx2
import typer

from app.cli.client import find_key, find_url
from app.cli.output import say
from app.cli.roots import fail
from app.doctor.probe import Probe, base_of
from app.doctor.steps import NOTHING_ANSWERS, examine
from app.features.connect.service import clients

if TYPE_CHECKING:
    from app.doctor.steps import Outcome
    from app.features.connect.schemas import ClientGuide, Way

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
_PRODUCT = "Context Repo"
_USAGE = 2
_WAYS = {"oauth": "Sign in with a browser", "api-key": "With an API key"}
_STYLES = {"pass": "green", "fail": "bold red", "skip": "dim"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("connect")(connect)
    app.command("doctor")(doctor)


def connect(
    client: Annotated[str, typer.Argument(help="One client, such as `cursor`; all are named without it.")] = "",
    url: Annotated[str, typer.Option("--url", help="The service; else CTX_URL or DATA_DIR/cli.json.")] = "",
    as_json: AsJson = False,
) -> None:
    """Print what to paste into a client."""
    guides = {guide.id: guide for guide in clients(_base(url), _PRODUCT)}
    if client and client not in guides:
        fail(f"there is no guide for {client!r}; there are: {', '.join(guides)}", _USAGE)
    if as_json:
        chosen = [guides[client]] if client else list(guides.values())
        say(json.dumps([guide.as_dict() for guide in chosen], ensure_ascii=False))
    elif client:
        _tell(guides[client])
    else:
        for guide in guides.values():
            say(f"{guide.id:<12} {guide.name}")
        say("\nctx connect CLIENT prints what to paste; the address alone is enough for most:")
        say(f"  {guides['claude-code'].url}")
        say("Every tool, with leases and idempotency keys, is at:")
        say(f"  {guides['claude-code'].url}/all")


def _base(typed: str) -> str:
    try:
        return base_of(typed or find_url())
    except ValueError as error:
        fail(str(error), _USAGE)


def _tell(guide: ClientGuide) -> None:
    say(guide.name, "bold")
    if guide.link:
        say(f"{guide.link.label}: {guide.link.href}")
    for way in guide.ways:
        _tell_way(way)
    say(f"\n{guide.source}", "dim")


def _tell_way(way: Way) -> None:
    say(f"\n{_WAYS[way.auth]}:", "bold")
    for step in way.steps:
        say(f"- {step}")
    for snippet in way.snippets:
        say(f"\n{snippet.place}:" if snippet.place else "")
        say(snippet.text)


def doctor(
    url: Annotated[str, typer.Argument(help="The service; else CTX_URL or DATA_DIR/cli.json.")] = "",
    as_json: AsJson = False,
    api_key_env: Annotated[
        str,
        typer.Option(
            "--api-key-env",
            help="Environment variable with the API key to try; else the key that was saved for this address.",
        ),
    ] = "",
    write: Annotated[bool, typer.Option("--write", help="Also create, read and delete a document.")] = False,
) -> None:
    """Examine a service as clients meet it. Exits 0 when nothing failed, 1 when something did, 2 on wrong use."""
    key = os.environ.get(api_key_env, "").strip() if api_key_env else ""
    if api_key_env and not key:
        fail(f"the environment variable {api_key_env} is not set", _USAGE)
    base = _base(url)
    key = key or find_key(base)
    if write and not key:
        fail("--write needs a key; name its variable with --api-key-env", _USAGE)
    outcomes = asyncio.run(_examine(base, key, write=write))
    if as_json:
        say(json.dumps({"url": base, "counts": _counts(outcomes), "steps": [item.as_dict() for item in outcomes]}))
    else:
        _report(base, outcomes)
    if any(item.status == "fail" for item in outcomes):
        raise typer.Exit(1)


async def _examine(base: str, key: str, *, write: bool) -> list[Outcome]:
    async with httpx2.AsyncClient(follow_redirects=False, headers={"user-agent": "ctx-doctor"}) as http:
        return await examine(Probe(http, base, key, write))


def _counts(outcomes: list[Outcome]) -> dict[str, int]:
    return {kind: sum(item.status == kind for item in outcomes) for kind in ("pass", "fail", "skip")}


def _report(base: str, outcomes: list[Outcome]) -> None:
    say(base, "bold")
    for item in outcomes:
        if item.message == NOTHING_ANSWERS:
            continue
        say(
            f"{item.status:<5} {item.title}{f' ({item.message})' if item.status == 'skip' else ''}",
            _STYLES[item.status],
        )
        if item.status != "fail":
            continue
        say(f"      {item.message}")
        say(f"      What to do: {item.advice}")
        for line in item.sent:
            say(f"      sent: {line}")
        for line in item.got:
            say(f"      got:  {line}")
    counts = _counts(outcomes)
    say(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped.", "bold")

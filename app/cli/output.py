"""What the operator reads: the start message with lines to copy, errors, plain answers."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Protocol

from rich.console import Console


class StartedLike(Protocol):
    """What the supervisor reports when the service answers."""

    @property
    def url(self) -> str:
        """Base address."""

    @property
    def api_key(self) -> str:
        """First key, on a first start only."""

    @property
    def sign_in_link(self) -> str:
        """One-time link of the first user, on a first start only."""

    @property
    def has_key_file(self) -> bool:
        """Whether the command line has a key already."""

    @property
    def seconds(self) -> float:
        """How long the start took."""


def say(text: str = "", style: str | None = None) -> None:
    """Print a line as it is: unwrapped, without markup or emoji codes, so that programs can read it too."""
    Console(emoji=False).print(text, style=style, soft_wrap=True, markup=False, highlight=False)
    sys.stdout.flush()


def complain(text: str) -> None:
    """Print an error for people on standard error."""
    Console(stderr=True, emoji=False).print(
        f"Error: {text}", style="red", soft_wrap=True, markup=False, highlight=False
    )


def note(text: str) -> None:
    """Print what goes on, for people, on standard error."""
    Console(stderr=True, emoji=False).print(text, style="yellow", soft_wrap=True, markup=False, highlight=False)


def this_command(*arguments: str) -> str:
    """Write a call of this command line so that it works when pasted into another terminal in this folder."""
    here = Path(sys.argv[0])
    name = "ctx" if shutil.which("ctx") == str(here.absolute()) else os.path.relpath(here)
    folder = os.environ.get("DATA_DIR", "")
    setting = f"DATA_DIR={shlex.quote(str(Path(folder).absolute()))} " if folder else ""
    return f"{setting}{shlex.quote(name)} {shlex.join(arguments)}"


def announce(started: StartedLike) -> None:
    """Print where the service is and, once, how to connect with the first key."""
    say(f"Ready in {started.seconds:.1f} s", "bold green")
    say(f"  URL  {started.url}")
    say(f"  MCP  {started.url}/mcp")
    if started.api_key:
        _announce_key(started.url, started.api_key)
        _announce_steps(started.url, started.sign_in_link)
    elif not started.has_key_file:
        say("No API key is kept for the command line; make one with:")
        say(f"  {this_command('admin', 'create-key', '--email', 'owner@localhost', '--scopes', 'documents.write')}")
    say("Stop with Ctrl-C.")


def _announce_key(url: str, key: str) -> None:
    header = f"API-Key {key}"
    server = {"mcpServers": {"context-repo": {"url": f"{url}/mcp", "headers": {"Authorization": header}}}}
    say()
    say("Your API key (shown only now; the command line keeps it in cli.json of its data folder):", "bold")
    say(f"  {key}")
    say()
    say("Claude Code:", "bold")
    say(f'claude mcp add --transport http context-repo {url}/mcp --header "Authorization: {header}"')
    say()
    say("Cursor, and clients that read the same file:", "bold")
    say(json.dumps(server, indent=2))
    say()
    say("Other clients, and signing in without a key:", "bold")
    say(this_command("connect"))
    say()
    say("A first document, and finding it by meaning (from another terminal):", "bold")
    curl = f'curl -H "Authorization: {header}"'
    text = """{"title": "Fog", "content": "When fog hides the light, sound the horn: boats must keep clear."}"""
    say(f"{curl} -H 'Content-Type: application/json' {url}/v1/documents -d '{text}'")
    say(f'{curl} "{url}/v1/search?q=warning+ships"')
    say()


def _announce_steps(url: str, sign_in_link: str) -> None:
    say("Sign in with a browser (this link works once, within 24 hours, and sets your password):", "bold")
    say(f"  {sign_in_link}")
    say()
    say(f"Does everything work as clients meet it: {this_command('doctor', url)}")
    say()

"""What the operator reads: the start message with lines to copy, errors, plain answers."""

from __future__ import annotations

import json
import sys
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


def announce(started: StartedLike) -> None:
    """Print where the service is and, once, how to connect with the first key."""
    say(f"Ready in {started.seconds:.1f} s", "bold green")
    say(f"  URL  {started.url}")
    say(f"  MCP  {started.url}/mcp")
    if started.api_key:
        _announce_key(started.url, started.api_key)
        say("Sign in with a browser (this link works once, within 24 hours, and sets your password):", "bold")
        say(f"  {started.sign_in_link}")
        say()
    elif not started.has_key_file:
        say("No API key is kept in DATA_DIR; make one with:")
        say("  ctx admin create-key --email owner@localhost --scopes documents.read,documents.write,prompts.read")
    say("Stop with Ctrl-C.")


def _announce_key(url: str, key: str) -> None:
    header = f"API-Key {key}"
    server = {"mcpServers": {"context-repo": {"url": f"{url}/mcp", "headers": {"Authorization": header}}}}
    say()
    say("Your API key (shown only now; the command line keeps it in DATA_DIR/cli.json):", "bold")
    say(f"  {key}")
    say()
    say("Claude Code:", "bold")
    say(f'claude mcp add --transport http context-repo {url}/mcp --header "Authorization: {header}"')
    say()
    say("Cursor and others (VS Code: see README.md):", "bold")
    say(json.dumps(server, indent=2))
    say()
    say("REST:", "bold")
    say(f'curl -H "Authorization: {header}" {url}/v1/documents')
    say()
    say("Other clients, and signing in without a key: ctx connect. Does the address work: ctx doctor")
    say()

"""`ctx admin`: users, keys, sign-in links and mail, on the machine of the service."""

from __future__ import annotations

import json
from typing import Annotated, Any
from uuid import UUID

import typer

from app.cli.output import say, this_command
from app.cli.roots import fail, guarded, read_settings

_USAGE = 2
admin = typer.Typer(no_args_is_help=True, help="Manage users, keys and mail of the service on this machine.")

Email = Annotated[str, typer.Option("--email", help="Address of the user.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


@admin.command("create-user")
def create_user(email: Email, as_json: AsJson = False) -> None:
    """Create a user with a personal workspace."""
    settings = guarded("app.wiring:join", read_settings())
    answer = guarded("app.admin:create_user", settings, email)
    _answer(answer, as_json, f"{email} has an account. Next: {this_command('admin', 'sign-in-link', '--email', email)}")


@admin.command("create-key")
def create_key(
    email: Email,
    scopes: Annotated[str, typer.Option("--scopes", help="Scopes, separated by commas.")],
    name: Annotated[str, typer.Option("--name", help="What the key is for.")] = "command line",
    collections: Annotated[
        str, typer.Option("--collections", help="Ids, separated by commas: it sees their members alone.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Create an API key of a user and print it; it cannot be shown again."""
    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    try:
        narrowed = [UUID(text.strip()) for text in collections.split(",") if text.strip()]
    except ValueError:
        fail(f"--collections takes ids of collections, not {collections!r}; `GET /v1/collections` lists them", _USAGE)
    settings = guarded("app.wiring:join", read_settings())
    answer = guarded("app.admin:create_key", settings, email, wanted, name, narrowed or None)
    _answer(answer, as_json, f"API key of {email} (shown only now): {answer['apiKey']}")


@admin.command("sign-in-link")
def sign_in_link(email: Email, as_json: AsJson = False) -> None:
    """Print a link that lets a user set a password and sign in; it works once, within 24 hours."""
    settings = guarded("app.wiring:join_site", read_settings())
    answer = guarded("app.admin:sign_in_link", settings, email)
    _answer(answer, as_json, f"Sign-in link of {email} (works once, within 24 hours): {answer['signInLink']}")


@admin.command("set-plan")
def set_plan(
    email: Email,
    plan: Annotated[str, typer.Option("--plan", help="A plan of plans.toml, or none.")],
    trial_days: Annotated[int | None, typer.Option("--trial-days", min=1, max=3650, help="End it after days.")] = None,
    as_json: AsJson = False,
) -> None:
    """Set the plan of a user's personal workspace; running programs see it within seconds."""
    settings = guarded("app.wiring:join", read_settings())
    answer = guarded("app.admin:set_plan", settings, email, plan, trial_days)
    ends = f" until {answer['trialEndsAt']}" if answer["trialEndsAt"] else ""
    _answer(answer, as_json, f"The plan of {email} is {answer['plan'] or 'none'}{ends}")


@admin.command("outbox")
def outbox(as_json: AsJson = False) -> None:
    """Show the newest mails, with the texts of those that no mail server took."""
    settings = guarded("app.wiring:join", read_settings())
    answer = guarded("app.admin:outbox", settings)
    lines = []
    for mail in answer["mails"]:
        state = f"sent {mail['sentAt']}" if mail["sentAt"] else f"not sent ({mail['error'] or 'waiting'})"
        lines += [f"To {mail['recipient']}: {mail['subject']} — {state}", mail["body"].strip(), ""]
    _answer(answer, as_json, "\n".join(lines).strip() or "The outbox is empty.")


def _answer(answer: dict[str, Any], as_json: bool, sentence: str) -> None:
    say(json.dumps(answer) if as_json else sentence)

"""The `ctx` command."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from typing import Annotated

import typer

from app import version
from app.cli.admin_commands import admin
from app.cli.output import announce, say
from app.cli.roots import guarded, read_settings, root

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(admin, name="admin")

Workers = Annotated[int, typer.Option("--workers", min=1, max=64, help="Number of API processes.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        say(version())
        raise typer.Exit


@app.callback()
def ctx(
    _: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")] = (
        False
    ),
) -> None:
    """Context Repo: a versioned context repository for AI agents, over MCP and REST."""


@app.command()
def up(workers: Workers = 1) -> None:
    """Run everything on this machine: database, cache, API and worker. Ctrl-C stops it."""
    _log_to_stderr()
    guarded("app.supervisor:up", read_settings(), workers, announce)


@app.command()
def serve(workers: Workers = 1) -> None:
    """Run the API alone, on the running service of DATA_DIR or on DATABASE_URL and REDIS_URL."""
    _log_to_stderr()
    guarded("app.supervisor:serve", read_settings(), workers, announce)


@app.command()
def worker() -> None:
    """Run one worker, on the running service of DATA_DIR or on DATABASE_URL and REDIS_URL."""
    settings = guarded("app.wiring:join_site", read_settings())
    root("app.worker:run")(settings)


@app.command()
def migrate(
    bootstrap_sql: Annotated[
        bool, typer.Option("--bootstrap-sql", help="Print the SQL for a superuser instead of migrating.")
    ] = False,
) -> None:
    """Bring the database's schema up to date."""
    if bootstrap_sql:
        say(guarded("app.wiring:bootstrap_sql", read_settings()).rstrip())
        return
    _log_to_stderr()
    guarded("app.wiring:migrate", read_settings())
    say("The database is up to date.")


def _log_to_stderr() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")


def _register_client_commands() -> None:
    """Add the commands of a client; their module offers `register(app)` and needs no server packages."""
    if importlib.util.find_spec("app.cli.client_commands") is not None:
        importlib.import_module("app.cli.client_commands").register(app)


def main() -> None:
    """Run the command line."""
    _register_client_commands()
    app()


if __name__ == "__main__":
    main()

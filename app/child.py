"""Entry point of the processes that the supervisor starts; loads the composition roots by name."""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from typing import TYPE_CHECKING, Any

from app import logs
from app.process import LISTEN_FD_ENV, report_ready, watch_parent
from app.settings import Settings

if TYPE_CHECKING:
    import uvicorn

FIRST_EMAIL = "owner@localhost"
ALL_SCOPES = [
    "prompts.read",
    "prompts.write",
    "documents.read",
    "documents.write",
    "workspace.read",
    "workspace.write",
]


def load(target: str) -> Any:
    """Resolve `module:attribute`."""
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def run_api(settings: Settings) -> None:
    """Serve HTTP on the listening socket inherited from the supervisor."""
    import uvicorn

    config = uvicorn.Config(
        load("app.main:create_app")(settings),
        http=load("app.edge.protocol:BoundedProtocol"),
        loop="uvloop",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=20,
    )
    _reporting_server(config).run(sockets=[socket.socket(fileno=int(os.environ.pop(LISTEN_FD_ENV)))])


def _reporting_server(config: uvicorn.Config) -> uvicorn.Server:
    import uvicorn

    class ReportingServer(uvicorn.Server):
        """Tells the supervisor when the application's startup is through."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                report_ready()

    return ReportingServer(config)


def run_worker(settings: Settings) -> None:
    """Work on queued jobs until told to stop."""
    load("app.worker:run")(settings)


def run_migrate(settings: Settings) -> None:
    """Bring the schema up to date."""
    load("app.store.migrating:upgrade")(settings.database_url)


def run_first_key(settings: Settings) -> None:
    """Create the first user with a key for everything and a link to sign in with; print both as JSON."""
    admin = importlib.import_module("app.admin")
    admin.create_user(settings, FIRST_EMAIL)
    key = admin.create_key(settings, FIRST_EMAIL, ALL_SCOPES, "first key")
    link = admin.sign_in_link(settings, FIRST_EMAIL)
    sys.stdout.write(json.dumps({"apiKey": key["apiKey"], "signInLink": link["signInLink"]}) + "\n")


KINDS = {"api": run_api, "worker": run_worker, "migrate": run_migrate, "first-key": run_first_key}
# Loaded while the supervisor still prepares the database.
PRELOADED = {"api": ("uvicorn", "app.main"), "worker": ("app.worker",)}


def main() -> None:
    """Run the part of the service that the first argument names, once the supervisor has sent its settings."""
    kind = sys.argv[1]
    watch_parent()
    for module in PRELOADED.get(kind, ()):
        importlib.import_module(module)
    sent = sys.stdin.buffer.read()
    if not sent:  # the supervisor gave up
        return
    os.environ.update(json.loads(sent))
    settings = Settings()
    logs.configure(settings.log_level)
    KINDS[kind](settings)


if __name__ == "__main__":
    main()

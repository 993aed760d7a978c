"""Serves an app factory on an inherited socket: `python -m tests.support.serve module:factory`."""

from __future__ import annotations

import os
import socket
import sys

import uvicorn

from app.child import load
from app.process import LISTEN_FD_ENV, watch_parent
from app.settings import Settings


def main() -> None:
    """Serve until told to stop, with the options of the service's own API process."""
    watch_parent()
    config = uvicorn.Config(
        load(sys.argv[1])(Settings()),
        http=load("app.edge.protocol:BoundedProtocol"),
        loop="uvloop",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    sock = socket.socket(fileno=int(os.environ[LISTEN_FD_ENV]))
    uvicorn.Server(config).run(sockets=[sock])


if __name__ == "__main__":
    main()

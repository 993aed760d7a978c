"""The `ctx` command line: the thin client, and the commands that load the service by name."""

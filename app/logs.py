"""Logs of the service's processes: one JSON object a line, readable lines on a terminal; never bodies or secrets."""

from __future__ import annotations

import logging
import sys

import structlog


def configure(level: str) -> None:
    """Send the standard library's loggers through structlog to standard error."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Tracebacks never show the values of variables: they hold keys and texts.
    exceptions = structlog.processors.ExceptionRenderer(
        structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    )
    final: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if sys.stderr.isatty()
        else [exceptions, structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *final]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    # Only this program is ever heard in detail: libraries would write a line for each line of a document.
    logging.basicConfig(level=max(logging.INFO, logging.getLevelNamesMapping()[level]), handlers=[handler], force=True)
    logging.getLogger("app").setLevel(level)

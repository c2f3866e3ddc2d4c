"""Logging for the standard library and structlog."""

import logging
from typing import Any

import structlog

from annotation.web.requests_known import route_of

SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def as_warning(record: logging.LogRecord) -> bool:
    """A log filter that turns a record into a warning without a traceback."""
    record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
    return True


def without_address(record: logging.LogRecord) -> bool:
    """A log filter that replaces the address in Django's log lines by its route.

    An address may contain the secret of a link.
    """
    request = getattr(record, "request", None)
    if request is not None and isinstance(record.args, tuple):
        record.args = tuple(route_of(request) if each == request.path else each for each in record.args)
    return True


def plain(level: str) -> dict[str, Any]:
    """Build Django's LOGGING for a terminal, for events of at least this level."""
    # Use plain tracebacks. The default may print local variables, such as a judge's key.
    console = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    return _logging(level, [console])


def json_lines(level: str) -> dict[str, Any]:
    """Build Django's LOGGING for a collector, with one JSON object per line, for events of at least this level."""
    return _logging(level, [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()])


def _logging(level: str, rendering: list[structlog.typing.Processor]) -> dict[str, Any]:
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "events": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": SHARED,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
            }
        },
        "filters": {
            "as warning": {"()": lambda: as_warning},
            "without address": {"()": lambda: without_address},
        },
        "handlers": {
            "standard error": {
                "class": "logging.StreamHandler",
                "formatter": "events",
                "filters": ["without address"],
            }
        },
        "root": {"handlers": ["standard error"], "level": level},
        "loggers": {
            # Remove Django's default handlers, which would print the same event twice.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # Django logs requests with a host name that is not allowed as errors with a traceback. Log a warning
            # instead.
            "django.security.DisallowedHost": {"filters": ["as warning"]},
            # Hide the INFO level of httpx2, which logs every request's address: a judge's address may contain a
            # secret.
            "httpx2": {"level": "WARNING"},
            "openai": {"level": "WARNING"},
            # Hide the start-up banner of axes.
            "axes": {"level": "WARNING"},
        },
    }

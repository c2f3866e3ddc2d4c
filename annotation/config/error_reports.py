"""Reports of errors to Sentry or a compatible service, if the operator sets a DSN.

Messages, local variables and bodies may contain texts, names or keys, so a report has only allowed parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

import annotation

if TYPE_CHECKING:
    from sentry_sdk.types import Event, Hint

REPORTED = (
    "event_id",
    "timestamp",
    "level",
    "platform",
    "logger",
    "release",
    "environment",
    "sdk",
    "server_name",
)
REPORTED_OF_FRAME = ("filename", "module", "function", "lineno", "in_app")
CONTEXT = ("request_id", "run", "job")


def report_errors(dsn: str, *, environment: str) -> None:
    """Start to report errors. An empty DSN reports nothing."""
    if not dsn:
        return
    import sentry_sdk  # noqa: PLC0415 - loaded only if it is configured

    sentry_sdk.init(
        dsn=dsn,
        release=f"coverdict@{annotation.__version__}",
        environment=environment,
        before_send=without_texts,
        send_default_pii=False,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        traces_sample_rate=None,
        auto_session_tracking=False,
    )


def without_texts(event: Event, hint: Hint) -> Event:
    """Return the allowed parts of a report."""
    known: dict[str, Any] = dict(event)
    report: dict[str, Any] = {name: known[name] for name in REPORTED if name in known}
    raised = (known.get("exception") or {}).get("values") or ()
    report["exception"] = {"values": [_raised(each) for each in raised]}
    if not raised:
        # Use the message without its arguments.
        report["logentry"] = {"message": str((known.get("logentry") or {}).get("message", ""))}
    bound = structlog.contextvars.get_contextvars()
    report["tags"] = {name: str(bound[name]) for name in CONTEXT if name in bound}
    report["transaction"] = (
        known.get("transaction", "") if known.get("transaction_info", {}).get("source") != "url" else ""
    )
    return report  # type: ignore[return-value]


def _raised(value: dict[str, Any]) -> dict[str, Any]:
    frames = (value.get("stacktrace") or {}).get("frames") or ()
    shown = [{name: frame[name] for name in REPORTED_OF_FRAME if name in frame} for frame in frames]
    return {"type": value.get("type"), "module": value.get("module"), "stacktrace": {"frames": shown}}

"""Requests by route and status, and how long they took, counted in files that all web processes of a machine share.

The files lie in a folder of this server's processes below COVERDICT_VAR; what a server that has ended left is removed.
"""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

from django.conf import settings
from prometheus_client import CollectorRegistry, Counter, Histogram, values
from prometheus_client.multiprocess import MultiProcessCollector

_HERE = socket.gethostname()


def _folder() -> Path:
    """The folder of this group of processes: those of one server, however they were forked."""
    folders = settings.VAR_DIR / "metrics"
    own = folders / f"{_HERE}-{os.getpgid(0)}"
    own.mkdir(parents=True, exist_ok=True)
    for other in folders.glob(f"{_HERE}-*"):
        if other != own and not _lives(other.name.removeprefix(f"{_HERE}-")):
            shutil.rmtree(other, ignore_errors=True)
    return own


def _lives(group: str) -> bool:
    try:
        os.killpg(int(group), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError, OverflowError):
        pass
    return True


FOLDER = _folder()
# The library decides by this variable as it is imported, which something else may have done before.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(FOLDER)
values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call]

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_REQUESTS = Counter("coverdict_requests", "Requests answered.", ("method", "route", "status"), registry=None)
_SECONDS = Histogram(
    "coverdict_request_seconds", "Time until an answer began.", ("route",), buckets=BUCKETS, registry=None
)


def observe(*, method: str, route: str, status: int, seconds: float) -> None:
    """Count one request."""
    known = method if method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} else "other"
    _REQUESTS.labels(known, route, str(status)).inc()
    _SECONDS.labels(route).observe(seconds)


def all_processes() -> CollectorRegistry:
    """What all web processes of this server have counted, as a registry to write out."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(FOLDER))  # type: ignore[no-untyped-call]
    return registry

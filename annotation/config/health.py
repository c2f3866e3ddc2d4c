"""Health checks of the process and of the parts that it needs."""

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.core.jobs import broker_fault, workers_alive
from annotation.operator_commands import as_typed
from annotation.watching.queries import files_fault, missing_migrations


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 without looking at the database."""
    return HttpResponse("ok", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if pages can be served, 503 if the database fails or lacks a migration.

    The JSON has "ok", the fault or "unknown" for each part: database, migrations, broker, worker, files. Faults of the
    last three are only warnings.
    """
    parts = _parts()
    ready = parts["database"] == parts["migrations"] == "ok"
    warnings = {name: parts[name] for name in ("broker", "worker", "files") if parts[name] != "ok"}
    return JsonResponse({"ready": ready, "parts": parts, "warnings": warnings}, status=200 if ready else 503)


def _parts() -> dict[str, str]:
    # Everybody may read this response, so omit the folder's name; administrators see it on the page Status.
    files = "the folder for files is not writable; see the page Status" if files_fault() else "ok"
    apart = {"broker": broker_fault() or "ok", "files": files}
    fault = _database_fault()
    if fault:
        return {"database": fault, "migrations": "unknown", "worker": "unknown", **apart}
    fault = _migrations_fault()
    if fault:
        return {"database": "ok", "migrations": fault, "worker": "unknown", **apart}
    return {"database": "ok", "migrations": "ok", "worker": _worker_fault() or "ok", **apart}


def _database_fault() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "the database does not answer"
    return None


def _migrations_fault() -> str | None:
    missing = missing_migrations()
    return f"{missing} migrations are missing; run {as_typed('migrate')}" if missing else None


def _worker_fault() -> str | None:
    if workers_alive():
        return None
    return f"no worker has reported in the last {settings.WORKER_SILENT_SECONDS} s; start one: {as_typed('worker')}"

"""Two questions from outside: is this process alive, and can it serve pages?"""

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
    """200 while this process answers. For a supervisor, which would mend no database by starting it again."""
    return HttpResponse("ok", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 while pages can be served, 503 where the database fails. For a load balancer or an operator.

    The JSON names each part with "ok" or what is wrong: database, migrations, broker, worker, files. What delays work
    but keeps no page from being served is among the warnings: taking servers away would not help.
    """
    parts = _parts()
    ready = parts["database"] == parts["migrations"] == "ok"
    warnings = {name: parts[name] for name in ("broker", "worker", "files") if parts[name] != "ok"}
    return JsonResponse({"ready": ready, "parts": parts, "warnings": warnings}, status=200 if ready else 503)


def _parts() -> dict[str, str]:
    # Everybody may read this: which folder it is, administrators see under Status.
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

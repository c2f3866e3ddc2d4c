"""Two questions from outside: is this process alive, and can the whole do its work?"""

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError

from annotation.judging.queries.runs import is_worker_alive

BROKER_SECONDS = 2


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while this process answers and its database does; 503 otherwise. For a supervisor."""
    fault = _database_fault()
    return HttpResponse(fault or "ok", content_type="text/plain", status=503 if fault else 200)


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when work can be taken and done; 503 otherwise. For a load balancer or an operator.

    The JSON names each part with "ok" or what is wrong: database, migrations, broker, worker.
    """
    parts = _parts()
    ready = all(state == "ok" for state in parts.values())
    return JsonResponse({"ready": ready, "parts": parts}, status=200 if ready else 503)


def _parts() -> dict[str, str]:
    broker = _broker_fault() or "ok"
    fault = _database_fault()
    if fault:
        return {"database": fault, "migrations": "unknown", "broker": broker, "worker": "unknown"}
    fault = _migrations_fault()
    if fault:
        return {"database": "ok", "migrations": fault, "broker": broker, "worker": "unknown"}
    return {"database": "ok", "migrations": "ok", "broker": broker, "worker": _worker_fault() or "ok"}


def _database_fault() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "the database does not answer"
    return None


def _migrations_fault() -> str | None:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(missing)} migrations are missing; run manage.py migrate" if missing else None


def _broker_fault() -> str | None:
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=BROKER_SECONDS)
    except (OperationalError, OSError):
        return "the broker does not answer"
    return None


def _worker_fault() -> str | None:
    if is_worker_alive():
        return None
    return (
        f"no worker has reported in the last {settings.WORKER_SILENT_SECONDS} s; start one with celery worker"
    )

"""Production settings from the environment. Values that the checks below find unsafe prevent the start.

Required: SECRET_KEY, ALLOWED_HOSTS, DATABASE_URL, CELERY_BROKER_URL. Optional: COVERDICT_VAR, COVERDICT_FILES,
COVERDICT_JUDGE_URLS, COVERDICT_JUDGE_KEYS, COVERDICT_NEW_PROJECTS, COVERDICT_OWN_PORT, EMAIL_URL, DEFAULT_FROM_EMAIL,
CSRF_TRUSTED_ORIGINS, SECURE_SSL_REDIRECT, TRUST_PROXY_HEADER, TRUSTED_PROXIES, SECURE_HSTS_SECONDS,
SECURE_HSTS_INCLUDE_SUBDOMAINS, CONN_MAX_AGE, SERVER_SIDE_CURSORS, LOG_LEVEL, JOB_LEASE_SECONDS,
IMPORT_BACKGROUND_BYTES, WORKER_SILENT_SECONDS, TOKEN_CALLS_PER_MINUTE, CACHE_URL, METRICS_TOKEN, SENTRY_DSN,
SENTRY_ENVIRONMENT, COVERDICT_KEEP_CALLS_DAYS, COVERDICT_KEEP_EXPORTS_DAYS, COVERDICT_KEEP_LOG_DAYS, OIDC_ISSUER,
OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME, OIDC_NEW_ACCOUNTS, SECOND_FACTOR. DEBUG must be off.
"""

import os

from django.core.exceptions import ImproperlyConfigured

from annotation.config import environment, error_reports, logs
from annotation.config.settings.base import *
from annotation.config.settings.base import (
    HASHED_STORAGES,
    METRICS_TOKEN,
    MIDDLEWARE,
    VAR_DIR,
    env,
    shared_cache,
)
from annotation.settings_choice import signs_of_production

SHORTEST_SECRET = 50
FEWEST_LETTERS = 10
PLACEHOLDERS = (
    "django-insecure",
    "known to everybody",  # the secret key of the test settings
    "change",
    "secret",
    "example",
    "default",
    "password",
    "placeholder",
)
DATABASES_KNOWN = ("postgres", "postgresql", "pgsql", "psql", "sqlite")

SECRET_KEY = env.str("SECRET_KEY", default="")
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=[])
DATABASE_URL = env.str("DATABASE_URL", default="")
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="")


def _secret_key_fault(key: str) -> str | None:
    way_out = 'Make one: python3 -c "import secrets; print(secrets.token_urlsafe(64))".'
    if not key:
        return f"SECRET_KEY is not set. {way_out}"
    if key.lower().startswith(PLACEHOLDERS):
        return f"SECRET_KEY is a default or a placeholder, which others know too. {way_out}"
    if len(key) < SHORTEST_SECRET or len(set(key)) < FEWEST_LETTERS:
        return (
            f"SECRET_KEY is too easy to guess: it needs {SHORTEST_SECRET} characters or more, "
            f"{FEWEST_LETTERS} of them different. {way_out}"
        )
    return None


def _hosts_fault(hosts: list[str]) -> str | None:
    if not hosts:
        return "ALLOWED_HOSTS is empty. Name the hosts that people use: ALLOWED_HOSTS=coverdict.example.org."
    if any("*" in host or host.strip(". ") == "" for host in hosts):
        return "ALLOWED_HOSTS is open to every host. Name the hosts that people use instead of a wildcard."
    if any("/" in host or (":" in host and not host.startswith("[")) or "]:" in host for host in hosts):
        return (
            "ALLOWED_HOSTS takes host names without https:// and port: ALLOWED_HOSTS=coverdict.example.org."
        )
    return None


def _debug_fault() -> str | None:
    if env.str("DEBUG", default="").strip().lower() in {"", "0", "false", "no", "off", "n", "f"}:
        return None
    return "DEBUG is on, and its error pages show code and settings to everybody. Unset DEBUG."


def _database_fault(url: str) -> str | None:
    if not url:
        return "DATABASE_URL is not set. Give a PostgreSQL: DATABASE_URL=postgres://user:pass@host/name."
    if url.partition("://")[0] not in DATABASES_KNOWN:
        return "DATABASE_URL names no database that Coverdict runs on. Write postgres://user:pass@host/name."
    if url.startswith("sqlite") and ":memory:" in url:
        return "DATABASE_URL is a database in memory, which forgets everything at the end of the process."
    return None


def _broker_fault(url: str) -> str | None:
    if not url:
        return (
            "CELERY_BROKER_URL is not set. Give a Redis or RabbitMQ: CELERY_BROKER_URL=redis://host:6379/0."
        )
    if url.startswith(("filesystem:", "memory:", "sqla")):
        return (
            f"CELERY_BROKER_URL uses {url.partition(':')[0]}, which loses messages and serves one machine. "
            "Use Redis (redis://) or RabbitMQ (amqp://)."
        )
    return None


def _proxies_fault() -> str | None:
    if not env.bool("TRUST_PROXY_HEADER", default=False) or "TRUSTED_PROXIES" in os.environ:
        return None
    return (
        "TRUST_PROXY_HEADER is set and TRUSTED_PROXIES is not: everybody would have the proxy's address, and one "
        "person's wrong passwords would keep others waiting. Say how many append to X-Forwarded-For: TRUSTED_PROXIES=1."
    )


def _refuse_what_is_unsafe() -> None:
    faults = [
        fault
        for fault in (
            _secret_key_fault(SECRET_KEY),
            _debug_fault(),
            _hosts_fault(ALLOWED_HOSTS),
            _database_fault(DATABASE_URL),
            _broker_fault(CELERY_BROKER_URL),
            _proxies_fault(),
        )
        if fault
    ]
    if faults:
        signs = signs_of_production(os.environ)
        why = f" (chosen because {' and '.join(signs)} {'are' if signs[1:] else 'is'} set)" if signs else ""
        raise ImproperlyConfigured(
            f"Coverdict does not start with these production settings{why}:\n"
            + "\n".join(f"- {fault}" for fault in faults)
        )


_refuse_what_is_unsafe()

DATABASES = {
    "default": environment.database(
        DATABASE_URL,
        keep_seconds=env.int("CONN_MAX_AGE", default=60),
        # SERVER_SIDE_CURSORS must be false behind a pooler in transaction mode; then there are no prepared statements
        # either.
        server_side_cursors=env.bool("SERVER_SIDE_CURSORS", default=True),
    )
}
if METRICS_TOKEN:
    MIDDLEWARE = [
        "django_prometheus.middleware.PrometheusBeforeMiddleware",
        *MIDDLEWARE,
        "django_prometheus.middleware.PrometheusAfterMiddleware",
    ]
    kind = "sqlite3" if DATABASES["default"]["ENGINE"].endswith("sqlite3") else "postgresql"
    DATABASES["default"]["ENGINE"] = f"django_prometheus.db.backends.{kind}"
CACHES = shared_cache(DATABASES["default"])
CELERY_BROKER_TRANSPORT_OPTIONS = environment.broker_options(CELERY_BROKER_URL, VAR_DIR / "queue")
CELERY_WORKER_ENABLE_REMOTE_CONTROL = True

STORAGES = HASHED_STORAGES

CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", default=[])
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=True)
# Allow plain HTTP for health probes and figures.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=False)
if env.bool("TRUST_PROXY_HEADER", default=False):
    # Trust this header only behind a proxy that sets it itself; otherwise any browser could set it.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    TRUST_REQUEST_ID = True
# These checks are silenced, because the owner of the domain decides about subdomains and preload lists.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# The service for error reports in Sentry's protocol; none by default.
error_reports.report_errors(
    env.str("SENTRY_DSN", default=""), environment=env.str("SENTRY_ENVIRONMENT", default="production")
)

LOGGING = logs.json_lines(env.str("LOG_LEVEL", default="INFO"))

"""Converting environment variables to settings: database, broker, cache, files, secrets."""

import os
import re
import secrets
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

SQLITE_OPTIONS: dict[str, Any] = {
    # IMMEDIATE takes the write lock at BEGIN, so that a second writer waits instead of failing later.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # Each connection has a page cache of at most 8 MB.
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA cache_size=-8192;PRAGMA temp_store=MEMORY"
    ),
}
POSTGRESQL_CONNECT_SECONDS = 5
USES_BEFORE_PREPARED = 5
FILESYSTEM_POLL_SECONDS = 0.1
BROKER_SOCKET_SECONDS = 30
REDIS = ("redis://", "rediss://")
CACHE_SECONDS = 0.5
"""The time limit in seconds for connecting to the cache and for its answers."""
MOST_CACHED = 20_000
"""`MAX_ENTRIES` of the cache in the database."""

SHORTEST_TOKEN = 20
MOST_IN_MEMORY = 2 * 1024**2
"""Larger files from object storage are buffered on disk."""

ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
EMAIL_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
NOT_FOR_JUDGES = (
    "SECRET_KEY",
    "DATABASE_URL",
    "CELERY_BROKER_URL",
    "CACHE_URL",
    "AWS_SECRET_ACCESS_KEY",
    "EMAIL_URL",
    "METRICS_TOKEN",
    "SENTRY_DSN",
    "OIDC_CLIENT_SECRET",
)
"""Variables that must not be sent to a judge as its key."""


def database(url: str, *, keep_seconds: int = 0, server_side_cursors: bool = True) -> dict[str, Any]:
    """Build Django's settings for the database that a URL names.

    SQLite gets write-ahead logging and immediate transactions. Threads keep their connections to SQLite.

    A PostgreSQL host may be a socket folder, written `postgres://user@%2Frun%2Fpostgresql/name` as in libpq. A
    connection to PostgreSQL stays open for `keep_seconds`. Behind a pooler in transaction mode, `server_side_cursors`
    must be False. Then there are no prepared statements either.
    """
    config: dict[str, Any] = dict(environ.Env.db_url_config(url))
    options = dict(config.get("OPTIONS") or {})
    if config["ENGINE"].endswith("sqlite3"):
        return {**config, "OPTIONS": {**SQLITE_OPTIONS, **options}, "CONN_MAX_AGE": None}
    return {
        **config,
        "HOST": unquote(str(config.get("HOST") or "")),
        "OPTIONS": {
            "connect_timeout": POSTGRESQL_CONNECT_SECONDS,
            # A pooler that exchanges connections would lose prepared statements.
            "prepare_threshold": USES_BEFORE_PREPARED if server_side_cursors else None,
            **options,
        },
        "CONN_MAX_AGE": keep_seconds,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": not server_side_cursors,
    }


def broker_options(url: str, queue_folder: Path) -> dict[str, Any]:
    """Build the transport options of Celery's broker, and create the folders of the filesystem transport."""
    if not url.startswith("filesystem:"):
        return {"socket_timeout": BROKER_SOCKET_SECONDS, "socket_keepalive": True} if "redis" in url else {}
    folders = {name: queue_folder / name for name in ("messages", "control")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return {
        "polling_interval": FILESYSTEM_POLL_SECONDS,
        "data_folder_in": str(folders["messages"]),
        "data_folder_out": str(folders["messages"]),
        "control_folder": folders["control"],
    }


def caches(url: str, *, broker: str, database: dict[str, Any]) -> dict[str, Any]:
    """Build Django's cache settings: the Redis at `url`, or the broker's Redis, or a table of the database.

    Without Redis, SQLite has a cache in the memory of each process. Raises ImproperlyConfigured if `url` is not a Redis
    address.
    """
    if url and not url.startswith(REDIS):
        raise ImproperlyConfigured("CACHE_URL names no Redis. Write redis://host:6379/1.")
    if found := url or (broker if broker.startswith(REDIS) else ""):
        waits = {"socket_timeout": CACHE_SECONDS, "socket_connect_timeout": CACHE_SECONDS}
        redis = {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": found,
            "OPTIONS": waits,
        }
        return {"default": {**redis, "KEY_PREFIX": "coverdict"}}
    if database["ENGINE"].endswith("sqlite3"):
        return {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    table = {"BACKEND": "annotation.config.table_cache.TableCache", "LOCATION": "annotation_cachedvalue"}
    return {"default": {**table, "OPTIONS": {"MAX_ENTRIES": MOST_CACHED}}}


def kept_files(place: str) -> dict[str, Any]:
    """Build Django's settings for storing files in a folder or in object storage.

    An example of object storage is "s3://bucket/prefix?endpoint=https://host&region=name". The keys of the storage
    come from `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or the machine's role. Raises ImproperlyConfigured for
    another kind of address.
    """
    url = urlsplit(place)
    if not url.scheme:
        options: dict[str, Any] = {"location": place, "allow_overwrite": True, "file_permissions_mode": 0o600}
        return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
    if url.scheme != "s3" or not url.netloc or asked.keys() - {"endpoint", "region"}:
        raise ImproperlyConfigured(
            "COVERDICT_FILES is a folder, or s3://bucket/prefix?endpoint=https://host&region=name, "
            f"not {place!r}. Keys stand in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    options = {
        "bucket_name": url.netloc,
        "location": url.path.strip("/"),
        "endpoint_url": asked.get("endpoint"),
        "region_name": asked.get("region"),
        "addressing_style": "path" if "endpoint" in asked else None,
        "file_overwrite": True,
        "max_memory_size": MOST_IN_MEMORY,
    }
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {name: value for name, value in options.items() if value is not None},
    }


def kept_secret(path: Path) -> str:
    """Read the secret in this file. The first call creates the file.

    Two processes that start at the same time get the same secret, because only one of them can create the link to the
    file. Only the owner can read the file.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "w") as file:
                file.write(secrets.token_urlsafe(64))
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            Path(fresh).unlink()
    return path.read_text().strip()


def one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    """Return the value if it is one of the `known` words. Otherwise raises ImproperlyConfigured."""
    if value not in known:
        raise ImproperlyConfigured(f"{name} is {' or '.join(known)}, not {value!r}.")
    return value


def token(name: str, value: str) -> str:
    """Return the value if it is empty or long enough for a secret. Otherwise raises ImproperlyConfigured."""
    if value and len(value) < SHORTEST_TOKEN:
        raise ImproperlyConfigured(
            f"{name} needs {SHORTEST_TOKEN} characters or more: make it long and random."
        )
    return value


def count(name: str, value: str) -> int:
    """Return the value as a whole number of 0 or more. Otherwise raises ImproperlyConfigured."""
    if not (value.isascii() and value.isdigit()):
        raise ImproperlyConfigured(f"{name} is a number, 0 or more, not {value!r}.")
    return int(value)


def mail(url: str, sender: str) -> dict[str, Any]:
    """Build Django's settings for a mail server from a URL such as "smtp+tls://user:password@mail.example.org:587".

    An empty URL gives no settings. Raises ImproperlyConfigured for an invalid URL or a missing sender.
    """
    if not url:
        return {}
    if "@" not in sender:
        raise ImproperlyConfigured(
            "EMAIL_URL needs DEFAULT_FROM_EMAIL beside it: the address that mail comes from."
        )
    try:
        config: dict[str, Any] = dict(environ.Env.email_url_config(url))
    except (ImproperlyConfigured, ValueError):
        # Do not quote the URL, because it may contain a password.
        raise ImproperlyConfigured(
            "EMAIL_URL names no mail server. Write smtp+tls://user:password@host:587."
        ) from None
    return {name: value for name, value in config.items() if name.startswith("EMAIL_") and value is not None}


def single_sign_on(issuer: str, client_id: str, client_secret: str, name: str) -> dict[str, Any]:
    """Build django-allauth's settings for an OpenID Connect provider; empty if no provider is configured.

    Raises ImproperlyConfigured if values are missing, or if the issuer is no https:// address (http:// of this machine
    is allowed).
    """
    named = {"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": client_id, "OIDC_CLIENT_SECRET": client_secret}
    missing = [name for name, value in named.items() if not value]
    if missing and len(missing) < len(named):
        raise ImproperlyConfigured(f"Single sign-on needs {' and '.join(missing)} too.")
    url = urlsplit(issuer)
    is_here = url.scheme == "http" and url.hostname in ("127.0.0.1", "localhost", "::1")
    if issuer and not (is_here or (url.scheme == "https" and url.hostname)):
        raise ImproperlyConfigured("OIDC_ISSUER is the https:// address of the provider.")
    provider = {
        "provider_id": "sso",
        "name": name,
        "client_id": client_id,
        "secret": client_secret,
        "settings": {"server_url": issuer, "oauth_pkce_enabled": True},
    }
    return {"openid_connect": {"APPS": [provider]}} if issuer else {}


def new_accounts(entries: list[str]) -> list[str]:
    """Return the rules for new accounts by single sign-on, in lower case. A rule is the word "invited" or an e-mail
    domain.

    Raises ImproperlyConfigured for any other rule.
    """
    known = [entry.strip().lower() for entry in entries if entry.strip()]
    for entry in known:
        if entry != "invited" and not EMAIL_DOMAIN.fullmatch(entry):
            raise ImproperlyConfigured(
                f"OIDC_NEW_ACCOUNTS names e-mail domains and the word invited, not {entry!r}."
            )
    return known


def judge_urls(entries: list[str]) -> list[str]:
    """Return the base URLs that judges may call. Raises ImproperlyConfigured for an invalid one. `:*` allows every port
    of this machine and is refused for other hosts. The message has the position of the URL.
    """
    from evaluation.judging.openai import ANY_PORT, base_url_fault  # noqa: PLC0415 - commands need no judge

    for place, entry in enumerate(entries, start=1):
        if fault := base_url_fault(entry.replace(ANY_PORT, "", 1)):
            raise ImproperlyConfigured(f"COVERDICT_JUDGE_URLS, entry {place}: {fault}")
        if ANY_PORT in entry and urlsplit(entry.replace(ANY_PORT, "", 1)).hostname not in LOOPBACK:
            raise ImproperlyConfigured(
                f"COVERDICT_JUDGE_URLS, entry {place}: only this machine may be named with every port. Name the port."
            )
    return entries


def judge_keys(entries: list[str]) -> dict[str, list[str]]:
    """Parse the entries that bind environment variables to base URLs: a key is sent only to the URLs of its variable.

    An entry is "OPENAI_API_KEY=https://api.openai.com/v1"; a variable may have several entries. Raises
    ImproperlyConfigured for an invalid entry and for a secret in `NOT_FOR_JUDGES`.
    """
    from evaluation.judging.openai import base_url_fault  # noqa: PLC0415 - as above

    bound: dict[str, list[str]] = {}
    for entry in filter(None, map(str.strip, entries)):
        name, _, url = (part.strip() for part in entry.partition("="))
        if not ENVIRONMENT_NAME.fullmatch(name) or not url.startswith(("http://", "https://")):
            shown = name if ENVIRONMENT_NAME.fullmatch(name) else "an entry"
            raise ImproperlyConfigured(
                f"COVERDICT_JUDGE_KEYS: {shown} binds no variable to a base URL. Write NAME=https://host/path, parted "
                "by commas; the key itself stays in the environment."
            )
        if fault := base_url_fault(url):
            raise ImproperlyConfigured(f"COVERDICT_JUDGE_KEYS: {name}: {fault}")
        if name in NOT_FOR_JUDGES:
            raise ImproperlyConfigured(
                f"COVERDICT_JUDGE_KEYS: {name} is a secret of this installation, not the key of a judge."
            )
        bound.setdefault(name, []).append(url)
    return bound

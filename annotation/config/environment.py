"""What the settings make of environment variables: a database, a broker, a key that is kept."""

import os
import re
import secrets
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ
from django.core.exceptions import ImproperlyConfigured

SQLITE_OPTIONS: dict[str, Any] = {
    # IMMEDIATE takes the write lock at BEGIN, so that two writers wait for each other instead of failing.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA cache_size=-65536;PRAGMA temp_store=MEMORY"
    ),
}
POSTGRESQL_CONNECT_SECONDS = 5
USES_BEFORE_PREPARED = 5
FILESYSTEM_POLL_SECONDS = 0.1
BROKER_SOCKET_SECONDS = 30

ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
NOT_FOR_JUDGES = ("SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL")
"""Secrets of the installation itself: a judge would be sent them as its key."""


def database(url: str, *, keep_seconds: int = 0, server_side_cursors: bool = True) -> dict[str, Any]:
    """Django's settings for the database that a URL names.

    SQLite gets write-ahead logging and immediate transactions, and each thread keeps its connection: the last
    one to close would write the whole log back, at every request. A PostgreSQL host may be a socket folder,
    written `postgres://user@%2Frun%2Fpostgresql/name` as libpq does. `keep_seconds` keeps its connections open;
    `server_side_cursors` is False behind a pooler in transaction mode, which knows no prepared statements either.
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
            # For statements by hand that ask for it; a pooler that swaps connections would lose them.
            "prepare_threshold": USES_BEFORE_PREPARED if server_side_cursors else None,
            **options,
        },
        "CONN_MAX_AGE": keep_seconds,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": not server_side_cursors,
    }


def broker_options(url: str, queue_folder: Path) -> dict[str, Any]:
    """Transport options for Celery's broker; makes the folders that the filesystem transport needs."""
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


def kept_secret(path: Path) -> str:
    """The secret in this file, made at the first call and the same ever after.

    Two processes that start at once agree: the first link wins. The file is readable by its owner only.
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
    """The value of a variable, which is one of some words. Raises ImproperlyConfigured for another."""
    if value not in known:
        raise ImproperlyConfigured(f"{name} is {' or '.join(known)}, not {value!r}.")
    return value


def count(name: str, value: str) -> int:
    """The value of a variable that counts something. Raises ImproperlyConfigured for what is no number of 0 or more."""
    if not (value.isascii() and value.isdigit()):
        raise ImproperlyConfigured(f"{name} is a number, 0 or more, not {value!r}.")
    return int(value)


def mail(url: str, sender: str) -> dict[str, Any]:
    """Django's settings for the mail server that a URL names, such as "smtp+tls://user:password@mail.example.org:587".

    Nothing for an empty URL. Raises ImproperlyConfigured for one that names none, or without a sender.
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
        # The URL holds a password, so it is not repeated.
        raise ImproperlyConfigured(
            "EMAIL_URL names no mail server. Write smtp+tls://user:password@host:587."
        ) from None
    return {name: value for name, value in config.items() if name.startswith("EMAIL_") and value is not None}


def judge_keys(entries: list[str]) -> dict[str, list[str]]:
    """The base URLs that each variable's key may be sent to, of entries such as "OPENAI_API_KEY=https://api.openai.com/v1".

    A variable that is named again is bound to each of its URLs. Raises ImproperlyConfigured for an entry that binds
    nothing and for a secret of the installation itself; the message repeats no more of it than the name.
    """
    bound: dict[str, list[str]] = {}
    for entry in filter(None, map(str.strip, entries)):
        name, _, url = (part.strip() for part in entry.partition("="))
        if not ENVIRONMENT_NAME.fullmatch(name) or not url.startswith(("http://", "https://")):
            shown = name if ENVIRONMENT_NAME.fullmatch(name) else "an entry"
            raise ImproperlyConfigured(
                f"COVERDICT_JUDGE_KEYS: {shown} binds no variable to a base URL. Write NAME=https://host/path, parted "
                "by commas; the key itself stays in the environment."
            )
        if name in NOT_FOR_JUDGES:
            raise ImproperlyConfigured(
                f"COVERDICT_JUDGE_KEYS: {name} is a secret of this installation, not the key of a judge."
            )
        bound.setdefault(name, []).append(url)
    return bound

"""The commands of an installation: their names, how an operator types them, and how they are run."""

from __future__ import annotations

import errno
import math
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

SERVER_COMMANDS: Mapping[str, str] = {
    "demo": "serve the sample project on this machine",
    "serve": "serve the application with gunicorn",
    "worker": "process runs, imports, exports and statistics",
    "migrate": "bring the database's tables up to date",
    "setup_link": "print the link to create the first account",
    "reset_link": "print a password reset link",
    "reset_second_factor": "remove a lost second factor",
    "add_member": "give a person roles in a project",
    "import_dataset": "import files into a project",
    "evaluate": "run a judge on a project",
    "watch": "say whether a watched stream got worse or its judge changed",
    "leaderboard": "show a project's systems with their means",
    "export_dataset": "export one level of a project's data",
    "erase_person": "remove a person's data",
    "verify_scores": "recompute and verify stored scores",
}
"""A line of help for each command of the application, by name."""


def as_typed(name: str, *words: str) -> str:
    """Write a command as an operator types it: `coverdict ...` if the program is installed,
    otherwise with manage.py.
    """
    from django.conf import settings  # noqa: PLC0415 - `coverdict gate` runs without Django

    program = "coverdict" if settings.IS_INSTALLED else ".venv/bin/python manage.py"
    return " ".join((program, name, *words))


def execute(words: Sequence[str], *, makes_tables: bool = False) -> int:
    """Run a Django command from its arguments, of which the first is the program.

    Returns 0, or 1 after advice about a fault of settings, database or files. A CommandError ends the process. With
    `makes_tables`, the tables of an empty SQLite database are created first.
    """
    import django  # noqa: PLC0415 - see above
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415
    from django.core.management import call_command, execute_from_command_line  # noqa: PLC0415
    from django.db import Error, connection  # noqa: PLC0415

    try:
        # Call this inside the try block, because Django itself would print a traceback for a refusal.
        django.setup()
        if makes_tables and connection.vendor == "sqlite" and not connection.introspection.table_names():
            call_command("migrate", interactive=False, verbosity=0)
        execute_from_command_line(list(words))
    except ImproperlyConfigured as refusal:
        message = str(refusal)
    except Error as error:
        if "--traceback" in words or not (found := _database_fault(error)):
            raise
        message = found
    except OSError as error:
        if "--traceback" in words or not (found := _file_fault(error, words)):
            raise
        message = found
    else:
        return 0
    sys.stderr.write(f"{message}\n")
    return 1


def _database_fault(error: Exception) -> str | None:
    from django.db import InterfaceError, OperationalError  # noqa: PLC0415 - see above

    reason = str(error).partition("\n")[0]
    if getattr(error.__cause__, "sqlstate", "") in MISSING_IN_TABLES or "no such" in reason:
        return (
            f"The database has no tables yet, or those of another version. Run {as_typed('migrate')}. If that changes "
            "nothing, move the database away and start with a new one."
        )
    if isinstance(error, OperationalError | InterfaceError):
        return f"The database does not respond as it should: {reason}. Check DATABASE_URL, and that the server runs."
    return None


def _file_fault(error: OSError, words: Sequence[str]) -> str | None:
    from django.conf import settings  # noqa: PLC0415 - see above

    if error.filename is None:
        return f"{NO_SPACE} Free some, then repeat the command." if error.errno == errno.ENOSPC else None
    path = Path(str(error.filename)).absolute()
    typed = [word for word in words if _comes_to(path, Path(word).absolute())]
    name = max(typed, key=len, default=str(path))
    fault = {
        errno.EACCES: f"The user {own_user()} has no access to {name}. Change the permissions of the file and its "
        "folders, or use a folder that this user can read and write.",
        errno.ENOENT: f"{name} does not exist.",
        errno.ENOSPC: f"{name} cannot be written. {NO_SPACE}",
        errno.EROFS: f"{name} cannot be written: its file system is read-only. Use another folder.",
    }.get(error.errno or 0, f"{name}: {error.strerror}.")
    is_kept = not typed and path.is_relative_to(settings.VAR_DIR)
    return f"{fault} COVERDICT_VAR names the folder {settings.VAR_DIR}." if is_kept else fault


def _comes_to(path: Path, typed: Path) -> bool:
    """Return True for the file that the operator typed, and for its temporary file in the same folder."""
    beside = path.is_relative_to(typed.parent) and str(path.relative_to(typed.parent))
    return path == typed or bool(beside and beside.startswith(f".{typed.name}."))


NO_SPACE = "No space is left on the disk."


def own_user() -> str:
    """Return the name of the user who runs the process, or the user's number if there is no name."""
    import pwd  # noqa: PLC0415 - `coverdict gate` also runs on systems without it

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


MISSING_IN_TABLES = ("42P01", "42703")
"""PostgreSQL's codes for a missing table and column."""


def add_summarization(
    parser: ArgumentParser,
    *,
    threshold: float | None = None,
    strict: bool | None = None,
    scale: float | None = None,
) -> None:
    """Add the options `--threshold`, `--strict` and `--scale` to the parser, with these defaults."""
    parser.add_argument(
        "--threshold",
        type=_number("a share from 0 to 1", lambda value: 0 <= value <= 1),
        default=threshold,
        metavar="SHARE",
        help="summarization passes if the lower of its parts reaches this",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        default=strict,
        help="summarization is the scale if both parts are 1, else 0",
    )
    parser.add_argument(
        "--scale",
        type=_number("a number above 0", lambda value: 0 < value < math.inf),
        metavar="NUMBER",
        default=scale,
        help="summarization is multiplied by this",
    )


def _number(form: str, is_good: Callable[[float], bool]) -> Callable[[str], float]:
    def read(argument: str) -> float:
        try:
            value = float(argument)
        except ValueError:
            value = math.nan
        if not is_good(value):
            raise ArgumentTypeError(f"write {form}, not {argument!r}")
        return value

    return read

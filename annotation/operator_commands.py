"""The commands of an installation: their names, how an operator types one, and how one is run."""

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
    "leaderboard": "show a project's systems with their means",
    "export_dataset": "export one level of a project's data",
    "erase_person": "remove a person's data",
    "verify_scores": "recompute and verify stored scores",
}
"""What each command of the application does, by its name."""


def as_typed(name: str, *words: str) -> str:
    """The line that runs a command: by `coverdict` where that is installed, else by manage.py."""
    from django.conf import settings  # noqa: PLC0415 - `coverdict gate` runs without Django

    program = "coverdict" if settings.IS_INSTALLED else ".venv/bin/python manage.py"
    return " ".join((program, name, *words))


def execute(words: Sequence[str], *, makes_tables: bool = False) -> int:
    """Run a command of Django as typed, program first; 1, and what to do, where settings, database or files prevent it.

    With `makes_tables` an empty database of SQLite gets its tables before.
    """
    import django  # noqa: PLC0415 - see above
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415
    from django.core.management import call_command, execute_from_command_line  # noqa: PLC0415
    from django.db import Error, connection  # noqa: PLC0415

    try:
        # Here: Django itself would tell of a refusal with a trace.
        django.setup()
        if makes_tables and connection.vendor == "sqlite" and not connection.introspection.table_names():
            call_command("migrate", interactive=False, verbosity=0)
        execute_from_command_line(list(words))
    except ImproperlyConfigured as refusal:
        told = str(refusal)
    except Error as error:
        if "--traceback" in words or not (found := _database_fault(error)):
            raise
        told = found
    except OSError as error:
        if "--traceback" in words or not (found := _file_fault(error, words)):
            raise
        told = found
    else:
        return 0
    sys.stderr.write(f"{told}\n")
    return 1


def _database_fault(error: Exception) -> str | None:
    """What an operator can do about an error of the database; None where it is the program's own."""
    from django.db import InterfaceError, OperationalError  # noqa: PLC0415 - see above

    said = str(error).partition("\n")[0]
    if getattr(error.__cause__, "sqlstate", "") in MISSING_IN_TABLES or "no such" in said:
        return (
            f"The database has no tables yet, or those of another version. Run {as_typed('migrate')}. If that changes "
            "nothing, move the database away and start with a new one."
        )
    if isinstance(error, OperationalError | InterfaceError):
        return f"The database does not respond as it should: {said}. Check DATABASE_URL, and that the server runs."
    return None


def _file_fault(error: OSError, words: Sequence[str]) -> str | None:
    """What an operator can do about a file that the system refuses; None where the error is of something else."""
    from django.conf import settings  # noqa: PLC0415 - see above

    if error.filename is None:
        return f"{NO_SPACE} Free some, then repeat the command." if error.errno == errno.ENOSPC else None
    path = Path(str(error.filename)).absolute()
    typed = [word for word in words if _comes_to(path, Path(word).absolute())]
    told = max(typed, key=len, default=str(path))
    fault = {
        errno.EACCES: f"The user {own_user()} has no access to {told}. Change the permissions of the file and its "
        "folders, or use a folder that this user can read and write.",
        errno.ENOENT: f"{told} does not exist.",
        errno.ENOSPC: f"{told} cannot be written. {NO_SPACE}",
        errno.EROFS: f"{told} cannot be written: its file system is read-only. Use another folder.",
    }.get(error.errno or 0, f"{told}: {error.strerror}.")
    is_kept = not typed and path.is_relative_to(settings.VAR_DIR)
    return f"{fault} COVERDICT_VAR names the folder {settings.VAR_DIR}." if is_kept else fault


def _comes_to(path: Path, typed: Path) -> bool:
    """Whether it is the typed file, or what becomes it: that has a name made of its own in the same folder."""
    beside = path.is_relative_to(typed.parent) and str(path.relative_to(typed.parent))
    return path == typed or bool(beside and beside.startswith(f".{typed.name}."))


NO_SPACE = "No space is left on the disk."


def own_user() -> str:
    """The name of the system's user that this process runs as; its number where it has no name."""
    import pwd  # noqa: PLC0415 - `coverdict gate` runs where there is none

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


MISSING_IN_TABLES = ("42P01", "42703")
"""PostgreSQL's codes for a table and a column that are not there."""


def add_summarization(
    parser: ArgumentParser,
    *,
    threshold: float | None = None,
    strict: bool | None = None,
    scale: float | None = None,
) -> None:
    """Add the options `--threshold`, `--strict` and `--scale` with these defaults."""
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
        help="summarization is the scale where both parts are 1, else 0",
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

"""The commands of an installation: what `coverdict` calls them, and how an operator types one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class ServerCommand(NamedTuple):
    """A command of the application: its name in Django, and what it does."""

    name: str
    does: str


SERVER_COMMANDS: Mapping[str, ServerCommand] = {
    "demo": ServerCommand("demo", "serve the sample projects on this machine"),
    "serve": ServerCommand("serve", "serve the application with gunicorn"),
    "worker": ServerCommand("worker", "process runs, imports, exports and statistics"),
    "migrate": ServerCommand("migrate", "bring the database's tables up to date"),
    "setup-link": ServerCommand("setup_link", "print the link to create the first account"),
    "reset-link": ServerCommand("reset_link", "print a password reset link"),
    "reset-second-factor": ServerCommand("reset_second_factor", "remove a lost second factor"),
    "add-member": ServerCommand("add_member", "give a person roles in a project"),
    "import": ServerCommand("import_dataset", "import files into a project"),
    "evaluate": ServerCommand("evaluate", "run a judge on a project"),
    "leaderboard": ServerCommand("leaderboard", "show a project's systems with their means"),
    "export": ServerCommand("export_dataset", "export one level of a project's data"),
    "backup": ServerCommand("backup", "back up the installation to one file"),
    "restore": ServerCommand("restore", "restore a backup into an empty database"),
    "erase-person": ServerCommand("erase_person", "remove a person's data"),
    "apply-erasures": ServerCommand("apply_erasures", "repeat the erasures of the journal"),
    "apply-retention": ServerCommand("apply_retention", "remove what is older than it may be kept"),
    "verify": ServerCommand("verify_scores", "recompute and verify stored scores"),
}
"""By what `coverdict` calls them."""


def as_typed(name: str, *words: str) -> str:
    """The line that runs Django's command of this name: by `coverdict` where that is installed, else by manage.py."""
    from django.conf import settings  # noqa: PLC0415 - `coverdict gate` runs without Django

    if not settings.IS_INSTALLED:
        return " ".join((".venv/bin/python manage.py", name, *words))
    (called,) = (called for called, command in SERVER_COMMANDS.items() if command.name == name)
    return " ".join(("coverdict", called, *words))

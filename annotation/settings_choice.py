"""Choosing the settings of a process before Django is imported."""

import os
from collections.abc import Mapping

SETTINGS = "annotation.config.settings."
LOCAL = SETTINGS + "local"
PRODUCTION = SETTINGS + "production"
ONLY_ON_ONE_MACHINE = "demo"
"""The command for which the environment does not choose production settings."""


def name_settings(command: str = "", *, otherwise: str = LOCAL) -> None:
    """Set the settings module, unless the environment sets it.

    If the environment suggests that the server has other users, the module is production, except for the command
    `demo`. In all other cases it is `otherwise`.
    """
    chosen = PRODUCTION if command != ONLY_ON_ONE_MACHINE and signs_of_production(os.environ) else otherwise
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", chosen)


def signs_of_production(environment: Mapping[str, str]) -> list[str]:
    """List the variables that suggest that Coverdict serves other people than this machine's user."""
    signs = [name for name in ("ALLOWED_HOSTS", "CELERY_BROKER_URL") if environment.get(name)]
    if environment.get("DATABASE_URL", "").startswith(("postgres", "pgsql", "psql")):
        signs.append("DATABASE_URL")
    return signs

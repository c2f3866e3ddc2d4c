"""Which settings a process runs with, before any of Django is loaded."""

import os
from collections.abc import Mapping

SETTINGS = "annotation.config.settings."
LOCAL = SETTINGS + "local"
PRODUCTION = SETTINGS + "production"
ONLY_ON_ONE_MACHINE = "demo"
"""The command that never runs in production, whatever the environment says: anybody may sign in there as anybody."""


def name_settings(command: str = "", *, otherwise: str = LOCAL) -> None:
    """Name the settings in the environment, unless it names them: production's where it says that others are served."""
    chosen = PRODUCTION if command != ONLY_ON_ONE_MACHINE and signs_of_production(os.environ) else otherwise
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", chosen)


def signs_of_production(environment: Mapping[str, str]) -> list[str]:
    """The variables by which the environment says that Coverdict serves others than this machine's user."""
    signs = [name for name in ("ALLOWED_HOSTS", "CELERY_BROKER_URL") if environment.get(name)]
    if environment.get("DATABASE_URL", "").startswith(("postgres", "pgsql", "psql")):
        signs.append("DATABASE_URL")
    return signs

"""The demo's settings, with one address more: a save that does nothing but save."""

from annotation.config.settings.base import PLAIN_STORAGES, env
from annotation.config.settings.demo import *  # noqa: F403
from annotation.config.settings.local import DATABASES

ROOT_URLCONF = "tests.bench._bare_save"
# Static files are not what is measured, and collecting them takes longer than the rest.
STORAGES = PLAIN_STORAGES
if DATABASES["default"]["ENGINE"].endswith("postgresql"):
    # As in production: the demo's settings do not expect a PostgreSQL.
    DATABASES["default"]["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=60)

"""The demo's settings, with a PostgreSQL whose connections stay open as in production."""

from annotation.config.settings.base import PLAIN_STORAGES, env
from annotation.config.settings.demo import *  # noqa: F403
from annotation.config.settings.local import DATABASES

# Static files are not measured, and collecting them would take longer than the rest.
STORAGES = PLAIN_STORAGES
DATABASES["default"]["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=60)

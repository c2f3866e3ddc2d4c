"""The demo's settings, with connections to the database that stay open."""

from annotation.config.settings.base import PLAIN_STORAGES, env
from annotation.config.settings.demo import *  # noqa: F403
from annotation.config.settings.local import DATABASES

# Static files are not measured.
STORAGES = PLAIN_STORAGES
DATABASES["default"]["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=60)

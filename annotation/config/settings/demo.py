"""Settings of `make demo`: the local settings with one-click sign-in."""

from annotation.config import logs
from annotation.config.settings.base import DEMO_HOST, HASHED_STORAGES, env
from annotation.config.settings.local import *

DEBUG = False
DEMO_SIGN_IN = True
COVERDICT_NEW_PROJECTS = "everybody"
ALLOWED_HOSTS = [DEMO_HOST, "localhost"]

STORAGES = HASHED_STORAGES
WHITENOISE_USE_FINDERS = False
WHITENOISE_AUTOREFRESH = False

# Print only problems, because all processes share one terminal.
LOGGING = logs.plain(env.str("LOG_LEVEL", default="WARNING"))

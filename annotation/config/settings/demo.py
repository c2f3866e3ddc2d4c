"""`make demo`: local, on this machine alone, with its people one click away."""

from annotation.config.settings.base import DEMO_HOST, HASHED_STORAGES
from annotation.config.settings.local import *

DEBUG = False
DEMO_SIGN_IN = True
ALLOWED_HOSTS = [DEMO_HOST, "localhost"]

STORAGES = HASHED_STORAGES
WHITENOISE_USE_FINDERS = False
WHITENOISE_AUTOREFRESH = False

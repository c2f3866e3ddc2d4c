"""Settings for one machine, without one-click sign-in."""

from annotation.config import environment, logs
from annotation.config.settings.base import *
from annotation.config.settings.base import (
    COVERDICT_JUDGE_KEYS,
    COVERDICT_JUDGE_URLS,
    VAR_DIR,
    embedded_services,
    env,
)

# With DEBUG, Django keeps queries in memory, so it is off by default.
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="") or environment.kept_secret(VAR_DIR / "secret_key")
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
# By default, judges may call this machine and OpenAI. The environment adds further URLs.
COVERDICT_JUDGE_URLS = [
    *("http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*", "https://api.openai.com"),
    *COVERDICT_JUDGE_URLS,
]
COVERDICT_JUDGE_KEYS = {"OPENAI_API_KEY": ["https://api.openai.com/v1"], **COVERDICT_JUDGE_KEYS}

_embedded = embedded_services()
DATABASES = _embedded["DATABASES"]
CACHES = _embedded["CACHES"]
CELERY_BROKER_TRANSPORT_OPTIONS = _embedded["CELERY_BROKER_TRANSPORT_OPTIONS"]

# Find changed files under static/ at the next reload, without collecting them.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True

LOGGING = logs.plain(env.str("LOG_LEVEL", default="INFO"))

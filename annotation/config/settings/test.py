"""Settings of the tests. tests/conftest.py sets the database and the folder for files."""

from annotation.config import logs
from annotation.config.settings.base import *
from annotation.config.settings.base import STATIC_ROOT, VAR_DIR, embedded_services

SECRET_KEY = "known to everybody, and good for tests alone: it guards nothing"
ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
COVERDICT_JUDGE_URLS = ["http://127.0.0.1:*", "http://localhost:*"]
COVERDICT_JUDGE_KEYS = dict.fromkeys(("SCRIPTED_KEY", "REMOTE_KEY", "A_KEY", "TWO_KEY"), COVERDICT_JUDGE_URLS)

_embedded = embedded_services()
DATABASES = _embedded["DATABASES"]
CELERY_BROKER_TRANSPORT_OPTIONS = _embedded["CELERY_BROKER_TRANSPORT_OPTIONS"]
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # Use a database file as in the demo: SQLite in memory has no write-ahead log and allows only one process.
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# axes is off: `client.login` has no request, so failures cannot be counted. Tests of the lock turn it on.
AXES_ENABLED = False

# WhiteNoise warns if this folder is missing. The live server finds static files itself.
STATIC_ROOT.mkdir(parents=True, exist_ok=True)

LOGGING = logs.plain("WARNING")

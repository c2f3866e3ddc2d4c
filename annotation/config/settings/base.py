"""The settings that the modules of the environments start from."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF

import annotation
from annotation.config import environment

env = environ.Env()

# Templates, static files and help pages are inside an installed package, or beside the package in a clone.
PACKAGE_DIR = Path(annotation.__file__).resolve().parent
IS_INSTALLED = (PACKAGE_DIR / "templates").is_dir()
BASE_DIR = PACKAGE_DIR if IS_INSTALLED else PACKAGE_DIR.parent
# The folder for data. The default of an installed package is in the home folder.
_VAR = Path.home() / ".local" / "share" / "coverdict" if IS_INSTALLED else BASE_DIR / "var"
VAR_DIR = Path(env.str("COVERDICT_VAR", default=str(_VAR))).resolve()

DEBUG = False
# Sign-in as people of the demo with one click; True only in the demo settings.
DEMO_SIGN_IN = False
# The demo listens only on this machine.
DEMO_HOST = "127.0.0.1"
# Base URLs that a judge may call. An entry allows URLs with its scheme, host, port (by default the scheme's) and path
# prefix. Administrators can allow further servers.
COVERDICT_JUDGE_URLS = environment.judge_urls(env.list("COVERDICT_JUDGE_URLS", default=[]))
# This machine's port that no judge may call, such as that of the demo; 0 for none.
OWN_PORT = env.int("COVERDICT_OWN_PORT", default=0)
# Environment variables with keys that judges may use, each with the base URLs to which its key may be sent. URLs
# match as in COVERDICT_JUDGE_URLS. Example:
# COVERDICT_JUDGE_KEYS=OPENAI_API_KEY=https://api.openai.com/v1,OTHER_KEY=https://llm.example.org/v1
COVERDICT_JUDGE_KEYS = environment.judge_keys(env.list("COVERDICT_JUDGE_KEYS", default=[]))
# The number of days for which judges' replies, exported files and the log are kept; no limit by default.
COVERDICT_KEEP_CALLS_DAYS: int | None = env.int("COVERDICT_KEEP_CALLS_DAYS", default=None)
COVERDICT_KEEP_EXPORTS_DAYS: int | None = env.int("COVERDICT_KEEP_EXPORTS_DAYS", default=None)
COVERDICT_KEEP_LOG_DAYS: int | None = env.int("COVERDICT_KEEP_LOG_DAYS", default=None)
# The people who may create projects: "staff", or "everybody" who is signed in.
COVERDICT_NEW_PROJECTS = environment.one_of(
    "COVERDICT_NEW_PROJECTS", env.str("COVERDICT_NEW_PROJECTS", default="staff"), ("staff", "everybody")
)
# The mail server, for forgotten passwords and invitations. Without a mail server, an administrator passes links on.
EMAIL_URL = env.str("EMAIL_URL", default="")
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="")
EMAIL_TIMEOUT = 20
vars().update(environment.mail(EMAIL_URL, DEFAULT_FROM_EMAIL))
# Prometheus reads figures at /metrics with this token; without a token, the page does not exist.
METRICS_TOKEN = environment.token("METRICS_TOKEN", env.str("METRICS_TOKEN", default=""))
# Single sign-on by OpenID Connect needs the first three variables. OIDC_NEW_ACCOUNTS has the rules for new accounts.
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", default="")
OIDC_NAME = env.str("OIDC_NAME", default="single sign-on")
OIDC_NEW_ACCOUNTS = environment.new_accounts(env.list("OIDC_NEW_ACCOUNTS", default=[]))
# Second factors (codes of an app): allowed, or required for staff or for everybody.
SECOND_FACTOR = environment.one_of(
    "SECOND_FACTOR",
    env.str("SECOND_FACTOR", default="optional"),
    ("optional", "staff", "everybody"),
)
# True accepts the request id in X-Request-ID. Use it only behind a proxy that sets this header itself.
TRUST_REQUEST_ID = False
# The number of the operator's proxies in front of the server. Each must append its caller to X-Forwarded-For.
TRUSTED_PROXIES = environment.count("TRUSTED_PROXIES", env.str("TRUSTED_PROXIES", default="0"))
# A worker that has not reported for this many seconds counts as dead.
WORKER_SILENT_SECONDS = env.int("WORKER_SILENT_SECONDS", default=30)
# If a job's lease was not extended for this many seconds, another worker may take the job.
JOB_LEASE_SECONDS = env.float("JOB_LEASE_SECONDS", default=10)
# Files whose total size exceeds this are imported by a worker, smaller files during the request.
IMPORT_BACKGROUND_BYTES = env.int("IMPORT_BACKGROUND_BYTES", default=2 * 1024 * 1024)

INSTALLED_APPS = [
    "annotation",
    "annotation.apps.GatedAdmin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "knox",
    "rest_framework",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
]

MIDDLEWARE = [
    "annotation.web.requests_known.KnownRequests",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    # This middleware must run before the CSRF check, which would read a form first.
    "annotation.web.bodies.ReadableRequests",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "annotation.accounts.second_factor.HeldToSecondFactor",
    "allauth.account.middleware.AccountMiddleware",
    # This middleware must be last, so that it sees the final result of a failed sign-in.
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "annotation.config.urls"
WSGI_APPLICATION = "annotation.config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
PLAIN_STORAGES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    # The storage of exports and waiting uploads, through which web servers and workers exchange files.
    "kept": environment.kept_files(env.str("COVERDICT_FILES", default="") or str(VAR_DIR)),
}
HASHED_STORAGES: dict[str, Any] = {
    **PLAIN_STORAGES,
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
STORAGES = PLAIN_STORAGES
# Uploads are read as files on the disk.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
USE_I18N = False
FORMAT_MODULE_PATH = "annotation.config.formats"


LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "account_login"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
# After five wrong passwords, sign-in with this name from this network is locked.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=5)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "annotation.core.shared.clients.network_of"
AXES_USERNAME_CALLABLE = "annotation.accounts.adapters.name_key"
AXES_SENSITIVE_PARAMETERS = ["login", "username", "ip_address", "code"]
AXES_LOCKOUT_TEMPLATE = "429.html"
# The log of accounts replaces the access log of axes.
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False

ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXIES
ACCOUNT_ADAPTER = "annotation.accounts.adapters.Accounts"
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Coverdict] "
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = {"login": "60/m/ip", "reset_password": "30/h/ip,3/h/key"}
MFA_ADAPTER = "annotation.accounts.adapters.Secrets"
# Without a mail server no address can be verified.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_ISSUER = "Coverdict"
SOCIALACCOUNT_ADAPTER = "annotation.accounts.adapters.Identities"
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_PROVIDERS = environment.single_sign_on(
    OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME
)
SOCIALACCOUNT_REQUESTS_TIMEOUT = 5
USERSESSIONS_ADAPTER = "annotation.accounts.adapters.Sessions"

SESSION_COOKIE_NAME = "coverdict_session"
CSRF_COOKIE_NAME = "coverdict_csrf"
CSRF_FAILURE_VIEW = "annotation.web.refusals.form_expired"
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
    }
}


REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "knox.auth.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["annotation.api.parsing.PlainJSONParser"],
    # Refuse OPTIONS (405), because the schema describes each address.
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "annotation.api.errors.envelope",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
# The limit of requests by token per minute; further requests get 429.
TOKEN_CALLS_PER_MINUTE = env.int("TOKEN_CALLS_PER_MINUTE", default=1200)
REST_KNOX = {"TOKEN_TTL": timedelta(days=90), "AUTO_REFRESH": False}
SPECTACULAR_SETTINGS = {
    "TITLE": "Coverdict API",
    "DESCRIPTION": "Summaries judged claim by claim: projects, runs, verdicts, scores and exports.",
    "VERSION": annotation.__version__,
    # OpenAPI 3.1 has the types of JSON Schema, which also describes our dataclasses.
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "annotation.api.examples.add_examples",
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    # null prevents the page from sending the schema's address to a validator on the internet.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "REDOC_DIST": "SIDECAR",
}

# Background work. Most work is described by Job rows, whose messages only wake a worker and may get lost.

CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="filesystem://localhost")
CELERY_BROKER_TRANSPORT = (
    "annotation.config.celery:FileTransport" if CELERY_BROKER_URL.startswith("filesystem:") else None
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 5
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
# Messages are acknowledged on receipt.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# One thread for each kind of job, two for exports, and one for other tasks.
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = 7
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = not CELERY_BROKER_URL.startswith("filesystem:")
# Retries are short, because a page must not hang on an unavailable broker.
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.2,
}
CELERY_TIMEZONE = "UTC"


def shared_cache(database: dict[str, Any]) -> dict[str, Any]:
    """Return the cache settings (see `environment.caches`)."""
    return environment.caches(env.str("CACHE_URL", default=""), broker=CELERY_BROKER_URL, database=database)


def embedded_services() -> dict[str, Any]:
    """Return the settings of database, cache and queue. The defaults are SQLite and a file queue in VAR_DIR.
    DATABASE_URL, CACHE_URL and CELERY_BROKER_URL can name other services.
    """
    VAR_DIR.mkdir(parents=True, exist_ok=True)
    url = env.str("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'coverdict.sqlite3'}")
    return {
        "DATABASES": {"default": environment.database(url)},
        "CACHES": shared_cache(environment.database(url)),
        "CELERY_BROKER_TRANSPORT_OPTIONS": environment.broker_options(CELERY_BROKER_URL, VAR_DIR / "queue"),
    }

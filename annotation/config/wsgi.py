"""The WSGI application for gunicorn; production settings by default."""

from importlib import import_module

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.wsgi import get_wsgi_application

from annotation.operator_commands import as_typed
from annotation.settings_choice import PRODUCTION, name_settings

name_settings(otherwise=PRODUCTION)


def require_static_files() -> None:
    """Refuse to start if the manifest of static files is missing."""
    # Only storages with a manifest have this method.
    if getattr(staticfiles_storage, "read_manifest", lambda: "")() is None:
        raise SystemExit(
            f"Static files are not collected in {settings.STATIC_ROOT}: start with {as_typed('serve')}, which collects "
            "them, or run Django's command collectstatic --no-input before."
        )


application = get_wsgi_application()
require_static_files()
# Load the routes now, so that `gunicorn --preload` loads them once instead of in each process at its first request.
import_module(settings.ROOT_URLCONF)

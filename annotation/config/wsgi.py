"""The WSGI application that gunicorn serves; production settings unless the environment names others."""

from importlib import import_module

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.wsgi import get_wsgi_application

from annotation.operator_commands import as_typed
from annotation.settings_choice import PRODUCTION, name_settings

name_settings(otherwise=PRODUCTION)


def require_static_files() -> None:
    """Refuse to start where every page would be an error, for want of the list of static files."""
    # Storages without such a list have none to read.
    if getattr(staticfiles_storage, "read_manifest", lambda: "")() is None:
        raise SystemExit(
            f"Static files are not collected in {settings.STATIC_ROOT}: start with {as_typed('serve')}, which collects "
            "them, or run Django's command collectstatic --no-input before."
        )


application = get_wsgi_application()
require_static_files()
# Else the first request would load them, in each process again: `gunicorn --preload` loads them once for all.
import_module(settings.ROOT_URLCONF)

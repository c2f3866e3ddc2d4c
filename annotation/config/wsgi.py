"""The WSGI application that gunicorn serves; production settings unless the environment names others."""

from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from annotation.settings_choice import PRODUCTION, name_settings

name_settings(otherwise=PRODUCTION)

application = get_wsgi_application()
# Else the first request would load them, in each process anew: `gunicorn --preload` loads them once for all.
import_module(settings.ROOT_URLCONF)

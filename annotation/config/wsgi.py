"""The WSGI application that gunicorn serves; production settings unless the environment names others."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation.config.settings.production")

application = get_wsgi_application()
# Else the first request would load them, in each process anew: `gunicorn --preload` loads them once for all.
import_module(settings.ROOT_URLCONF)

"""The WSGI application that gunicorn serves; production settings unless the environment names others."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation.config.settings.production")

application = get_wsgi_application()

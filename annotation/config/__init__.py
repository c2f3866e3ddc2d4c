"""Settings, routes, health checks, and the entry points for gunicorn and Celery."""

# Load Celery's app with the settings, so that `celery.current_app` is this app.
from annotation.config.celery import app as celery_app

__all__ = ["celery_app"]

"""Wiring of the whole: settings, addresses, health, and the way into gunicorn and Celery."""

# Loaded with the settings, so that `celery.current_app` is this app in every process, web ones included.
from annotation.config.celery import app as celery_app

__all__ = ["celery_app"]

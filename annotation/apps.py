"""Wiring: tells Django about the app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Coverdict"
    default_auto_field = "django.db.models.BigAutoField"

"""The app, and Django's admin with its own access rule."""

from django.apps import AppConfig
from django.contrib.admin import apps


class AnnotationConfig(AppConfig):
    default = True
    name = "annotation"
    verbose_name = "Coverdict"
    default_auto_field = "django.db.models.BigAutoField"


class GatedAdmin(apps.AdminConfig):
    default = False
    default_site = "annotation.admin_site.Site"

"""The app, and Django's admin with our own access rule."""

from django.apps import AppConfig
from django.contrib.admin import apps


class AnnotationConfig(AppConfig):
    default = True
    name = "annotation"
    verbose_name = "Coverdict"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotation.accounts.events import listen  # noqa: PLC0415 - models are loaded now

        listen()


class GatedAdmin(apps.SimpleAdminConfig):
    # This configuration loads the admin site without the classes of the admin. The root routes load these classes,
    # because commands do not need them.
    default = False
    default_site = "annotation.admin_site.Site"

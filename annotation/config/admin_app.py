"""Django's admin with our own gate."""

from django.contrib.admin.apps import AdminConfig


class GatedAdmin(AdminConfig):
    default_site = "annotation.accounts.admin_site.Site"

"""Django's admin with our own gate."""

from django.contrib.admin.apps import SimpleAdminConfig


class GatedAdmin(SimpleAdminConfig):
    # Its classes are loaded with the addresses: commands need neither.
    default_site = "annotation.accounts.admin_site.Site"

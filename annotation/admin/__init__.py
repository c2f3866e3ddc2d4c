"""Django's admin: read-only rows for superusers, and disputes for adjudicators on staff."""

from annotation.admin import dispute, rows

__all__ = ["dispute", "rows"]

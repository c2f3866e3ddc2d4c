"""The admin: rows to look at for superusers, disputes to decide for adjudicators on staff."""

from annotation.admin import dispute, rows

__all__ = ["dispute", "rows"]

"""Django's admin."""

from annotation.admin import dispute, rows

__all__ = ["dispute", "rows"]

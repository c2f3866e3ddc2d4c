"""Whole numbers that people type into forms."""

from __future__ import annotations

from annotation.core.refusals import Invalid

MOST = 2**31 - 1
"""The largest number that a column of integers holds."""


def whole_number(text: str, *, most: int = MOST) -> int | None:
    """The whole number from 0 that the text says; None where it says none, or one above `most`."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= len(str(most))):
        return None
    number = int(digits)
    return number if number <= most else None


def need_whole_number(text: str, message: str, *, field: str, most: int = MOST) -> int:
    """As `whole_number`. Raises Invalid with the message where there is none."""
    number = whole_number(text, most=most)
    if number is None:
        raise Invalid(message, field=field)
    return number

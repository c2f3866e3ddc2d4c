"""Read whole numbers from forms."""

from __future__ import annotations

from annotation.core.refusals import Invalid

MOST = 2**31 - 1
"""The largest number of an integer column."""


def whole_number(text: str, *, most: int = MOST) -> int | None:
    """Read a whole number from 0 to `most`; None for any other text."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= len(str(most))):
        return None
    number = int(digits)
    return number if number <= most else None


def need_whole_number(text: str, message: str, *, field: str, most: int = MOST) -> int:
    """Read a whole number from 0 to `most`. Raises Invalid with the message for any other text."""
    number = whole_number(text, most=most)
    if number is None:
        raise Invalid(message, field=field)
    return number

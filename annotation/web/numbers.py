"""Read whole numbers from forms."""

from __future__ import annotations

from annotation.core.refusals import Invalid

MOST = 2**31 - 1
"""The largest number of an integer column."""


def whole_number(text: str, *, most: int = MOST) -> int | None:
    """Read a whole number from 0 to `most`; None if the text is no such number."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= len(str(most))):
        return None
    number = int(digits)
    return number if number <= most else None


def need_whole_number(text: str, message: str, *, field: str, most: int = MOST) -> int:
    """Read a number as `whole_number` does, but raise Invalid with the message if it is no such number."""
    number = whole_number(text, most=most)
    if number is None:
        raise Invalid(message, field=field)
    return number

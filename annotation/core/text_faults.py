"""Checking texts from people and files, and making them safe for messages."""

from __future__ import annotations

import re
import unicodedata

from annotation.core.refusals import Invalid

MAX_TEXT_CHARACTERS = 1_000_000
"""The maximum number of characters of one text."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def text_fault(text: str) -> str:
    """Return the fault of a text that cannot be stored, for a message that begins with the name of the text; "" if it
    can be stored.
    """
    if len(text) > MAX_TEXT_CHARACTERS:
        return (
            f"has {len(text):,} characters, and one text may have {MAX_TEXT_CHARACTERS:,} at most. Cut it, "
            "or split a long source into a list of documents."
        )
    if "\x00" in text:
        return (
            f"contains a NUL character at position {text.index(chr(0)) + 1}, which cannot be stored. Remove "
            "it."
        )
    if not text.isascii() and (surrogate := _SURROGATE.search(text)):
        return (
            f"contains half a surrogate pair (U+{ord(surrogate[0]):04X}) at position {surrogate.start() + 1}. "
            "It is not a valid character. Repair or remove it."
        )
    return ""


def checked_text(text: str, *, most: int, if_empty: str, if_long: str) -> str:
    r"""Trim a person's text and convert its line ends to "\n".

    Raises Invalid (field `text`) for an empty text (message `if_empty`), for more than `most` characters (`if_long`),
    and for control characters other than line ends and tabs.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise Invalid(if_empty, field="text")
    if len(text) > most:
        raise Invalid(if_long, field="text")
    if control := _control_in(text, but="\n\t"):
        raise Invalid(f"The text contains a control character, U+{ord(control):04X}.", field="text")
    return text


def checked_note(note: str, *, most: int, if_long: str) -> str:
    """Turn a person's note into one line.

    Raises Invalid (field `note`) for control characters and for more than `most` characters. `{length}` in the
    message `if_long` is replaced by the number of characters.
    """
    line = " ".join(note.split())
    if len(line) > most:
        raise Invalid(if_long.format(length=len(line)), field="note")
    if _control_in(line):
        raise Invalid("The note contains a control character. Remove it.", field="note")
    return line


def _control_in(text: str, *, but: str = "") -> str | None:
    found = (each for each in text if each not in but and unicodedata.category(each) in ("Cc", "Cs"))
    return next(found, None)


def printable(text: str) -> str:
    """Cut a text to at most 300 characters for a message, and replace NUL and halves of surrogate pairs by U+FFFD."""
    cleaned = _SURROGATE.sub("\ufffd", text.replace("\x00", "\ufffd"))
    return cleaned if len(cleaned) <= 300 else f"{cleaned[:297]}…"

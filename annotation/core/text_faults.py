"""What people and files write: why a text cannot be stored, and how a message may show it."""

from __future__ import annotations

import re
import unicodedata

from annotation.core.refusals import Invalid

MAX_TEXT_CHARACTERS = 1_000_000
"""The longest single text; a long novel has about as many characters."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def text_fault(text: str) -> str:
    """Why a text cannot be stored; "" where it can."""
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
    """Some lines that a person wrote, with plain line ends and none at the edges. Raises Invalid (field `text`)."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise Invalid(if_empty, field="text")
    if len(text) > most:
        raise Invalid(if_long, field="text")
    if control := _control_in(text, but="\n\t"):
        raise Invalid(f"The text contains a control character, U+{ord(control):04X}.", field="text")
    return text


def checked_note(note: str, *, most: int, if_long: str) -> str:
    """A person's note as one line. Raises Invalid (field `note`); `{length}` in `if_long` is how long this one is."""
    line = " ".join(note.split())
    if len(line) > most:
        raise Invalid(if_long.format(length=len(line)), field="note")
    if _control_in(line):
        raise Invalid("The note contains a control character. Remove it.", field="note")
    return line


def _control_in(text: str, *, but: str = "") -> str | None:
    """The first control character or half of a character, of any but these."""
    found = (each for each in text if each not in but and unicodedata.category(each) in ("Cc", "Cs"))
    return next(found, None)


def printable(text: str) -> str:
    """A text of the file as a message may show it: short, and with nothing in it that a screen refuses."""
    cleaned = _SURROGATE.sub("\ufffd", text.replace("\x00", "\ufffd"))
    return cleaned if len(cleaned) <= 300 else f"{cleaned[:297]}…"

"""Replace one person's names in texts that the program wrote."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_CANCELLED = re.compile(r"(?<=^Cancelled by )(.+)(?=\.$)")
PERSON_KEYS = frozenset(
    {"assessor", "assessors", "held_by", "invited_by", "people", "person", "reviewer", "to"}
)
"""Keys of our JSON whose values are usernames, alone or in a list."""
PRIVATE_KEYS = frozenset({"for"})
"""Keys of the log whose values name people freely, such as the recipient of an invitation."""


@dataclass(frozen=True)
class Renaming:
    names: Collection[str]
    shown: str

    def in_text(self, text: str) -> str:
        """Replace the name if it is the whole text or the canceller in it."""
        whole = self._renamed(text)
        return whole if whole != text else _CANCELLED.sub(self._found, text)

    def in_json(self, value: object, *, is_person: bool = False) -> object:
        """Replace names in a JSON value under `PERSON_KEYS`; other values may only look like usernames."""
        match value:
            case str():
                return self._renamed(value) if is_person else value
            case list():
                return [self.in_json(each, is_person=is_person) for each in value]
            case dict():
                return {
                    key: self.in_json(each, is_person=key in PERSON_KEYS)
                    for key, each in value.items()
                    if key not in PRIVATE_KEYS
                }
        return value

    def _found(self, match: re.Match[str]) -> str:
        return self._renamed(match[0])

    def _renamed(self, text: str) -> str:
        return self.shown if text in self.names else text

"""One person's names replaced in what the program wrote about them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_CANCELLED = re.compile(r"(?<=^Cancelled by )(.+)(?=\.$)")
PERSON_KEYS = frozenset(
    {"assessor", "assessors", "held_by", "invited_by", "people", "person", "reviewer", "to"}
)
"""Keys in what the program writes as JSON under which usernames stand, alone or in a list."""
PRIVATE_KEYS = frozenset({"for"})
"""Keys in what the log tells under which people are named freely, such as whom an invitation is meant for."""


@dataclass(frozen=True)
class Renaming:
    names: Collection[str]
    shown: str

    def in_text(self, text: str) -> str:
        """A text in which the program may have named somebody: as a whole, or who cancelled."""
        whole = self._renamed(text)
        return whole if whole != text else _CANCELLED.sub(self._found, text)

    def in_json(self, value: object, *, is_person: bool = False) -> object:
        """The same of every name in a JSON value; what names people freely is left out.

        Only under `PERSON_KEYS`: elsewhere a label or a word may be spelled as somebody's username.
        """
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

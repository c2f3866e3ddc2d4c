"""How the people of an archive are called, also inside of what programs wrote about them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from django.contrib.auth.models import User

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People

_CANCELLED = re.compile(r"(?<=^Cancelled by )(.+)(?=\.$)")
_MENTION = re.compile(r"(?<=@)[\w.@+-]*\w")
PERSON_KEYS = frozenset(
    {"assessor", "assessors", "held_by", "invited_by", "mentions", "people", "person", "reviewer", "to"}
)
"""Keys in what the program writes as JSON under which usernames stand, alone or in a list."""
PRIVATE_KEYS = frozenset({"for"})
"""Keys in what the log tells under which people are named freely, such as whom an invitation is meant for."""


@dataclass
class Names:
    """Names people, and remembers whom it has named."""

    people: People
    seen: dict[str, None] = field(default_factory=dict)

    def name(self, user_id: int, username: str) -> str:
        shown = self.people.name(user_id, username)
        self.seen[shown] = None
        return shown

    def in_text(self, text: str) -> str:
        """A text in which the program may have named somebody: as a whole, as mentioned, or who cancelled."""
        if self.people.named or not text:
            return text
        whole = self._shown(text)
        return whole if whole != text else _MENTION.sub(self._found, _CANCELLED.sub(self._found, text))

    def in_json(self, value: object, *, is_person: bool = False) -> object:
        """The same of every name in a JSON value; what names people freely is left out.

        Only under `PERSON_KEYS`: elsewhere a label or a word may be spelled as somebody's username.
        """
        if self.people.named:
            return value
        match value:
            case str():
                return self._shown(value) if is_person else value
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
        return self._shown(match[0])

    def _shown(self, text: str) -> str:
        user_id = self._keys.get(text)
        return text if user_id is None else self.people.name(user_id, text)

    @cached_property
    def _keys(self) -> dict[str, int]:
        return dict(User.objects.values_list("username", "pk"))

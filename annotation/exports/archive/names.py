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

    def in_json(self, value: object) -> object:
        """The same of every text in a JSON value that is a name as a whole; what names people freely is left out."""
        if self.people.named:
            return value
        match value:
            case str():
                return self._shown(value)
            case list():
                return [self.in_json(each) for each in value]
            case dict():
                return {
                    self._shown(key): self.in_json(each)
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

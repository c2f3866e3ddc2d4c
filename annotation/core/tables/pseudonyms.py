"""Names or pseudonyms of people in exported files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from annotation.models import Project

# 40 bits: two of a thousand people share a pseudonym once in two million projects.
_DIGITS = 10
_NAMES_NOBODY = re.compile(rf"(rater \d+|person-[0-9a-f]{{{_DIGITS}}})\Z")
"""Raters that were numbered when a file was read, and pseudonyms of an export."""


@dataclass(frozen=True, slots=True)
class People:
    """Names people by a pseudonym, or by their username where `named` says so.

    A pseudonym is the same in every export of a project and another one in another project; it
    cannot be led back to the person without the installation's secret key.
    """

    project: Project
    named: bool = False
    # A few people name every row, and to make a pseudonym takes longer than the rest of a row.
    _known: dict[int, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def rater(self, name: str) -> str:
        """The name shown for a rater whose votes came from a file."""
        if self.named or _NAMES_NOBODY.match(name):
            return name
        return pseudonym(self.project, name)

    def name(self, user_id: int, username: str) -> str:
        if self.named:
            return username
        if user_id not in self._known:
            self._known[user_id] = pseudonym(self.project, user_id)
        return self._known[user_id]


def pseudonym(project: Project, who: int | str) -> str:
    """A stable name that tells nothing of the person, such as "person-3f2a9c01de".

    `who` is the key of a user, or the name that a file gave a rater.
    """
    # The salt never changes, wherever this module stands: files that people hold already name others by it.
    salt = f"annotation.exports.people.{project.public_id}"
    digest = salted_hmac(
        salt, str(who) if isinstance(who, int) else f"rater:{who}", algorithm="sha256"
    ).hexdigest()
    return f"person-{digest[:_DIGITS]}"

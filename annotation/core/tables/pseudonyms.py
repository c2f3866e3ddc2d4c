"""Names or pseudonyms of people in exported files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from annotation.models import Project

# 40 bits: among a thousand people, two have the same pseudonym in about one of two million projects.
_DIGITS = 10
_NAMES_NOBODY = re.compile(rf"(rater \d+|person-[0-9a-f]{{{_DIGITS}}})\Z")
"""Names that identify nobody: numbered raters of a file, and pseudonyms of an export."""


@dataclass(frozen=True, slots=True)
class People:
    """The names of people in exports: a pseudonym, or the username if `named` is True.

    A person's pseudonym is the same in all exports of a project and differs between projects. Without the
    installation's secret key, nobody can find the person of a pseudonym.
    """

    project: Project
    named: bool = False
    # Cache pseudonyms, because the same few people occur in many rows.
    _known: dict[int, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def rater(self, name: str) -> str:
        """Return the name to show for a rater whose votes came from a file."""
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
    """Compute the pseudonym of a person in a project, such as "person-3f2a9c01de".

    `who` is the key of a user, or a rater's name from a file.
    """
    # Never change the salt, because exported files contain pseudonyms that were made with it.
    salt = f"annotation.exports.people.{project.public_id}"
    digest = salted_hmac(
        salt, str(who) if isinstance(who, int) else f"rater:{who}", algorithm="sha256"
    ).hexdigest()
    return f"person-{digest[:_DIGITS]}"

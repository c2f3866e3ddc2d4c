"""How people are called in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from annotation.models import Project

# 40 bits: two of a thousand people share a pseudonym once in two million projects.
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class People:
    """Names people by a pseudonym, or by their username where `named` says so.

    A pseudonym is the same in every export of a project and another one in another project; it
    cannot be led back to the person without the installation's secret key.
    """

    project: Project
    named: bool = False

    def name(self, user_id: int, username: str) -> str:
        return username if self.named else pseudonym(self.project, user_id)


def pseudonym(project: Project, user_id: int) -> str:
    """A stable name that tells nothing of the person, such as "person-3f2a9c01de"."""
    # The salt never changes, wherever this module stands: files that people hold already name others by it.
    salt = f"annotation.exports.people.{project.public_id}"
    digest = salted_hmac(salt, str(user_id), algorithm="sha256").hexdigest()
    return f"person-{digest[:_DIGITS]}"

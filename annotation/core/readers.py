"""Somebody at the checks of a project: what they may see at all, whatever they were shown so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.core.permissions import Verb
from annotation.core.refusals import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class CheckReader:
    """Somebody at the checks.

    `may_see_all` tells that scores, and so systems and answers, are open to them; `must_wait` that the project's
    reveal mode holds for them, whatever else they may do: they review and do not adjudicate.
    """

    person: User
    may_see_all: bool = False
    must_wait: bool = True

    @classmethod
    def holding(cls, person: User, verbs: AbstractSet[Verb]) -> CheckReader:
        """The person as a reader, by what they may do in a project now."""
        must_wait = Verb.REVIEW in verbs and Verb.ADJUDICATE not in verbs
        return cls(person, may_see_all=Verb.VIEW_SCORES in verbs, must_wait=must_wait)

    @property
    def names_systems(self) -> bool:
        """Whether they may know who wrote a peer summary."""
        return self.may_see_all

    def need_all(self, name: str) -> None:
        """Refuse to filter by what would tell them a system, or who answered what. Raises NotAllowed."""
        if not self.may_see_all:
            raise NotAllowed(f"Filtering by {name} needs the right to view scores.")

"""Who is left for what waits in the queue.

Whoever has a set, closed it, gave it back begun or lost it to a manager is not handed it again. Where more copies of
a set wait than people are left for it, the rest would wait for ever.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.core.permissions import Verb, roles_with
from annotation.models import Assignment, Membership, Sitting

if TYPE_CHECKING:
    from annotation.models import Project

HAS_HAD_IT = Q(recalled_at__isnull=True) | ~Q(recalled_as=Sitting.Recalled.LAPSED)
"""Sittings that keep their person from another copy of the set. What the lease took they may have again."""

Wrote = Mapping[int, Collection[int]]
"""By the key of a document set the people who wrote a summary that is judged in it."""


@dataclass(frozen=True, slots=True)
class PeopleLeft:
    """How many people may still pull a set, and how many of them wrote a summary in it."""

    people: int
    authors: int

    def stranded(self, copies: int) -> int:
        """How many of so many copies nobody may pull.

        >>> PeopleLeft(people=2, authors=1).stranded(3)
        1
        """
        return max(0, copies - self.people)

    def for_authors_alone(self, copies: int) -> int:
        """How many of so many copies only somebody who wrote a summary in the set is left for.

        >>> PeopleLeft(people=2, authors=1).for_authors_alone(3)
        1
        """
        return min(copies, self.people) - min(copies, self.people - self.authors)


@dataclass(frozen=True, slots=True)
class Stranded:
    """Waiting copies that nobody may pull, their sets by name, and copies that only an author is left for."""

    sittings: tuple[int, ...] = ()
    document_sets: tuple[str, ...] = ()
    for_authors_alone: int = 0


def people_left(project: Project, wrote: Wrote) -> dict[int, PeopleLeft]:
    """Who is left for each of these document sets. Two queries, however many."""
    able = _able(project)
    had: dict[int, set[int]] = defaultdict(set)
    rows = Sitting.objects.filter(HAS_HAD_IT, document_set__project=project, assessor__in=able)
    for set_id, person_id in rows.order_by().values_list("document_set_id", "assessor_id").distinct():
        if set_id in wrote and person_id is not None:
            had[set_id].add(person_id)
    return {
        set_id: PeopleLeft(
            people=len(able) - len(had[set_id]),
            authors=len((able & set(authors)) - had[set_id]),
        )
        for set_id, authors in wrote.items()
    }


def stranded(project: Project) -> Stranded:
    """What waits in the queue for nobody; the newest copies of a set first. Four queries, however many.

    A copy in which somebody began and lost the set to the lease is kept for them as long as any is.
    """
    waiting = Sitting.objects.filter(
        document_set__project=project, assessor__isnull=True, recalled_at__isnull=True
    )
    copies: dict[int, list[tuple[bool, int]]] = defaultdict(list)
    names: dict[int, str] = {}
    for key, set_id, name, replaces in waiting.values_list(
        "pk", "document_set_id", "document_set__external_id", "replaces_id"
    ):
        copies[set_id].append((replaces is None, key))
        names[set_id] = name
    if not copies:
        return Stranded()
    left = people_left(project, _writers(project, copies))
    lost = {
        set_id: [key for _, key in sorted(rows, reverse=True)[: left[set_id].stranded(len(rows))]]
        for set_id, rows in copies.items()
    }
    return Stranded(
        sittings=tuple(sorted(key for keys in lost.values() for key in keys)),
        document_sets=tuple(sorted(names[set_id] for set_id, keys in lost.items() if keys)),
        for_authors_alone=sum(left[set_id].for_authors_alone(len(rows)) for set_id, rows in copies.items()),
    )


def _able(project: Project) -> set[int]:
    """The keys of the members who may assess."""
    able = roles_with(Verb.ASSESS)
    members = Membership.objects.filter(project=project)
    return {member.user_id for member in members if member.role_set & able}


def _writers(project: Project, sets: Collection[int]) -> dict[int, set[int]]:
    """Who wrote a summary that is judged in a waiting copy of these sets."""
    wrote: dict[int, set[int]] = {set_id: set() for set_id in sets}
    held = Assignment.objects.filter(
        sitting__document_set__project=project,
        sitting__assessor__isnull=True,
        sitting__recalled_at__isnull=True,
    )
    for role in ("peer", "model"):
        column = f"comparison__{role}__system__person_id"
        of_members = held.filter(**{f"comparison__{role}__system__person__isnull": False})
        for set_id, person_id in (
            of_members.values_list("sitting__document_set_id", column).distinct().order_by()
        ):
            if set_id in wrote:
                wrote[set_id].add(person_id)
    return wrote

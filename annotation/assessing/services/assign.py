"""Assigning document sets to assessors."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from annotation.assessing.queries.assignments import comparable_sets
from annotation.assessing.services.unassign import mark_seen
from annotation.core.events import log
from annotation.core.permissions import Verb, has_sight, require, roles_in, verbs_of
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Assignment, Comparison, DocumentSet, Look, Project, Reading

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

MOST_PER_SET = 20
WRITTEN_AT_ONCE = 2000
_ASSESSOR_SAW = Exists(
    Look.objects.filter(
        Q(summary__document_set=OuterRef("document_set"))
        | Q(check_row__summary__document_set=OuterRef("document_set")),
        person=OuterRef("assessor"),
        revealed_at__isnull=False,
    )
)
"""A condition that is True for assignments whose assessor has seen others' answers about a summary of the set."""


@transaction.atomic
def assign(
    *, document_set: DocumentSet, assessor: User, by: User | None, seed: int | None = None
) -> Assignment:
    """Assign a document set with all its comparisons to a person.

    An open assignment gets the new comparisons; an unassigned one continues with its answers. `seed` fixes the random
    order of comparisons. Raises Conflict (code `closed`) if the person has closed the assignment. Raises Invalid if the
    set has no comparison or the person may not assess, and the errors of `require`.
    """
    project = document_set.project
    require(by, project, Verb.ASSIGN)
    _require_may_assess(assessor, project)
    lock_work(project)
    if not comparable_sets(project).filter(pk=document_set.pk).exists():
        raise Invalid(
            f"{document_set.external_id} has no summary compared with a reference.",
            field="document_set",
        )
    assignment = give(document_set, assessor, seed=seed)
    log(
        project=project,
        actor=by,
        verb="assign",
        target=assignment,
        data={"assessor": assessor.username, "document_set": document_set.external_id},
    )
    return assignment


@transaction.atomic
def assign_sets(
    *, project: Project, people: Sequence[User], per_set: int, by: User | None
) -> list[Assignment]:
    """Assign people to the comparable document sets that have fewer than `per_set` assessors.

    People with the fewest open sets come first. Nobody is assigned to a set twice, even after an unassignment, so a set
    may end with fewer assessors. Raises Invalid if nothing can be assigned, if `per_set` is not 1 to 20, or if a person
    may not assess. Raises the errors of `require`.
    """
    require(by, project, Verb.ASSIGN)
    for person in people:
        _require_may_assess(person, project)
    if not 1 <= per_set <= MOST_PER_SET:
        raise Invalid(f"A set can have 1 to {MOST_PER_SET} assessors.", field="per_set")
    lock_work(project)
    had: dict[int, set[int]] = defaultdict(set)
    assessors, load = Counter[int](), Counter[int]()
    for assignment in Assignment.objects.filter(document_set__project=project).order_by():
        had[assignment.document_set_id].add(assignment.assessor_id)
        assessors[assignment.document_set_id] += assignment.unassigned_at is None
        load[assignment.assessor_id] += assignment.is_open
    keys = list(comparable_sets(project).order_by("pk").values_list("pk", flat=True))
    chance = random.Random()
    chance.shuffle(keys)
    given = []
    for key in keys:
        able = [person for person in people if person.pk not in had[key]]
        chance.shuffle(able)
        able.sort(key=lambda person: load[person.pk])
        for person in able[: max(0, per_set - assessors[key])]:
            load[person.pk] += 1
            given.append(Assignment(assessor=person, document_set_id=key))
    if not given:
        raise Invalid("Every document set has enough assessors, or these people have had it.", field="people")
    Assignment.objects.bulk_create(given, batch_size=WRITTEN_AT_ONCE)
    mark_seen(Assignment.objects.filter(_ASSESSOR_SAW, document_set__project=project, closed_at=None))
    _fill(given, Comparison.objects.filter(summary__document_set__project=project), chance)
    log(
        project=project,
        actor=by,
        verb="assign sets",
        target=project,
        data={
            "assignments": len(given),
            "per_set": per_set,
            "people": [person.username for person in people],
        },
    )
    return given


def lock_work(project: Project) -> None:
    """Prevent concurrent assigning in the project until the caller's transaction ends."""
    Project.objects.select_for_update(of=("self",), no_key=True).only("pk").get(pk=project.pk)


def give(
    document_set: DocumentSet, person: User, *, lease_until: datetime | None = None, seed: int | None = None
) -> Assignment:
    """Return the person's open assignment of the set, with all comparisons of the set.

    The assignment is created if needed, and continued if it was unassigned. `lease_until` is None for a set without a
    lease. The caller must have called `lock_work`. Raises Conflict (code `closed`) if the person has closed the
    assignment.
    """
    assignment, _ = Assignment.objects.select_for_update(of=("self",)).get_or_create(
        document_set=document_set, assessor=person, defaults={"lease_until": lease_until}
    )
    if assignment.closed_at is not None:
        raise Conflict(f"{person} has already closed {document_set.external_id}.", code="closed")
    this = Assignment.objects.filter(pk=assignment.pk)
    was_taken_away = assignment.unassigned_at is not None
    if was_taken_away:
        this.update(unassigned_at=None, lease_until=lease_until)
    is_seen = was_taken_away and has_sight(person, document_set.project)
    mark_seen(this if is_seen else this.filter(_ASSESSOR_SAW))
    assignment.refresh_from_db(fields=["unassigned_at", "lease_until", "may_have_seen"])
    lacking = Comparison.objects.filter(summary__document_set=document_set).exclude(
        readings__assignment=assignment
    )
    _fill([assignment], lacking, random.Random(seed), behind=assignment.readings.count())
    return assignment


def _require_may_assess(person: User, project: Project) -> None:
    if Verb.ASSESS not in verbs_of(roles_in(person, project)):
        raise Invalid(f"{person.username} is not an assessor of {project.name}.", field="assessor")


Compared = tuple[int, int, int | None]
"""The keys of a comparison and of its summary, and the target length."""


def _fill(
    assignments: Iterable[Assignment],
    comparisons: QuerySet[Comparison],
    chance: random.Random,
    *,
    behind: int = 0,
) -> None:
    compared: dict[int, list[Compared]] = defaultdict(list)
    columns = ("summary__document_set_id", "pk", "summary_id", "summary__target_words")
    for set_id, key, summary, target in comparisons.order_by("pk").values_list(*columns):
        compared[set_id].append((key, summary, target))
    Reading.objects.bulk_create(
        (
            Reading(assignment=assignment, comparison_id=key, position=position)
            for assignment in assignments
            for position, key in enumerate(
                _in_order(compared[assignment.document_set_id], chance), start=behind + 1
            )
        ),
        batch_size=WRITTEN_AT_ONCE,
    )


def _in_order(comparisons: Iterable[Compared], chance: random.Random) -> list[int]:
    """Comparisons of a summary stay together; the largest target length comes first."""
    of_summary: dict[tuple[int, int], list[int]] = defaultdict(list)
    for key, summary, target in comparisons:
        of_summary[target or 0, summary].append(key)
    summaries = list(of_summary)
    chance.shuffle(summaries)
    summaries.sort(key=lambda place: -place[0])
    return [key for place in summaries for key in chance.sample(of_summary[place], len(of_summary[place]))]

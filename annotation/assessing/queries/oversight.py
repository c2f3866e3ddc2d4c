"""How far a project's assessors are: by document set, by person, by system, and one closed sitting at a time.

Sets and persons tell only how much was done; what was said in it shows in the flags and in how far people agree with
themselves, which are not for the blind, and neither are systems.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q

from annotation.assessing.queries.assignments import AssessorLoad, WorkState, loads, sittings_of
from annotation.assessing.queries.effort import Effort, effort_by_sitting
from annotation.assessing.queries.flags import Flags, flags_by_person, flags_by_sitting
from annotation.assessing.queries.progress import AssessingProgress
from annotation.assessing.queries.self_agreement import NO_REPEATS, agreement_by_person
from annotation.models import Assignment, Comparison, DocumentSet, Sitting, System
from evaluation.statistics import PercentAgreement

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class SetStanding:
    """How far one document set is. Sittings that were taken away count for nothing; repeats are work like any.

    `judged` of `to_judge` model units, over all its sittings, waiting ones included. Both are None for somebody who
    has the set open: how long a model summary is shows only after the quality questions.
    """

    set_id: str
    document_set: str
    waiting: int
    open: int
    closed: int
    judged: int | None
    to_judge: int | None

    @property
    def sittings(self) -> int:
        return self.waiting + self.open + self.closed

    @property
    def share(self) -> float | None:
        """What part of the units is judged; None where there is none to judge or it may not be known."""
        return self.judged / self.to_judge if self.judged is not None and self.to_judge else None


@dataclass(frozen=True, slots=True)
class PersonStanding:
    """How far one person is. `agreement` and `flags` are None where they may not be seen."""

    load: AssessorLoad
    agreement: PercentAgreement | None
    flags: Flags | None


@dataclass(frozen=True, slots=True)
class TargetStanding:
    """The comparisons of one system at one target length: all, in anybody's hands or queue, judged and closed.

    `judgments` counts the assessors who have closed each of them.
    """

    target_words: int | None
    comparisons: int
    given: int
    closed: int
    judgments: int

    @property
    def share(self) -> float:
        return self.closed / self.comparisons


@dataclass(frozen=True, slots=True)
class SystemStanding:
    """One system with its target lengths, the shortest first and without a target last."""

    system_id: str
    system: str
    kind: str
    targets: tuple[TargetStanding, ...]


@dataclass(frozen=True, slots=True)
class ClosedRow:
    """One closed sitting: how long it took, and what to look at."""

    sitting_id: str
    assessor: str
    document_set: str
    closed_at: datetime
    effort: Effort
    flags: Flags


COUNTED = {
    WorkState.WAITING: Q(sittings__assessor=None, sittings__recalled_at=None),
    WorkState.OPEN: Q(sittings__assessor__isnull=False, sittings__closed_at=None, sittings__recalled_at=None),
    WorkState.CLOSED: Q(sittings__closed_at__isnull=False, sittings__recalled_at=None),
}
"""The states of which the assignments of a set are counted."""


def comparable_sets(project: Project, *, counted: str = "") -> QuerySet[DocumentSet]:
    """The sets in which there is something to judge, each with the count of its assignments in a state of COUNTED."""
    compared = Comparison.objects.filter(peer__document_set=OuterRef("pk"))
    sets = DocumentSet.objects.filter(Exists(compared), project=project)
    if not counted:
        return sets
    state = WorkState(counted)
    return sets.annotate(**{state.value: Count("sittings", filter=COUNTED[state])})


def judged_systems(project: Project) -> QuerySet[System]:
    """The systems of which there is something to judge."""
    compared = Comparison.objects.filter(peer__system=OuterRef("pk"))
    return System.objects.filter(Exists(compared), project=project)


def closed_sittings(project: Project, *, person: str = "") -> QuerySet[Sitting]:
    """What was submitted, by one person alone where one is named."""
    return sittings_of(project, state=WorkState.CLOSED, person=person)


def set_rows(project: Project, sets: Sequence[DocumentSet], *, viewer: User) -> list[SetStanding]:
    """How far these sets are, in their order, as far as the viewer may know. Two queries, however many."""
    sittings: dict[int, list[Sitting]] = defaultdict(list)
    for sitting in Sitting.objects.filter(document_set__in=sets, recalled_at__isnull=True).order_by():
        sittings[sitting.document_set_id].append(sitting)
    progress = AssessingProgress.read(project, [each.pk for held in sittings.values() for each in held])
    return [_set_row(row, sittings[row.pk], progress, viewer) for row in sets]


def person_rows(project: Project, *, with_judgments: bool) -> list[PersonStanding]:
    """Everybody who is or was an assessor, by name. A fixed number of queries.

    `with_judgments` adds what rests on what they said: flags, and how far they agree with themselves.
    """
    sittings = Sitting.objects.filter(document_set__project=project, assessor__isnull=False)
    rows = loads(project)
    keys = dict(User.objects.filter(username__in=[row.person for row in rows]).values_list("username", "pk"))
    agreements = agreement_by_person(sittings) if with_judgments else {}
    flags = flags_by_person(sittings) if with_judgments else {}
    return [
        PersonStanding(
            load=row,
            agreement=agreements.get(keys[row.person], NO_REPEATS) if with_judgments else None,
            flags=flags.get(keys[row.person], Flags()) if with_judgments else None,
        )
        for row in rows
    ]


def system_rows(systems: Sequence[System]) -> list[SystemStanding]:
    """How far the comparisons of these systems are, in their order. Two queries. Not for the blind."""
    comparisons = _by_system_and_target(
        Comparison.objects.filter(peer__system__in=systems)
        .values_list("peer__system_id", "peer__target_words")
        .annotate(Count("pk"))
        .order_by()
    )
    live = ~Q(state=Assignment.State.RECALLED)
    is_closed = Q(state=Assignment.State.SUBMITTED)
    held = _by_system_and_target(
        Assignment.objects.filter(comparison__peer__system__in=systems, repeat_of__isnull=True)
        .values_list("comparison__peer__system_id", "comparison__peer__target_words")
        .annotate(
            given=Count("comparison", filter=live, distinct=True),
            closed=Count("comparison", filter=is_closed, distinct=True),
            judgments=Count("pk", filter=is_closed),
        )
        .order_by()
    )
    return [
        SystemStanding(
            system_id=system.public_id,
            system=system.name,
            kind=system.kind,
            targets=tuple(
                TargetStanding(target, total, *held.get(system.pk, {}).get(target, (0, 0, 0)))
                for target, (total,) in sorted(
                    comparisons.get(system.pk, {}).items(), key=lambda each: (each[0] is None, each[0] or 0)
                )
            ),
        )
        for system in systems
    ]


def closed_rows(sittings: Sequence[Sitting]) -> list[ClosedRow]:
    """These closed sittings, in their order; their assessors and sets must be loaded. Eight queries.

    Not for the blind.
    """
    chosen = Sitting.objects.filter(pk__in=[sitting.pk for sitting in sittings])
    efforts, flags = effort_by_sitting(chosen), flags_by_sitting(chosen)
    rows = []
    for sitting in sittings:
        assert sitting.assessor is not None, "the database lets nobody's sitting be closed by nobody"
        assert sitting.closed_at is not None, "asked for closed ones"
        rows.append(
            ClosedRow(
                sitting_id=sitting.public_id,
                assessor=sitting.assessor.username,
                document_set=sitting.document_set.external_id,
                closed_at=sitting.closed_at,
                effort=efforts.get(sitting.pk, Effort()),
                flags=flags.get(sitting.pk, Flags()),
            )
        )
    return rows


def _set_row(
    row: DocumentSet, sittings: Collection[Sitting], progress: AssessingProgress, viewer: User
) -> SetStanding:
    pieces = [piece for sitting in sittings for piece in progress.of(sitting.pk).pieces.values()]
    is_held = any(sitting.is_open and sitting.assessor_id == viewer.pk for sitting in sittings)
    return SetStanding(
        set_id=row.public_id,
        document_set=row.external_id,
        waiting=sum(sitting.assessor_id is None for sitting in sittings),
        open=sum(sitting.is_open for sitting in sittings),
        closed=sum(sitting.closed_at is not None for sitting in sittings),
        judged=None if is_held else sum(min(piece.judged, piece.total) for piece in pieces),
        to_judge=None if is_held else sum(piece.total for piece in pieces),
    )


def _by_system_and_target(
    rows: QuerySet[Comparison, tuple[int, ...]] | QuerySet[Assignment, tuple[int, ...]],
) -> Mapping[int, Mapping[int | None, tuple[int, ...]]]:
    found: dict[int, dict[int | None, tuple[int, ...]]] = defaultdict(dict)
    for system, target, *counts in rows:
        found[system][target] = tuple(counts)
    return found

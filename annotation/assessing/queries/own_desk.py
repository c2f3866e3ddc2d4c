"""An assessor's own page: what is begun, what waits, what is submitted, and how the work went.

Blind, as all of an assessor's own work: nothing here tells of others or of systems, and nothing of repeats while
there is work to do: who knows of them looks out for them, and copies their first answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from annotation.assessing.queries.assessment import SetWork, own_work
from annotation.assessing.queries.assignments import LapsedSet, QueueOffer, lapsed_work, queue_offer
from annotation.assessing.queries.effort import Effort, effort_by_sitting, total_effort
from annotation.assessing.queries.self_agreement import NO_REPEATS, agreement_by_person
from annotation.models import Sitting
from evaluation.statistics import PercentAgreement

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project

PACE_MINUTES = 10
"""Less work than this says nothing of how many units an hour of it would hold."""


@dataclass(frozen=True, slots=True)
class OwnSet:
    """One of the person's document sets, and the time spent on it."""

    work: SetWork
    effort: Effort
    is_pulled: bool


@dataclass(frozen=True, slots=True)
class OwnDesk:
    """All of a person's work in a project, each kind in the person's own order.

    `effort` holds the time at work that was taken away, too, but not its units. `agreement` compares the person
    with themselves on the summaries of closed sets that came twice; it is empty while there is work in hand or in
    the queue.
    """

    drafts: tuple[OwnSet, ...]
    open: tuple[OwnSet, ...]
    submitted: tuple[OwnSet, ...]
    offer: QueueOffer
    lapsed: tuple[LapsedSet, ...]
    effort: Effort
    agreement: PercentAgreement

    @property
    def in_hand(self) -> tuple[OwnSet, ...]:
        """What can be worked at now: what is begun first."""
        return self.drafts + self.open

    @property
    def at_hand(self) -> tuple[OwnSet, ...]:
        """What is shown with its summaries: what a lease runs on, what is begun, and the next of one's own."""
        pulled = tuple(own for own in self.in_hand if own.is_pulled)
        given = tuple(own for own in self.drafts if not own.is_pulled)
        return pulled + given + self._waiting[:1]

    @property
    def later(self) -> tuple[OwnSet, ...]:
        """The rest of what is not begun, for which a line each will do."""
        return self._waiting[1:]

    @property
    def _waiting(self) -> tuple[OwnSet, ...]:
        return tuple(own for own in self.open if not own.is_pulled)

    @property
    def pace(self) -> float | None:
        """Units an hour, once there are PACE_MINUTES of work to tell it from; None before."""
        return self.effort.units_per_hour if self.effort.minutes >= PACE_MINUTES else None

    @property
    def is_empty(self) -> bool:
        return not (self.in_hand or self.submitted)


def own_desk(project: Project, person: User) -> OwnDesk:
    """The person's own work in the project. The number of queries does not grow with it."""
    sittings = Sitting.objects.filter(assessor=person, document_set__project=project)
    efforts = effort_by_sitting(sittings)
    rows = {
        row.public_id: (efforts.get(row.pk, Effort()), row.is_pulled)
        for row in sittings.order_by().only("public_id", "is_pulled")
    }
    sets = [OwnSet(work, *rows[work.sitting_id]) for work in own_work(project, person)]
    opened = [own for own in sets if own.work.closed_at is None]
    offer = queue_offer(project, person)
    is_done = not opened and not offer.sets
    return OwnDesk(
        drafts=tuple(own for own in opened if own.work.is_begun),
        open=tuple(own for own in opened if not own.work.is_begun),
        submitted=tuple(own for own in sets if own.work.closed_at is not None),
        offer=offer,
        lapsed=tuple(lapsed_work(project, person)),
        effort=replace(
            total_effort(efforts.values()),
            judged_units=sum(own.effort.judged_units for own in sets),
        ),
        agreement=agreement_by_person(sittings).get(person.pk, NO_REPEATS) if is_done else NO_REPEATS,
    )

"""An assessor's own page: what is started, what waits, what is submitted. Blind, as all of an assessor's own work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.assessing.queries.assessment import SetWork, own_work
from annotation.assessing.queries.assignments import LapsedSet, QueueOffer, lapsed_work, queue_offer

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class OwnDesk:
    """All of a person's work in a project, each kind in the person's own order."""

    drafts: tuple[SetWork, ...]
    open: tuple[SetWork, ...]
    submitted: tuple[SetWork, ...]
    offer: QueueOffer
    lapsed: tuple[LapsedSet, ...]

    @property
    def at_hand(self) -> tuple[SetWork, ...]:
        """What is shown with its summaries: what a lease runs on, what is started, and the next of one's own."""
        pulled = tuple(work for work in self.drafts + self.open if work.lease_until)
        given = tuple(work for work in self.drafts if not work.lease_until)
        return pulled + given + self._waiting[:1]

    @property
    def later(self) -> tuple[SetWork, ...]:
        """The rest of what is not started, for which a line each will do."""
        return self._waiting[1:]

    @property
    def _waiting(self) -> tuple[SetWork, ...]:
        return tuple(work for work in self.open if not work.lease_until)

    @property
    def is_empty(self) -> bool:
        return not (self.drafts or self.open or self.submitted)


def own_desk(project: Project, person: User) -> OwnDesk:
    """The person's own work in the project. The number of queries does not grow with it."""
    sets = own_work(project, person)
    opened = [work for work in sets if work.closed_at is None]
    return OwnDesk(
        drafts=tuple(work for work in opened if work.is_begun),
        open=tuple(work for work in opened if not work.is_begun),
        submitted=tuple(work for work in sets if work.closed_at is not None),
        offer=queue_offer(project, person),
        lapsed=tuple(lapsed_work(project, person)),
    )

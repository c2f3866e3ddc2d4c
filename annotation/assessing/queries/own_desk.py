"""An assessor's own page."""

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
    """A person's work in a project, in the order of assignment.

    `drafts` has the started sets, `open` the sets that are not started, and `submitted` the closed ones.
    """

    drafts: tuple[SetWork, ...]
    open: tuple[SetWork, ...]
    submitted: tuple[SetWork, ...]
    offer: QueueOffer
    lapsed: tuple[LapsedSet, ...]

    @property
    def at_hand(self) -> tuple[SetWork, ...]:
        """Return the sets that the page shows with their summaries: leased sets, started sets, and the next set."""
        pulled = tuple(work for work in self.drafts + self.open if work.lease_until)
        given = tuple(work for work in self.drafts if not work.lease_until)
        return pulled + given + self._waiting[:1]

    @property
    def later(self) -> tuple[SetWork, ...]:
        """Return the unstarted sets that are neither leased nor next."""
        return self._waiting[1:]

    @property
    def _waiting(self) -> tuple[SetWork, ...]:
        return tuple(work for work in self.open if not work.lease_until)

    @property
    def is_empty(self) -> bool:
        return not (self.drafts or self.open or self.submitted)


def own_desk(project: Project, person: User) -> OwnDesk:
    """Load the person's own work in the project."""
    sets = own_work(project, person)
    opened = [work for work in sets if work.closed_at is None]
    return OwnDesk(
        drafts=tuple(work for work in opened if work.is_started),
        open=tuple(work for work in opened if not work.is_started),
        submitted=tuple(work for work in sets if work.closed_at is not None),
        offer=queue_offer(project, person),
        lapsed=tuple(lapsed_work(project, person)),
    )

"""A reviewer takes over the judge's verdicts of a filtered list in one explicit act, or takes that act back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from annotation.core.events import log
from annotation.core.guidelines import current_id
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Check, CheckLook, DrawnCheck, Label, Summary, Verdict, VerdictBatch
from annotation.models.assignment import AWAITED
from annotation.reviewing.queries.reveal import keeps_back
from annotation.reviewing.queries.review_queue import Filter, waiting_checks
from annotation.scoring.rescore import rescore_now

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.core.readers import CheckReader
    from annotation.models import Project

MOST_AT_ONCE = 500
SUMMARIES_AT_ONCE = 10
"""So many are rescored in one transaction, so that nobody else waits for long."""
KEPT_BACK = (
    "This project hides the judge's verdicts until reviewers have answered, so verdicts cannot be accepted "
    "in lists. Answer the checks one by one."
)


class Taken(NamedTuple):
    """A check whose verdict would be taken over, and what the judge says of it."""

    key: int
    peer_id: int
    label: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What would be taken over: the first of a list, at most `MOST_AT_ONCE`.

    `fingerprint` stands for the checks and their labels; `has_more` tells that the list goes on.
    """

    taken: tuple[Taken, ...] = field(repr=False)
    has_more: bool
    fingerprint: str

    @property
    def count(self) -> int:
        return len(self.taken)

    @property
    def by_label(self) -> dict[str, int]:
        """How many of each label, those of none left out."""
        counted = Counter(each.label for each in self.taken)
        return {label: counted[label] for label in Label.values if counted[label]}


def may_take_over(project: Project, reader: CheckReader) -> bool:
    """Whether the reader may know the judge's verdicts before an answer: nobody takes over what they cannot see."""
    return not keeps_back(project, reader)


def offer(*, project: Project, reader: CheckReader, filters: Filter) -> Offer:
    """What accepting the judge's verdicts on this list would take over at this moment; nothing is written.

    Checks that people have answered, that the judge has not, or that wait in a draw are left out: a drawn check
    needs the answer of somebody who knows nothing. Raises NotAllowed for whoever must not know yet what the judge
    says (see `may_take_over`), Invalid unless the list is narrowed down, and as `waiting_checks`.
    """
    require(reader.person, project, Verb.REVIEW)
    if not may_take_over(project, reader):
        raise NotAllowed(KEPT_BACK)
    if not filters.is_narrowed:
        raise Invalid(
            "Filter the list first. You can accept verdicts for a document set, a system, a side, claims "
            "with numbers, an answer or a reviewer.",
            field="only",
        )
    drawn = DrawnCheck.objects.filter(AWAITED, check_row=OuterRef("pk"))
    waiting = waiting_checks(project, reader, filters).filter(
        ~Exists(drawn), human_label__isnull=True, judge_label__isnull=False, final_source=Check.Decider.JUDGE
    )
    rows = waiting.values_list("pk", "peer_id", "judge_label")[: MOST_AT_ONCE + 1]
    found = [Taken(key, peer_id, label or "") for key, peer_id, label in rows]
    taken = tuple(found[:MOST_AT_ONCE])
    told = ";".join(f"{each.key}:{each.label}" for each in taken)
    fingerprint = sha256(told.encode()).hexdigest()[:16]
    return Offer(taken=taken, has_more=len(found) > MOST_AT_ONCE, fingerprint=fingerprint)


def accept_batch(
    *, project: Project, reader: CheckReader, filters: Filter, expected: int, fingerprint: str
) -> VerdictBatch:
    """Accept the judge's verdicts of a filtered list as the person's own, at most 500, as one act.

    `expected` and `fingerprint` are the count and the state that were on screen: Conflict (code `changed`) where the
    list has changed since, and nothing is written. Works summary by summary, each group in a
    transaction of its own; a check that somebody answers meanwhile is passed over, and the batch counts
    what was taken. The verdicts say that the judge's was shown, so they never count for agreement.
    """
    offered = offer(project=project, reader=reader, filters=filters)
    if (expected, fingerprint) != (offered.count, offered.fingerprint):
        raise Conflict(
            f"The list has changed since you looked: it holds {offered.count} to accept now, not {expected}. "
            "Nothing was accepted. Check the list again.",
            code="changed",
        )
    if not offered.taken:
        raise Invalid("All checks in this list are answered already.", code="nothing")
    with transaction.atomic():
        batch = VerdictBatch.objects.create(
            project=project, by=reader.person, filters=filters.as_query(), count=0
        )
        log(
            project=project,
            actor=reader.person,
            verb="accept batch",
            target=batch,
            data={"count": offered.count, "labels": offered.by_label, "filters": filters.as_query()},
        )
    for group in _by_summaries(offered.taken):
        _take(batch, reader.person, group)
    batch.refresh_from_db()
    return batch


def withdraw_batch(*, batch: VerdictBatch, by: User) -> VerdictBatch:
    """Take a whole batch back: what stood before its verdicts stands again. Twice changes nothing.

    Raises NotAllowed for another person's batch.
    """
    require(by, batch.project, Verb.REVIEW)
    if batch.by_id != by.pk:
        raise NotAllowed("Only the person who accepted the verdicts can undo this.")
    with transaction.atomic():
        held = VerdictBatch.objects.select_for_update(of=("self",)).select_related("project").get(pk=batch.pk)
        if held.withdrawn_at is None:
            held.withdrawn_at = timezone.now()
            held.save(update_fields=["withdrawn_at"])
            log(
                project=held.project,
                actor=by,
                verb="withdraw batch",
                target=held,
                data={"count": held.count},
            )
    # Also where an earlier attempt was cut off: what is left of it is taken back now.
    standing = Verdict.objects.filter(batch=held, withdrawn_at=None)
    rows = standing.order_by("check_row__peer_id").values_list("pk", "check_row__peer_id", "label")
    for group in _by_summaries([Taken(key, peer_id, label or "") for key, peer_id, label in rows]):
        _give_back(held, group)
    return held


def _by_summaries(taken: Sequence[Taken]) -> Iterator[list[Taken]]:
    """Groups that touch a few summaries each, in the order in which summaries are locked."""
    peers = sorted({each.peer_id for each in taken})
    for first in range(0, len(peers), SUMMARIES_AT_ONCE):
        named = set(peers[first : first + SUMMARIES_AT_ONCE])
        yield [each for each in taken if each.peer_id in named]


@transaction.atomic
def _take(batch: VerdictBatch, by: User, group: Sequence[Taken]) -> None:
    peers = _locked(group)
    labels = {each.key: each.label for each in group}
    checks = Check.objects.select_for_update(of=("self",)).filter(
        pk__in=labels, human_label__isnull=True, is_current=True
    )
    still = [check for check in checks.order_by("pk") if check.judge_label == labels[check.pk]]
    guideline_id = current_id(batch.project)
    Verdict.objects.bulk_create(
        Verdict(
            check_row=check,
            source=Verdict.Source.REVIEWER,
            person=by,
            label=check.judge_label,
            shown=Verdict.Shown.JUDGE,
            batch=batch,
            guideline_id=guideline_id,
        )
        for check in still
    )
    _looked(by, still)
    VerdictBatch.objects.filter(pk=batch.pk).update(count=F("count") + len(still))
    rescore_now(project=batch.project, summary_ids=peers)


def _looked(by: User, checks: Sequence[Check]) -> None:
    """Whoever takes the judge's word over has it."""
    CheckLook.objects.bulk_create(
        [CheckLook(check_row=check, person=by) for check in checks], ignore_conflicts=True
    )
    unseen = CheckLook.objects.filter(check_row__in=checks, person=by, revealed_at=None)
    unseen.update(revealed_at=timezone.now())


@transaction.atomic
def _give_back(batch: VerdictBatch, group: Sequence[Taken]) -> None:
    peers = _locked(group)
    Verdict.objects.filter(pk__in=[each.key for each in group], withdrawn_at=None).update(
        withdrawn_at=batch.withdrawn_at
    )
    rescore_now(project=batch.project, summary_ids=peers)


def _locked(group: Sequence[Taken]) -> list[int]:
    peers = sorted({each.peer_id for each in group})
    list(Summary.objects.select_for_update().filter(pk__in=peers).order_by("pk").only("pk"))
    return peers

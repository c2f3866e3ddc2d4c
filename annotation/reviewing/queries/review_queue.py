"""The queues of checks that wait for a reviewer: what is in them, in which order, and what comes next.

Pages and next checks are found by the values that they start after, on an index, so that neither a deep page
nor a queue of which most is answered costs more than the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q

from annotation.core.known_checks import answered, knows
from annotation.core.permissions import Verb, roles_with
from annotation.core.readers import CheckReader
from annotation.core.refusals import Invalid
from annotation.core.search import holds, searched_for
from annotation.models import (
    SIDE_SCORES,
    Check,
    Judge,
    Label,
    Membership,
    Project,
    Sample,
    SampledCheck,
    Verdict,
)
from annotation.reviewing.queries.sight import keeps_back, with_known
from annotation.sampling.queries.check_samples import (
    CheckSample,
    check_samples,
    open_samples,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

QUEUE_PAGE_SIZE = 40
CHECKS_COUNTED_UP_TO = 1000
QUEUE_COLUMNS = (
    "public_id",
    "side",
    "uncertainty",
    "impact",
    "queue_key",
    "human_label",
    "final_label",
    "is_disputed",
    "claim__text",
    "document_set__external_id",
    "document_set__public_id",
)


class Order(StrEnum):
    SET = "set"
    UNCERTAINTY = "uncertainty"
    IMPACT = "impact"
    DOCUMENT = "document"


class Only(StrEnum):
    WAITING = "waiting"
    SPLIT = "split"
    DISPUTED = "disputed"
    AGAINST = "against"
    ANSWERED = "answered"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which checks a queue holds and in which order.

    `split` holds what a panel's votes differ on, `disputed` what reviewers differ on, `against` what people
    answered otherwise than the judge. Unless the project shows verdicts at once, both and `label` hold only what the
    reader has answered, whatever their roles. `set` goes through the document sets as they were imported, and in each
    begins with what the judge is least sure of; `document` goes through the summaries alike, and in each by the
    order of its claims. `label` is what people have answered and `reviewer` the name of one who did;
    `document_set` is a public id, `system` one or a name; `q` is searched for in claims and names of sets. With
    `sample`, the public id of one, the queue holds what was sampled and still waits for an answer, in random order, and
    no other word counts but the side.
    """

    order: Order = Order.SET
    only: Only = Only.WAITING
    side: str = ""
    label: str = ""
    numbers: str = ""
    system: str = ""
    document_set: str = ""
    reviewer: str = ""
    q: str = ""
    sample: str = ""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Filter:
        """The filter that these words name; those that are missing or empty take the default. Raises Invalid."""
        words = {field.name: given.get(field.name, "") for field in fields(cls)}
        words["q"] = searched_for(words["q"])
        for name, known in CHOICES.items():
            if words[name] and words[name] not in known:
                told = f"{name} is one of {', '.join(known)}, not {words[name]!r}."
                raise Invalid(told, field=name)
        order, only = Order(words.pop("order") or Order.SET), Only(words.pop("only") or Only.WAITING)
        return cls(order=order, only=only, **words)

    def as_query(self) -> dict[str, str]:
        """The words that differ from the default, for addresses."""
        plain = Filter()
        words = {field.name: str(getattr(self, field.name)) for field in fields(self)}
        return {name: word for name, word in words.items() if word != getattr(plain, name)}

    @property
    def is_of_answers(self) -> bool:
        """Whether it goes by what people said, and so tells it."""
        return self.only in (Only.DISPUTED, Only.AGAINST) or bool(self.label)

    @property
    def is_plain(self) -> bool:
        """Whether nothing is left out but what is answered."""
        return self == Filter(order=self.order)


CHOICES: dict[str, list[str]] = {
    "order": list(Order),
    "only": list(Only),
    "side": list(Check.Side.values),
    "label": list(Label.values),
    "numbers": ["1"],
}


@dataclass(frozen=True, slots=True)
class QueuedCheckRow:
    """`human_label` and `is_disputed` are left out where the reader must not know them yet, `uncertainty` where the
    project keeps back what the judge said."""

    check_id: str
    claim: str
    document_set: str
    set_id: str
    side: str
    uncertainty: float | None
    impact: float
    human_label: str | None
    is_disputed: bool | None


@dataclass(frozen=True, slots=True)
class QueuePage:
    """One page of the queue; `after` names the next one, None at the end.

    It is the public id of the page's last check, whose values are looked up when the next page is asked for: a value in
    it would tell readers what is kept back from them, or let them search for it.
    """

    rows: tuple[QueuedCheckRow, ...]
    after: str | None
    counted: int
    is_counted_out: bool

    @property
    def first(self) -> QueuedCheckRow | None:
        return self.rows[0] if self.rows else None


def queue(project: Project, reader: CheckReader, filters: Filter, *, after: str = "") -> QueuePage:
    """One page of the queue, found by the values it starts after, however deep it lies.

    Raises as `waiting_checks`, and Invalid for a page that is not there.
    """
    waiting = waiting_checks(project, reader, filters)
    page: list[Any] = []
    for part in following_check(waiting, _named(project, after), filters) if after else (waiting,):
        # Whoever may see all is not shown the answers of others before their own either: they answer here too.
        told = with_known(part, reader.person, is_kept_back=project.reveal != Project.Reveal.SHOWN)
        # Named columns: the summaries' texts would be sorted along.
        rows = told.select_related("claim", "document_set").only(*QUEUE_COLUMNS)
        rows = rows.order_by(*rows.query.order_by, "public_id")
        page += rows[: QUEUE_PAGE_SIZE + 1 - len(page)]
        if len(page) > QUEUE_PAGE_SIZE:
            break
    shown = page[:QUEUE_PAGE_SIZE]
    counted = count(waiting)
    is_kept_back = keeps_back(project, reader)
    return QueuePage(
        rows=tuple(_queue_row(check, is_kept_back=is_kept_back) for check in shown),
        after=shown[-1].public_id if len(page) > QUEUE_PAGE_SIZE else None,
        counted=min(counted, CHECKS_COUNTED_UP_TO),
        is_counted_out=counted <= CHECKS_COUNTED_UP_TO,
    )


def _named(project: Project, public_id: str) -> Check:
    """The check at which a page of the queue ends. Raises Invalid."""
    check = Check.objects.filter(project=project, public_id=public_id).first()
    if check is None:
        raise Invalid("This page of the queue does not exist. Start from the first page.", field="after")
    return check


def following_check(waiting: QuerySet[Check], check: Check, filters: Filter) -> tuple[QuerySet[Check], ...]:
    """Those of a queue that come after a check, which need not be in it, in parts that follow one another.

    Of each part an index gives the first at once. As one condition, all that are level with the check and come before
    it would be waded through.
    """
    if filters.sample:
        here = SampledCheck.objects.filter(sample__public_id=filters.sample, check_row=check).values_list(
            "pk", flat=True
        )
        # What is not in the sample comes before all that is.
        return (waiting.filter(Q(sampled_as__gt=here.first() or 0)),)
    if filters.order == Order.DOCUMENT:
        beyond = Q(peer_id__gt=check.peer_id) | Q(claim_id__gt=check.claim_id)
        return (waiting.filter(beyond, peer_id__gte=check.peer_id),)
    column = Order.UNCERTAINTY.value if filters.order == Order.SET else filters.order.value
    value = getattr(check, column)
    behind = Q(queue_key__gt=check.queue_key) | Q(public_id__gt=check.public_id)
    among = waiting.filter(document_set=check.document_set_id) if filters.order == Order.SET else waiting
    level = among.filter(behind, **{column: value, "queue_key__gte": check.queue_key})
    lower = among.filter(**{f"{column}__lt": value})
    if filters.order == Order.SET:
        return level, lower, waiting.filter(document_set__gt=check.document_set_id)
    return level, lower


def waiting_checks(project: Project, reader: CheckReader, filters: Filter) -> QuerySet[Check]:
    """The checks of a queue in its order. Two with one random key, which hardly occur, come in any.

    Raises NotAllowed for a filter that would tell this reader which system wrote a summary, or who
    answered what.
    """
    if filters.sample:
        return _sampled_checks(project, reader, filters)
    waiting = Check.objects.filter(project=project, is_current=True)
    waiting = _only(waiting, project, filters.only)
    if filters.label:
        waiting = waiting.filter(human_label=filters.label)
    if filters.is_of_answers and project.reveal != Project.Reveal.SHOWN:
        waiting = waiting.filter(answered(reader.person))
    if filters.side:
        waiting = waiting.filter(side=filters.side)
    if filters.numbers:
        waiting = waiting.filter(has_number=True)
    if filters.document_set:
        waiting = waiting.filter(document_set__public_id=filters.document_set)
    waiting = waiting.filter(holds(filters.q, "claim__text", "document_set__external_id"))
    if filters.system:
        reader.need_all("system")
        waiting = waiting.filter(by_system(filters.system))
    if filters.reviewer:
        if filters.reviewer != reader.person.username:
            reader.need_all("reviewer")
        said = Verdict.objects.filter(
            person__username=filters.reviewer, role=Verdict.Role.REVIEWER, withdrawn_at=None
        )
        waiting = waiting.filter(Exists(said.filter(check_row=OuterRef("pk"))))
    return _in_order(waiting, filters.order)


def _in_order(waiting: QuerySet[Check], order: Order) -> QuerySet[Check]:
    match order:
        case Order.SET:
            return waiting.order_by("document_set_id", "-uncertainty", "queue_key")
        case Order.DOCUMENT:
            return waiting.order_by("peer_id", "claim_id")
        case _:
            return waiting.order_by(f"-{order.value}", "queue_key")


class SampleFirst(NamedTuple):
    """A random sample that waits for answers; this reader can give `left` of them."""

    sample: CheckSample
    left: int


def sample_first(project: Project, reader: CheckReader) -> SampleFirst | None:
    """The oldest random sample that this reader can go on with; None where there is none.

    Two queries where no sample is open.
    """
    for sample in open_samples(project, but=reader.person):
        left = count(waiting_checks(project, reader, Filter(sample=sample.sample_id)))
        if left:
            return SampleFirst(sample, left)
    return None


def is_finished_sample(project: Project, filters: Filter) -> bool:
    """Whether the filter names a random sample of which every claim is answered."""
    return bool(filters.sample) and any(
        sample.is_complete for sample in check_samples(project, only=filters.sample)
    )


def sampled_scores(filters: Filter) -> list[str]:
    """The scores that the random sample tells of which the filter names."""
    if not filters.sample:
        return []
    sides = SampledCheck.objects.filter(sample__public_id=filters.sample).order_by()
    held = set(sides.values_list("check_row__side", flat=True).distinct())
    return [score for side, score in SIDE_SCORES.items() if side in held]


def reviewers(project: Project) -> list[str]:
    """The names of those whose roles let them answer checks, in order."""
    members = Membership.objects.filter(project=project).select_related("user").order_by("user__username")
    able = roles_with(Verb.REVIEW)
    return [member.user.username for member in members if member.role_set & able]


def _only(checks: QuerySet[Check], project: Project, only: Only) -> QuerySet[Check]:
    match only:
        case Only.WAITING:
            return checks.filter(human_label__isnull=True)
        case Only.SPLIT:
            is_split = Q(judge_label__isnull=False, uncertainty__gt=0) if has_panel(project) else Q(pk__in=())
            return checks.filter(is_split, human_label__isnull=True)
        case Only.ANSWERED:
            return checks.filter(human_label__isnull=False)
        case Only.DISPUTED:
            return checks.filter(is_disputed=True)
        case Only.AGAINST:
            answered = checks.filter(human_label__isnull=False, judge_label__isnull=False)
            return answered.filter(~Q(human_label=F("judge_label")))
        case Only.ALL:
            return checks


def has_panel(project: Project) -> bool:
    """Whether the deciding judge is a panel whose members are all asked, and may differ."""
    judge = project.deciding_judge
    return judge is not None and judge.kind == Judge.Kind.PANEL


def _sampled_checks(project: Project, reader: CheckReader, filters: Filter) -> QuerySet[Check]:
    """Checks of a sample that wait for an answer that this reader can still give blind, in the sample's order."""
    samples = Sample.objects.filter(project=project, public_id=filters.sample)
    sample = samples.only("cancelled_at").first()
    if sample is None:
        raise Invalid("There is no such random sample of checks in this project.", field="sample")
    if sample.cancelled_at is not None:
        raise Invalid(
            "This random sample was cancelled, so its claims are no longer in the queue.", field="sample"
        )
    waiting = Check.objects.filter(project=project, sampled__sample=sample, sampled__verdict__isnull=True)
    if filters.side:
        waiting = waiting.filter(side=filters.side)
    return waiting.exclude(knows(reader.person)).alias(sampled_as=F("sampled__pk")).order_by("sampled_as")


def by_system(asked: str) -> Q:
    """Checks of the summaries of a system, asked for by its public id or its name."""
    return Q(peer__system__public_id=asked) | Q(peer__system__name=asked)


def count(waiting: QuerySet[Check]) -> int:
    """How many there are, counted no further than a person wants to know."""
    return waiting.order_by().values("pk")[: CHECKS_COUNTED_UP_TO + 1].count()


def _queue_row(check: Any, *, is_kept_back: bool) -> QueuedCheckRow:
    return QueuedCheckRow(
        check_id=check.public_id,
        claim=check.claim.text,
        document_set=check.document_set.external_id,
        set_id=check.document_set.public_id,
        side=check.side,
        uncertainty=None if is_kept_back else check.uncertainty,
        impact=check.impact,
        human_label=check.human_label if check.is_known else None,
        is_disputed=check.is_disputed if check.is_known else None,
    )

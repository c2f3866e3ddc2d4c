"""The checks of a project as lists, and the queues for reviewers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, Subquery, TextChoices

from annotation.core.lists import Choices, Column, Filter, Kind, List, Listing, Order, Viewer, sees_scores
from annotation.core.permissions import READ_CONTENT, Verb, roles_with
from annotation.core.refusals import Invalid, NotAllowed
from annotation.models import (
    SCORE_SIDES,
    SIDE_SCORES,
    Check,
    Judge,
    Label,
    Membership,
    Project,
    Sample,
    System,
    Verdict,
)
from annotation.models.claim import OF_CLAIMS
from annotation.reviewing.queries.known_checks import answered, knows
from annotation.reviewing.queries.sight import DECIDED_BY_RULE, hides_answers, with_known
from annotation.sampling.queries.check_samples import (
    CheckSample,
    check_samples,
    open_samples,
)
from annotation.texts.queries.check_text import SUMMARY_NUMBER

if TYPE_CHECKING:
    from django.db.models import QuerySet


CHECKS_COUNTED_UP_TO = 5000
UNSCORED = "unscored"
CLAIMS = "claims"
"""The value of the filter `side` for checks of claims on both sides, without closed questions."""
Sight = Callable[[Viewer], bool]
"""A rule that is True if a list hides others' answers from a viewer who has not answered the check."""


class Only(TextChoices):
    """The values of the filter `only`, which selects checks by their answers."""

    WAITING = "waiting", "Unanswered"
    SPLIT = "split", "Panel split"
    DISPUTED = "disputed", "Disputed"
    AGAINST = "against", "Against the judge"
    ANSWERED = "answered", "Answered"
    ALL = "all", "All checks"


LABELS = Choices("Label", Label.choices)
SIDES = Choices(
    "CheckSide",
    [
        (Check.Side.REFERENCE, "summary"),
        (Check.Side.SUMMARY, "source"),
        (Check.Side.QUESTION, "closed question"),
    ],
)
ORDERS = (
    # In each set, the coverage checks come before the alignment checks.
    Order(
        "set",
        "By document set",
        ("document_set_id", "side", "of_summary", "-uncertainty", "queue_key", "pk"),
    ),
    Order("uncertainty", "Most uncertain", ("-uncertainty", "queue_key", "pk")),
    Order("impact", "Largest impact on coverage", ("-impact", "queue_key", "pk")),
    # This order leaves out checks of closed questions against the source, because they belong to no summary.
    Order("document", "By summary", ("summary_id", "claim_id"), Q(summary__isnull=False)),
)
RANDOM = Order("random", "In random order", ("queue_key", "pk"))


def _once_known(name: str) -> Callable[[Any], Any]:
    return lambda check: getattr(check, name) if check.is_known else None


def _final(name: str) -> Callable[[Any], Any]:
    def value(check: Any) -> Any:
        is_shown = check.is_known or check.final_source == Check.Decider.RULE
        return getattr(check, name) if is_shown else None

    return value


COLUMNS = (
    Column("claim_text", "claim.text", head="Claim", search=True, cell="reviewing/list/_claim.html"),
    Column("id", "public_id"),
    Column("claim", "claim.public_id"),
    Column(
        "summary",
        "summary.public_id",
        nullable=True,
        help="The summary that it scores; null: all of the document set.",
    ),
    Column("document_set", "document_set.public_id"),
    Column(
        "document_id",
        "document_set.external_id",
        head="Document set",
        search=True,
        cell="reviewing/list/_set.html",
    ),
    Column(
        "summary_number",
        kind=Kind.COUNT,
        nullable=True,
        head="Summary",
        help="Its number in the document set.",
    ),
    Column(
        "side",
        choices=SIDES,
        head="Compared with",
        help="reference: a claim of the reference, compared with the summary. summary: a claim of the summary, "
        "compared with the source. question: a closed question, answered from the summary alone or, without a "
        "summary, from the source.",
    ),
    Column("system", "summary.system.name", nullable=True, seen_by=sees_scores),
    Column("target_words", "summary.target_words", kind=Kind.COUNT, nullable=True),
    Column(
        "uncertainty",
        kind=Kind.NUMBER,
        seen_by=lambda viewer: not hides_answers(viewer),
        help="1: maximally uncertain; 0: certain.",
    ),
    Column(
        "impact",
        lambda check: check.impact if check.side == Check.Side.REFERENCE else None,
        kind=Kind.NUMBER,
        nullable=True,
        help="Largest possible change of coverage by another answer; null on the other sides.",
    ),
    Column("judge_label", _once_known("judge_label"), choices=LABELS, nullable=True),
    Column(
        "judge_probability",
        _once_known("judge_probability"),
        kind=Kind.NUMBER,
        nullable=True,
        help="Probability of yes, 0 to 1.",
    ),
    Column("human_label", _once_known("human_label"), choices=LABELS, nullable=True),
    Column(
        "final_label",
        _final("final_label"),
        choices=LABELS,
        nullable=True,
        help="Null if it is unscored or hidden.",
    ),
    Column(
        "final_source",
        _final("final_source"),
        choices=Choices("Decider", Check.Decider.choices),
        nullable=True,
    ),
    Column("unscored_reason", _once_known("unscored_reason"), nullable=True),
    Column("is_disputed", _once_known("is_disputed"), kind=Kind.FLAG, nullable=True),
    Column(
        "is_hidden_yet",
        lambda check: not check.is_known,
        kind=Kind.FLAG,
        help="True if other answers are hidden until the viewer has answered.",
    ),
)
READ = (
    *("public_id", "side", "uncertainty", "impact", "queue_key", "judge_label", "judge_probability"),
    *("human_label", "final_label", "final_source", "unscored_reason", "is_disputed"),
    *("claim__public_id", "claim__text", "document_set__public_id", "document_set__external_id"),
    *("summary__public_id", "summary__target_words", "summary__system__name"),
)
"""The loaded columns."""


def _of_side(viewer: Viewer, side: str) -> Q:
    return OF_CLAIMS if side == CLAIMS else Q(side=side)


def _by_side(default: str = "") -> Filter:
    words = [(CLAIMS, "All claims"), *((side, score.capitalize()) for side, score in SIDE_SCORES.items())]
    choices = Choices("SideShown", [*words, (Check.Side.QUESTION.value, "Questions")])
    return Filter("side", _of_side, choices=choices, title="Score", default=default)


def _only(is_hidden: Sight) -> Callable[[Viewer, Any], Q]:
    def where(viewer: Viewer, only: str) -> Q:
        known = answered(viewer.person) if is_hidden(viewer) else Q()
        match Only(only):
            case Only.WAITING:
                return Q(human_label__isnull=True)
            case Only.SPLIT:
                split = Q(judge_label__isnull=False, uncertainty__gt=0, human_label__isnull=True)
                return split if has_panel(viewer.project) else Q(pk__in=())
            case Only.ANSWERED:
                return Q(human_label__isnull=False)
            case Only.DISPUTED:
                return Q(is_disputed=True) & known
            case Only.AGAINST:
                both = Q(human_label__isnull=False, judge_label__isnull=False)
                return both & ~Q(human_label=F("judge_label")) & known
            case Only.ALL:
                return Q()

    return where


def _labelled(is_hidden: Sight) -> Callable[[Viewer, Any], Q]:
    def where(viewer: Viewer, label: str) -> Q:
        labelled = Q(final_label=None if label == UNSCORED else label)
        if not is_hidden(viewer):
            return labelled
        known = answered(viewer.person) | DECIDED_BY_RULE
        return labelled | ~known if label == UNSCORED else labelled & known

    return where


def _answered_by(viewer: Viewer, username: str) -> Q:
    if username != viewer.person.username and not sees_scores(viewer):
        raise NotAllowed("Only those who may view scores can filter by what another reviewer answered.")
    verdicts = Verdict.objects.filter(
        person__username=username, role=Verdict.Role.REVIEWER, withdrawn_at=None, check_row=OuterRef("pk")
    )
    return Q(Exists(verdicts))


def _of_sample(viewer: Viewer, public_id: str) -> Q:
    sample = Sample.objects.filter(project=viewer.project, public_id=public_id).only("cancelled_at").first()
    if sample is None:
        raise Invalid("There is no such random sample of checks in this project.", field="sample")
    if sample.cancelled_at is not None:
        raise Invalid(
            "This random sample was cancelled, so its claims are no longer in the queue.", field="sample"
        )
    return Q(sampled_verdict=None) & ~knows(viewer.person)


def _shown(viewer: Viewer) -> list[tuple[str, str]]:
    return [each for each in Only.choices if each[0] != Only.SPLIT or has_panel(viewer.project)]


def _systems(viewer: Viewer) -> list[tuple[str, str]]:
    systems = System.objects.filter(project=viewer.project).order_by("name")
    return list(systems.values_list("public_id", "name"))


def _people(viewer: Viewer) -> list[tuple[str, str]]:
    if not sees_scores(viewer):
        return [(viewer.person.username, "me")]
    return [(name, name) for name in reviewers(viewer.project)]


SAMPLE = Filter("sample", _of_sample, help="Id of a random sample of checks.")


def checks_list(is_hidden: Sight, *, only: str = "", side: str = "") -> List:
    """Build a list of a project's checks. `only` and `side` are the defaults of these filters.

    If `is_hidden` is True for a viewer, others' answers are hidden until the viewer has answered.
    """

    def rows(viewer: Viewer) -> QuerySet[Any]:
        checks = Check.objects.filter(project=viewer.project, is_current=True).annotate(
            summary_number=SUMMARY_NUMBER
        )
        known = with_known(checks, viewer.person, is_kept_back=is_hidden(viewer))
        return known.select_related("claim", "document_set", "summary__system").only(*READ)

    return List(
        name="checks",
        verbs=READ_CONTENT,
        rows=rows,
        columns=COLUMNS,
        order=("pk",),
        orders=(*ORDERS, RANDOM),
        filters=(
            Filter(
                "only",
                _only(is_hidden),
                choices=Choices("ChecksShown", Only.choices),
                options=_shown,
                title="Show",
                default=only,
                help="waiting: nobody answered. split: a panel's votes differ. disputed: reviewers differ. "
                "against: people answered otherwise than the judge. The last two, like label, use only what "
                "the viewer may know.",
            ),
            _by_side(side),
            Filter(
                "numbers",
                "has_number",
                kind=Kind.FLAG,
                choices=Choices("", [("true", "with numbers")]),
                title="Claims",
                help="Claims with numbers, or without.",
            ),
            Filter(
                "label",
                _labelled(is_hidden),
                choices=Choices("FinalLabel", [*Label.choices, (UNSCORED, "Unscored")]),
                title="Answer",
                help="The current answer, as far as the viewer may know it; unscored: none.",
            ),
            Filter(
                "reviewer",
                _answered_by,
                options=_people,
                title="Answered by",
                help="Answered by this person; other people need the verb view scores.",
            ),
            Filter(
                "system",
                lambda viewer, asked: Q(summary__system__public_id=asked) | Q(summary__system__name=asked),
                options=_systems,
                seen_by=sees_scores,
                title="System",
                help="Checks of that system's summaries, by id or name; needs the verb view scores.",
            ),
            Filter("document_set", "document_set__public_id", help="Checks in the set of that id."),
            Filter("summary", "summary__public_id", help="Checks that score the summary of that id."),
        ),
    )


# In the queue, others' answers are hidden from everybody until their own answer, unless the project shows verdicts at
# once.
_AT_DESK = checks_list(
    lambda viewer: viewer.project.reveal != Project.Reveal.SHOWN, only=Only.WAITING, side=CLAIMS
)
QUEUE = replace(
    _AT_DESK,
    verbs=(Verb.REVIEW,),
    order=ORDERS[0].by,
    orders=ORDERS,
    filters=(*_AT_DESK.filters, SAMPLE),
    above="reviewing/list/_group.html",
    within="queue",
    empty="No checks are waiting: all have a person's answer, or there are none yet. Start a run or import checks.",
)


def sampled(public_id: str) -> List:
    """Build the queue of a random sample."""

    def rows(viewer: Viewer) -> QuerySet[Any]:
        # With a subquery instead of a join, an index can give the checks in the sample's order.
        sample = Sample.objects.filter(public_id=public_id).values("pk")
        checks = QUEUE.rows(viewer).filter(sampled__sample=Subquery(sample))
        placed: QuerySet[Any] = checks.annotate(
            sampled_as=F("sampled__pk"), sampled_verdict=F("sampled__verdict")
        )
        return placed

    return replace(QUEUE, rows=rows, order=("sampled_as",), orders=(), filters=(_by_side(), SAMPLE))


def queue_of(given: Mapping[str, str]) -> List:
    """Build the queue that these parameters select: the queue of the sample, or the whole queue."""
    return sampled(given["sample"]) if given.get("sample") else QUEUE


class SampleLeft(NamedTuple):
    """A random sample. `left` is the number of its checks that this viewer can answer blind.

    `of_others` is the number of other unanswered checks, which the viewer cannot answer blind.
    """

    sample: CheckSample
    left: int
    of_others: int


def left_in(sample: CheckSample, viewer: Viewer) -> SampleLeft:
    """Count the unanswered checks of a sample that this viewer can answer blind."""
    # If the numbers of the sample are restricted to one score, count only the checks on the side of this score.
    side = SCORE_SIDES[sample.scores[0]] if len(sample.scores) == 1 else ""
    given = {"sample": sample.sample_id, "side": side}
    left = sampled(sample.sample_id).look(viewer, given).found.order_by().count()
    return SampleLeft(sample, left, sample.sampled - sample.answered - left)


def sample_first(viewer: Viewer) -> SampleLeft | None:
    """Find the first open random sample with checks that this viewer can answer blind; None if there is none."""
    found = (left_in(sample, viewer) for sample in open_samples(viewer.project, but=viewer.person))
    return next((each for each in found if each.left), None)


def sample_left(look: Listing) -> SampleLeft | None:
    """Return the queue's random sample with the number of checks that the viewer can answer; None for another queue."""
    name = look.chosen.get("sample", "")
    found = check_samples(look.viewer.project, only=name) if name else []
    return left_in(found[0], look.viewer) if found else None


def reviewers(project: Project) -> list[str]:
    """Return the usernames of members whose roles allow them to answer checks, sorted."""
    members = Membership.objects.filter(project=project).select_related("user").order_by("user__username")
    able = roles_with(Verb.REVIEW)
    return [member.user.username for member in members if member.role_set & able]


def has_panel(project: Project) -> bool:
    """Return True if the deciding judge is a panel, whose members can differ."""
    judge = project.deciding_judge
    return judge is not None and judge.kind == Judge.Kind.PANEL


def count(look: Listing) -> int:
    """Count the rows of a queue. The result is at most CHECKS_COUNTED_UP_TO + 1."""
    return look.found.order_by().values("pk")[: CHECKS_COUNTED_UP_TO + 1].count()


def counts_down(look: Listing) -> bool:
    """Return True if an answer removes a check from the queue."""
    return "sample" in look.chosen or look.chosen.get("only") in (Only.WAITING, Only.SPLIT)


def goes_by_answers(look: Listing) -> bool:
    """Return True if the queue is filtered by answers that may be hidden from the viewer."""
    by_answers = look.chosen.get("only") in (Only.DISPUTED, Only.AGAINST) or "label" in look.chosen
    return by_answers and look.viewer.project.reveal != Project.Reveal.SHOWN

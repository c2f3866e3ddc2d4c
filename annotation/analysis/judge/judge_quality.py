"""Compare each judge's verdicts with people's blind answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, cast

from django.db.models import Count, Max, QuerySet, Sum

from annotation.analysis.agreement.ratings import CheckFacts, check_facts
from annotation.analysis.figures import Computed
from annotation.analysis.intervals import shown
from annotation.analysis.judge.judge_answers import (
    AnswerBasis,
    Humans,
    VersionKey,
    humans_of,
    in_order,
    judges_of_runs,
    names_of,
    said_of,
)
from annotation.analysis.judge.rating_bias import RatingBias, rating_bias
from annotation.judging.queries.examples import examples_of
from annotation.judging.queries.runs import ServedModel, served_in
from annotation.models import (
    SIDE_SCORES,
    Analysis,
    Check,
    Judge,
    JudgeCall,
    PromptVersion,
    Run,
    Verdict,
)
from annotation.models.document import cluster_of
from annotation.scoring.own_scores import own_inputs
from evaluation.judging import LABELS, Label, Price
from evaluation.statistics import (
    FEWEST_IN_SLICE,
    LENGTHS,
    JudgeReport,
    SelfAgreement,
    judge_reports,
    self_agreement,
)

if TYPE_CHECKING:
    from annotation.analysis.slices.split import Split
    from annotation.models import Project

MOST_VERSIONS = 8


Trust = Literal["yes", "shifted", "no", "unknown"]
"""The comparison of a judge's accuracy with the share of people's most frequent answer, yes or not yes.

- `yes`: the interval of the accuracy lies above this share, and the judge says yes about as often as people
- `shifted`: the interval lies above this share, but the judge says yes significantly more or less often than people
- `no`: the accuracy is not above this share
- `unknown`: no other word fits, an interval is missing, or people's answers do not represent all checks

Intervals are of 95 %.
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls, tokens and cost of the runs in which a version gave verdicts, at the present prices of the judges.

    `answered` is the number of current checks that the version answered. `of_thousand` is 1,000 times `cost` by
    `answered`; None if there are no calls or answers, or if a judge that was called has no price.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    has_price: bool
    answered: int
    of_thousand: float | None


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a judge compared with people.

    `own_words` names the prompts that the project has reworded. `usual` is people's most frequent answer: yes, or no
    for all other answers. `usual_share` is its share of the scored checks; None without scored checks. `systems` has a
    report for each system, least accurate first; `kinds` has one for each kind of claim. `slices` has one for each
    slice of the chosen key with people's answers, or None for fewer than 10 clusters. `examples` are the examples in
    the judge's prompts. `served` are the models that answered in its runs.
    """

    id: str
    judge: str
    kind: str
    signature: str
    own_words: tuple[str, ...]
    is_deciding: bool
    trust: Trust
    usual: str
    usual_share: float | None
    report: JudgeReport
    kinds: dict[str, JudgeReport]
    systems: dict[str, JudgeReport]
    cost: Cost
    examples: list[dict[str, str]]
    served: list[ServedModel]
    slices: dict[str, JudgeReport | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Repeats:
    """A judge's labels compared with its labels when a run asked it again, over its verdicts on current checks."""

    judge: str
    agreement: SelfAgreement


@dataclass(frozen=True, slots=True)
class JudgeFigures(Computed):
    """The judges of a project compared with its people, for one score.

    - `scores`: the scores with answers of people, blind or not
    - `versions`: at most MOST_VERSIONS versions with verdicts on these `checks`, the deciding judge's first
    - `left_out`: the number of versions that are not listed
    - `checks`: the number of checks with a majority of blind answers; for a sample as `basis`, the number of its checks
    - `documents`: the number of clusters of these checks; a cluster is a group of document sets, or a set without group
    - `ties`: the number of checks with equally many answers for two labels; 0 if `basis` is a sample
    - `imported`: the number of these checks that have an imported answer
    - `repeats`: the repeated answers of each judge, for all scores
    - `ratings`: the deciding judge's ratings by own criteria compared with people's
    """

    score: str
    scores: tuple[str, ...]
    checks: int
    documents: int
    ties: int
    imported: int
    basis: AnswerBasis
    versions: tuple[Version, ...]
    left_out: int
    repeats: tuple[Repeats, ...]
    ratings: tuple[RatingBias, ...]


def judge_inputs(project: Project) -> tuple[object, ...]:
    """Return the inputs of the judge report that the common fingerprint lacks."""
    runs = Run.objects.filter(project=project)
    done = runs.aggregate(
        runs=Count("pk"), cost=Sum("cost"), done=Sum("jobs__done"), last=Max("jobs__finished_at")
    )
    prices = ((row.pk, row.name, row.prompt_price, row.completion_price) for row in judges_of_runs(project))
    return (*(str(value) for value in done.values()), *(str(row) for row in prices), *own_inputs(project))


def judge_quality(project: Project, key: str = "") -> JudgeFigures:
    """Compare the judges of a project with its people, for the score named by `key`; "" lets `humans_of` choose."""
    facts = check_facts(project)
    humans = humans_of(project, facts, key)
    said = said_of(project)
    known = {version: answers for version, answers in said.items() if answers.keys() & humans.labels.keys()}
    order = in_order(project, known, humans)
    kept = order[:MOST_VERSIONS]
    names = names_of(project, kept)
    return JudgeFigures(
        score=SIDE_SCORES[Check.Side(humans.basis.sides[0])],
        scores=_answered_scores(project),
        checks=len(humans.labels),
        documents=len({facts[check].cluster for check in humans.labels}),
        ties=humans.ties,
        imported=humans.imported,
        basis=humans.basis,
        versions=tuple(_version(project, each, names, known[each], facts, humans) for each in kept),
        left_out=len(order) - len(kept),
        repeats=tuple(_repeats(project)),
        ratings=rating_bias(project),
    )


def judge_key(project: Project, score: str) -> str:
    """Return the key under which the figures for this score are stored: "" if the stored figures without a key have
    this score.
    """
    unnamed = Analysis.objects.filter(project=project, kind=Analysis.Kind.JUDGE, key="")
    return "" if not score or unnamed.filter(payload__made__score=score).exists() else score


def _answered_scores(project: Project) -> tuple[str, ...]:
    answered = Check.objects.filter(project=project, is_current=True, human_label__isnull=False)
    return tuple(score for side, score in SIDE_SCORES.items() if answered.filter(side=side).exists())


def _version(
    project: Project,
    version: VersionKey,
    names: Mapping[VersionKey, str],
    said: Mapping[int, str | None],
    facts: Mapping[int, CheckFacts],
    humans: Humans,
) -> Version:
    judge = Judge.objects.get(pk=version[0])
    taught = examples_of(judge)
    parts = partial(_parts, said, facts, humans)
    report = parts(lambda of: "")[""]
    usual, usual_share = _usual(report)
    return Version(
        id=names[version],
        judge=judge.name,
        kind=judge.kind,
        signature=version[1],
        own_words=_own_words(project, version),
        is_deciding=judge.pk == project.deciding_judge_id,
        trust=trust_in(humans.basis, report, usual_share),
        usual=usual,
        usual_share=usual_share,
        report=report,
        kinds=parts(
            lambda of: "people say yes" if humans.labels[of.key] == "yes" else "people say no or unsure"
        )
        | parts(lambda of: "with a number" if of.has_number else "without a number")
        | parts(lambda of: _length(of.claim)),
        systems=parts(attrgetter("system")),
        cost=_cost(project, version, judge),
        examples=[each for half in taught.chosen for each in half] if taught else [],
        served=served_in(_calls_of(project, version)),
    )


def _parts(
    said: Mapping[int, str | None],
    facts: Mapping[int, CheckFacts],
    humans: Humans,
    part_of: Callable[[CheckFacts], str],
    cluster: Callable[[CheckFacts], str] = attrgetter("cluster"),
) -> dict[str, JudgeReport]:
    answered = [facts[check] for check in humans.labels if check in said]
    found = judge_reports(
        [cast("Label | None", said[of.key]) for of in answered],
        [cast("Label | None", humans.labels[of.key]) for of in answered],
        [part_of(of) for of in answered],
        [cluster(of) for of in answered],
    )
    return {name: shown(found[name]) for name in sorted(found, key=lambda name: _place(found[name], name))}


def with_slices(project: Project, figures: JudgeFigures, split: Split | None) -> JudgeFigures:
    """Add the reports of each version, and the comparisons of ratings, by slice. Without a split, the figures do not
    change.
    """
    if split is None:
        return figures
    facts, said = check_facts(project), said_of(project)
    humans = humans_of(project, facts, figures.score)
    answers = {name: said[version] for version, name in names_of(project, list(said)).items()}

    def of(version: Version) -> Version:
        found = _parts(
            answers.get(version.id, {}),
            facts,
            humans,
            lambda of: split.slices[of.external_id],
            lambda of: split.clusters.get(of.external_id, of.external_id),
        )
        large = {name: of if of.documents >= FEWEST_IN_SLICE else None for name, of in found.items()}
        return replace(version, slices=large)

    ratings = (*figures.ratings, *rating_bias(project, split))
    return replace(figures, versions=tuple(map(of, figures.versions)), ratings=ratings)


def _usual(report: JudgeReport) -> tuple[str, float | None]:
    if not report.scored:
        return "", None
    yes = sum(report.confusion[label]["yes"] for label in LABELS) / report.scored
    return ("yes", yes) if yes >= 0.5 else ("no", 1 - yes)


def trust_in(basis: AnswerBasis, report: JudgeReport, usual_share: float | None) -> Trust:
    """Compare a judge's accuracy with the share of people's most frequent answer (see `Trust`)."""
    right = report.accuracy
    if not basis.is_representative or right.value is None or right.low is None or usual_share is None:
        return "unknown"
    if right.low <= usual_share:
        return "no" if right.value <= usual_share else "unknown"
    low, high = report.bias.low, report.bias.high
    return "shifted" if low is not None and high is not None and not low <= 0 <= high else "yes"


def _length(claim: str) -> str:
    words = len(claim.split())
    return next(name for name, holds in LENGTHS.items() if holds(words))


def _repeats(project: Project) -> Iterator[Repeats]:
    rows = Verdict.objects.filter(
        role=Verdict.Role.JUDGE, check_row__project=project, check_row__is_current=True
    ).exclude(repeated="")
    columns = ("label", "repeated", "check_row__claim__text", "check_row__document_set__external_id")
    of_judge: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for judge, *row in rows.order_by("judge__name", "pk").values_list(
        "judge__name", *columns, "check_row__document_set__group"
    ):
        of_judge[judge].append(tuple(row))
    for judge, found in of_judge.items():
        first, second, claims, sets, groups = zip(*found, strict=True)
        words = [len(claim.split()) for claim in claims]
        yield Repeats(judge, self_agreement(first, second, words, list(map(cluster_of, sets, groups))))


def _place(report: JudgeReport, name: str) -> tuple[float, str]:
    return (2.0 if report.accuracy.value is None else report.accuracy.value, name)


def _own_words(project: Project, version: VersionKey) -> tuple[str, ...]:
    runs = Run.objects.filter(project=project, verdicts__judge=version[0], verdicts__origin_name=version[1])
    return tuple(map(str, PromptVersion.objects.filter(runs__in=runs.order_by()).distinct()))


def _calls_of(project: Project, version: VersionKey) -> QuerySet[JudgeCall]:
    verdicts = Verdict.objects.filter(
        judge=version[0], origin_name=version[1], check_row__project=project, check_row__is_current=True
    )
    runs = verdicts.filter(run__isnull=False).order_by().values("run").distinct()
    return JudgeCall.objects.filter(run__in=runs, run__project=project)


def _cost(project: Project, version: VersionKey, judge: Judge) -> Cost:
    verdicts = Verdict.objects.filter(
        judge=judge, origin_name=version[1], check_row__project=project, check_row__is_current=True
    )
    answered = verdicts.filter(label__isnull=False).aggregate(checks=Count("check_row", distinct=True))[
        "checks"
    ]
    rows = list(
        _calls_of(project, version)
        .order_by()
        .values_list("judge_id")
        .annotate(Count("pk"), Sum("prompt_tokens"), Sum("completion_tokens"))
    )
    askers = Judge.objects.in_bulk([row[0] for row in rows])
    cost = sum(
        Price(askers[asker].prompt_price, askers[asker].completion_price).of(prompt, completion)
        for asker, _, prompt, completion in rows
    )
    calls, prompts, replies = (sum(row[place] for row in rows) for place in (1, 2, 3))
    has_price = bool(rows) and all(asker.has_price for asker in askers.values())
    return Cost(
        calls=calls,
        prompt_tokens=prompts,
        completion_tokens=replies,
        cost=cost,
        has_price=has_price,
        answered=answered,
        of_thousand=1000 * cost / answered if has_price and answered else None,
    )

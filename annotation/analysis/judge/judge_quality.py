"""How far each judge can be trusted: its verdicts compared with what people answered before they saw any.

A judge with other words or options is another version of it, known by the signature that its verdicts keep; each is
reported by itself. People's answer to a check is what most of those said who had seen nothing (see `ratings`); where
they are divided evenly the check is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

from django.db.models import Count, Max, Q, Sum

from annotation.analysis.agreement.ratings import CheckFacts, check_facts
from annotation.analysis.intervals import shown
from annotation.analysis.judge.judge_answers import (
    Humans,
    JudgeSaid,
    VersionKey,
    humans_of,
    in_order,
    names_of,
    said_of,
)
from annotation.analysis.judge.judge_splits import CheckSplit, SplitChecks, splits_of
from annotation.models import (
    SIDE_SCORES,
    Analysis,
    Check,
    Judge,
    JudgeCall,
    JudgeExamples,
    Run,
    Verdict,
)
from evaluation.judging import Label, Price
from evaluation.statistics import (
    Estimate,
    JudgeComparison,
    JudgeReport,
    compare_judges,
    holm,
    judge_report,
)

if TYPE_CHECKING:
    from annotation.models import Project

MOST_VERSIONS = 8
FEWEST_PICKED = 10
"""So many checks that people chose say how often the judge is right on such."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a version's calls for this project took: tokens, seconds, and money at the judge's present prices.

    `answered` counts the checks of the project that it answered. A right answer costs the cost of an answer divided by
    the accuracy, between `right_low` and `right_high` by the interval of that; in tokens where no price is set. None
    where it makes no calls, or nothing can be said of its accuracy.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    cost: float
    has_price: bool
    answered: int
    per_right: float | None
    right_low: float | None
    right_high: float | None
    tokens_per_right: float | None


@dataclass(frozen=True, slots=True)
class Version:
    """One judge in one version, against people.

    `picked` is its accuracy on the `picked_checks` that people chose to answer, beside that on a random sample; None
    where there are not both.
    """

    id: str
    judge: str
    kind: str
    signature: str
    own_words: tuple[str, ...]
    is_deciding: bool
    report: JudgeReport
    splits: tuple[CheckSplit, ...]
    cost: Cost
    picked: Estimate | None
    picked_checks: int


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A figure of a judge without examples and with them."""

    before: Estimate
    after: Estimate


@dataclass(frozen=True, slots=True)
class Taught:
    """What examples of people's answers bring a judge: two versions, `before` and `after`, on the same `checks`.

    Each document set was judged by examples of others. `comparison` holds the one with examples first; its
    `clustered_p` permutes document sets. A thousand checks cost `cost_before` and `cost_after`, None without prices.
    `told` are the examples.
    """

    before: str
    after: str
    checks: int
    accuracy: BeforeAfter
    kappa: BeforeAfter
    brier: BeforeAfter
    comparison: JudgeComparison
    cost_before: float | None
    cost_after: float | None
    told: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class VersionPair:
    """Two versions on the same answers of people. `p` permutes document sets and is corrected for all pairs (Holm).

    `difference` is the first one's accuracy less the second's.
    """

    first: str
    second: str
    comparison: JudgeComparison
    difference: float | None
    p: float | None


def judge_inputs(project: Project) -> tuple[object, ...]:
    """What these figures depend on beyond scores: what other judges said and cost, and their prices. Two queries."""
    runs = Run.objects.filter(project=project)
    done = runs.aggregate(
        runs=Count("pk"), cost=Sum("cost"), done=Sum("jobs__done"), last=Max("jobs__finished_at")
    )
    of_project = Q(runs__project=project) | Q(panels__runs__project=project)
    judges = Judge.objects.filter(of_project).distinct().order_by("pk")
    prices = judges.values_list("pk", "name", "prompt_price", "completion_price")
    return (*(str(value) for value in done.values()), *(str(row) for row in prices))


def judge_quality(project: Project, key: str = "") -> dict[str, Any]:
    """The judges of a project against its people, of a score that `key` names, as values that JSON holds.

    `versions` holds a `Version` for each judge and version with verdicts on checks that people answered, the deciding
    one first, then by checks; `pairs` a `VersionPair` for each two of them, `taught` a `Taught` for each that is told
    examples; `left_out` counts versions beyond the first eight. The rest tells what people's answers are.
    """
    facts = check_facts(project)
    humans = humans_of(project, facts, key)
    said = said_of(project)
    known = {version: answers for version, answers in said.items() if answers.keys() & humans.labels.keys()}
    order = in_order(project, known, humans)
    kept = order[:MOST_VERSIONS]
    names = names_of(project, kept)
    versions = [_version(project, each, names, known[each], facts, humans) for each in kept]
    return {
        "score": SIDE_SCORES[Check.Side(humans.basis.sides[0])],
        "scores": _answered_scores(project),
        "checks": len(humans.labels),
        "documents": len({facts[check].cluster for check in humans.labels}),
        "ties": humans.ties,
        "imported": humans.imported,
        "basis": asdict(humans.basis),
        "people_agree": asdict(humans.agreement),
        "people_compared": humans.compared,
        "versions": [asdict(version) for version in versions],
        "pairs": [asdict(pair) for pair in _pairs(kept, names, known, facts, humans)],
        "taught": [
            asdict(each) for each in _taught(dict(zip(kept, versions, strict=True)), known, facts, humans)
        ],
        "left_out": len(order) - len(kept),
    }


def judge_key(project: Project, score: str) -> str:
    """The key under which the judges are stored against answers of that score: empty where they are anyway."""
    unnamed = Analysis.objects.filter(project=project, kind=Analysis.Kind.JUDGE, key="")
    return "" if not score or unnamed.filter(payload__made__score=score).exists() else score


def _answered_scores(project: Project) -> list[str]:
    """Those of which people have answered any check."""
    answered = Check.objects.filter(project=project, is_current=True, human_label__isnull=False)
    return [score for side, score in SIDE_SCORES.items() if answered.filter(side=side).exists()]


def _version(
    project: Project,
    version: VersionKey,
    names: Mapping[VersionKey, str],
    said: Mapping[int, JudgeSaid],
    facts: Mapping[int, CheckFacts],
    humans: Humans,
) -> Version:
    judge = Judge.objects.get(pk=version[0])
    checks = [check for check in humans.labels if check in said]
    held = SplitChecks(
        facts=[facts[check] for check in checks],
        labels=[cast("Label | None", said[check].label) for check in checks],
        people=[cast("Label | None", humans.labels[check]) for check in checks],
        errors=[humans.errors.get(check, "") for check in checks],
    )
    probabilities = [said[check].probability for check in checks]
    report = shown(judge_report(held.labels, held.people, held.documents, probabilities=probabilities))
    picked = [check for check in humans.picked if check in said and said[check].label is not None]
    return Version(
        id=names[version],
        judge=judge.name,
        kind=judge.kind,
        signature=version[1],
        own_words=_own_words(project, version),
        is_deciding=judge.pk == project.deciding_judge_id,
        report=report,
        splits=splits_of(held),
        cost=_cost(project, version, judge, report.accuracy),
        picked=_accuracy(picked, said, facts, humans) if len(picked) >= FEWEST_PICKED else None,
        picked_checks=len(picked),
    )


def _accuracy(
    checks: Sequence[int], said: Mapping[int, JudgeSaid], facts: Mapping[int, CheckFacts], humans: Humans
) -> Estimate:
    """The judge's accuracy on checks that people chose."""
    report = judge_report(
        [cast("Label | None", said[check].label) for check in checks],
        [cast("Label | None", humans.picked[check]) for check in checks],
        [facts[check].cluster for check in checks],
    )
    return shown(report).accuracy


def _own_words(project: Project, version: VersionKey) -> tuple[str, ...]:
    """The project's own prompts that a version was told, as `step v2`; built-in ones are not named."""
    runs = Run.objects.filter(project=project, verdicts__judge=version[0], verdicts__origin_name=version[1])
    words = runs.filter(prompt_versions__isnull=False).order_by("prompt_versions__step")
    rows = words.values_list("prompt_versions__step", "prompt_versions__number").distinct()
    return tuple(f"{step} v{number}" for step, number in rows)


def _cost(project: Project, version: VersionKey, judge: Judge, accuracy: Estimate) -> Cost:
    verdicts = Verdict.objects.filter(
        judge=judge, origin_name=version[1], check_row__project=project, check_row__is_current=True
    )
    answered = verdicts.filter(label__isnull=False).aggregate(checks=Count("check_row", distinct=True))[
        "checks"
    ]
    runs = set(verdicts.order_by().values_list("run_id", flat=True).distinct())
    rows = list(
        JudgeCall.objects.filter(run__in=runs - {None}, run__project=project)
        .order_by()
        .values_list("judge_id")
        .annotate(Count("pk"), Sum("prompt_tokens"), Sum("completion_tokens"), Sum("seconds"))
    )
    askers = Judge.objects.in_bulk([row[0] for row in rows])
    cost = sum(
        Price(askers[asker].prompt_price, askers[asker].completion_price).of(prompt, completion)
        for asker, _, prompt, completion, _ in rows
    )
    calls, prompts, replies, seconds = (sum(row[place] for row in rows) for place in (1, 2, 3, 4))
    has_price = bool(rows) and all(asker.has_price for asker in askers.values())
    is_known = bool(rows) and bool(answered) and bool(accuracy.value)
    each = cost / answered if is_known and has_price else None
    return Cost(
        calls=calls,
        prompt_tokens=prompts,
        completion_tokens=replies,
        seconds=float(seconds),
        cost=cost,
        has_price=has_price,
        answered=answered,
        per_right=_divided(each, accuracy.value),
        right_low=_divided(each, accuracy.high),
        right_high=_divided(each, accuracy.low),
        tokens_per_right=_divided((prompts + replies) / answered if is_known else None, accuracy.value),
    )


def _taught(
    versions: Mapping[VersionKey, Version],
    known: Mapping[VersionKey, Mapping[int, JudgeSaid]],
    facts: Mapping[int, CheckFacts],
    humans: Humans,
) -> Iterator[Taught]:
    """Versions that are told examples beside the latest version of their base, on what both answered of by chance."""
    rows = {
        row.judge_id: row for row in JudgeExamples.objects.filter(judge__in={judge for judge, _ in versions})
    }
    for key, version in versions.items():
        if key[0] not in rows:
            continue
        row = rows[key[0]]
        bases = [base for base in versions if base[0] == row.base_id]
        if not bases:
            continue
        # Of several versions of the base the one that answered most, which is told first.
        base = bases[0]
        checks = [
            check
            for check in humans.by_chance
            if all(
                (said := known[each].get(check)) is not None and said.label is not None
                for each in (base, key)
            )
        ]
        before, after = (_report(checks, known[each], facts, humans) for each in (base, key))
        yield Taught(
            before=versions[base].id,
            after=version.id,
            checks=len(checks),
            accuracy=BeforeAfter(before.accuracy, after.accuracy),
            kappa=BeforeAfter(before.kappa, after.kappa),
            brier=BeforeAfter(before.brier, after.brier),
            comparison=compare_judges(
                [cast("Label | None", known[key][check].label) for check in checks],
                [cast("Label | None", known[base][check].label) for check in checks],
                [cast("Label | None", humans.by_chance[check]) for check in checks],
                [facts[check].cluster for check in checks],
            ),
            cost_before=_of_thousand(versions[base].cost),
            cost_after=_of_thousand(version.cost),
            told=row.chosen[-1],
        )


def _report(
    checks: Sequence[int], said: Mapping[int, JudgeSaid], facts: Mapping[int, CheckFacts], humans: Humans
) -> JudgeReport:
    return shown(
        judge_report(
            [cast("Label | None", said[check].label) for check in checks],
            [cast("Label | None", humans.by_chance[check]) for check in checks],
            [facts[check].cluster for check in checks],
            probabilities=[said[check].probability for check in checks],
        )
    )


def _of_thousand(cost: Cost) -> float | None:
    return 1000 * cost.cost / cost.answered if cost.has_price and cost.answered else None


def _divided(cost: float | None, share: float | None) -> float | None:
    return None if cost is None or not share else cost / share


def _pairs(
    versions: Sequence[VersionKey],
    names: Mapping[VersionKey, str],
    known: Mapping[VersionKey, Mapping[int, JudgeSaid]],
    facts: Mapping[int, CheckFacts],
    humans: Humans,
) -> list[VersionPair]:
    checks = list(humans.labels)
    people = [cast("Label | None", humans.labels[check]) for check in checks]
    documents = [facts[check].cluster for check in checks]

    def labels(version: VersionKey) -> list[Label | None]:
        return [
            cast("Label | None", known[version][check].label) if check in known[version] else None
            for check in checks
        ]

    found = [
        (names[one], names[other], compare_judges(labels(one), labels(other), people, documents))
        for one, other in combinations(versions, 2)
    ]
    corrected = holm([comparison.clustered_p for _, _, comparison in found])
    return [
        VersionPair(
            first=one,
            second=other,
            comparison=comparison,
            difference=comparison.difference,
            p=p,
        )
        for (one, other, comparison), p in zip(found, corrected, strict=True)
    ]

"""Judges' and people's answers to the same checks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from django.db.models import Count, Max, Min, Q

from annotation.analysis.agreement.ratings import (
    CheckAnswer,
    CheckFacts,
    check_answers,
    check_facts,
    untouched_verdicts,
)
from annotation.models import SCORE_SIDES, SIDE_SCORES, Judge, Sample, SampledCheck, Verdict
from annotation.sampling.queries.check_samples import eligible

if TYPE_CHECKING:
    from annotation.models import Project

EQUAL_CHANCE_RATIO = 1.1
"""The inclusion probabilities of a sample count as equal if the largest is at most this many times the smallest."""

VersionKey = tuple[int, str]
"""A judge's key and the signature of a version."""


@dataclass(frozen=True, slots=True)
class AnswerBasis:
    """The population that people's answers represent, for one score (checks on the `sides`).

    `kind` is one of:
    - `all`: as many checks are answered as can be sampled
    - `sample`: a finished sample had about equal chances; the newest such sample counts, and other answers are ignored
    - `uneven`: finished samples had unequal chances; other answers are included
    - `open`: there are samples, but none is finished
    - `chosen`: there is no sample, apart from cancelled ones, extensions and those of watches

    `frame` is the number of checks that can be sampled. `sampled` and `answered` count the checks of the sample; for
    `uneven` of all finished samples, for `open` of the newest sample.
    """

    kind: str
    frame: int
    sides: tuple[str, ...] = ()
    sampled: int = 0
    answered: int = 0

    @property
    def is_representative(self) -> bool:
        return self.kind in ("all", "sample")


@dataclass(frozen=True, slots=True)
class Humans:
    """People's answers by the key of the check, and the population that they represent.

    `labels` has the majority of blind answers, or the sample's answers if the kind of `basis` is `sample`; `imported`
    counts those of its checks that have an imported answer. `ties` counts the checks without a majority; 0 for a
    sample. `by_chance` has the answers to checks of finished samples, or `labels` for the kind `all`.
    """

    labels: Mapping[int, str]
    ties: int
    imported: int
    basis: AnswerBasis
    by_chance: Mapping[int, str]


def humans_of(project: Project, facts: Mapping[int, CheckFacts], score: str = "") -> Humans:
    """Load people's answers for one score, and determine the population that they represent.

    If no score is named, the function chooses a score whose answers represent all checks. Otherwise it chooses a score
    with finished samples of unequal chances, or else a score with any answers. In a tie, coverage is chosen.
    """
    given = _answers_by_check(project, facts)
    found = []
    for side in [SCORE_SIDES[score]] if score else SIDE_SCORES:
        answered = {check: answers for check, answers in given.items() if facts[check].side == side}
        found.append((answered, *_basis(project, side, answered)))
    # In a tie, `max` returns the first score, which is coverage.
    best = max(found, key=lambda each: (each[1].is_representative, each[1].kind == "uneven", bool(each[0])))
    return _humans(project, facts, *best)


def judges_of_runs(project: Project) -> list[Judge]:
    """Select the judges with runs in the project, members of panels included, sorted by name."""
    of_project = Q(runs__project=project) | Q(panels__runs__project=project)
    return list(Judge.objects.filter(of_project).distinct().order_by("name"))


def people_said(project: Project) -> dict[int, str]:
    """Return the majority of people's blind answers by the key of the check. Checks without a majority are left out."""
    found = _answers_by_check(project, check_facts(project))
    majority = {check: _majority(answers) for check, answers in found.items()}
    return {check: label for check, label in majority.items() if label is not None}


def _answers_by_check(project: Project, facts: Mapping[int, CheckFacts]) -> dict[int, list[CheckAnswer]]:
    by_check: dict[int, list[CheckAnswer]] = defaultdict(list)
    for answer in check_answers(project):
        if answer.check in facts:
            by_check[answer.check].append(answer)
    return by_check


def _humans(
    project: Project,
    facts: Mapping[int, CheckFacts],
    by_check: Mapping[int, Sequence[CheckAnswer]],
    basis: AnswerBasis,
    sampled: Mapping[int, str],
) -> Humans:
    majority = {check: _majority(answers) for check, answers in by_check.items()}
    labels = {check: label for check, label in majority.items() if label is not None}
    of_sample = {check: label for check, label in sampled.items() if check in facts}
    is_sample = basis.kind == "sample"
    if is_sample:
        labels = of_sample
    return Humans(
        labels=labels,
        ties=0 if is_sample else sum(label is None for label in majority.values()),
        imported=sum(any(each.at is None for each in by_check.get(check, ())) for check in labels),
        basis=basis,
        by_chance=labels if basis.is_representative else of_sample,
    )


def _majority(answers: Sequence[CheckAnswer]) -> str | None:
    (label, most), *others = Counter(each.label for each in answers).most_common()
    return None if others and others[0][1] == most else label


def _basis(project: Project, side: str, answered: Mapping[int, object]) -> tuple[AnswerBasis, dict[int, str]]:
    in_force = eligible(project, side)
    frame = in_force.count()
    of_side = partial(AnswerBasis, sides=(side,))
    if answered and len(answered) >= frame:
        return of_side(kind="all", frame=frame), {}
    counted = Q(sampled_checks__check_row__side=side)
    # A sample that extends another one represents the systems that may be best, not all systems.
    samples = Sample.objects.filter(
        project=project, cancelled_at=None, watch_period=None, extends=None
    ).annotate(
        sampled=Count("sampled_checks", filter=counted),
        answered=Count("sampled_checks__verdict", filter=counted),
        least=Min("sampled_checks__inclusion_probability", filter=counted),
        most=Max("sampled_checks__inclusion_probability", filter=counted),
    )
    made = list(samples.filter(sampled__gt=0).order_by("-pk").defer("frame", "chances"))
    if not made:
        return of_side(kind="chosen", frame=frame), {}
    # Ignore unfinished samples, as estimates do: a new sample replaces an older one only when it is finished.
    finished = [sample for sample in made if sample.answered == sample.sampled]
    if not finished:
        newest = made[0]
        return of_side(kind="open", frame=frame, sampled=newest.sampled, answered=newest.answered), {}
    even = next((sample for sample in finished if sample.most <= EQUAL_CHANCE_RATIO * sample.least), None)
    if even is not None:
        basis = of_side(kind="sample", frame=frame, sampled=even.sampled, answered=even.sampled)
        return basis, _labels([even], side)
    sampled = sum(sample.sampled for sample in finished)
    return of_side(kind="uneven", frame=frame, sampled=sampled, answered=sampled), _labels(finished, side)


def _labels(samples: Sequence[Sample], side: str) -> dict[int, str]:
    rows = SampledCheck.objects.filter(sample__in=samples, check_row__side=side, check_row__is_current=True)
    return {check: label or "" for check, label in rows.values_list("check_row_id", "verdict__label")}


def said_of(project: Project) -> dict[VersionKey, dict[int, str | None]]:
    """Load each judge version's latest usable answers to the checks with blind answers; None if none is usable."""
    answered = untouched_verdicts(project).order_by().values("check_row")
    rows = Verdict.objects.filter(
        role=Verdict.Role.JUDGE, check_row__in=answered, withdrawn_at__isnull=True
    ).order_by("pk")
    said: dict[VersionKey, dict[int, str | None]] = defaultdict(dict)
    columns = ("judge_id", "origin_name", "check_row_id", "label")
    for judge, signature, check, label in rows.values_list(*columns):
        of = said[cast("int", judge), signature]
        if label is not None or check not in of:
            of[check] = label
    return said


def in_order(
    project: Project, known: Mapping[VersionKey, Mapping[int, str | None]], humans: Humans
) -> list[VersionKey]:
    """Sort the versions: the deciding judge's first, then those with most usable answers to checks that people
    answered.
    """

    def place(version: VersionKey) -> tuple[bool, int, str]:
        answered = sum(
            check in humans.labels and label is not None for check, label in known[version].items()
        )
        return (version[0] != project.deciding_judge_id, -answered, version[1])

    return sorted(known, key=place)


def names_of(project: Project, versions: Sequence[VersionKey]) -> dict[VersionKey, str]:
    """Name each version after its judge, with a number if the project has several versions of the judge.

    The numbers have the order of the versions' first verdicts.
    """
    judges = Judge.objects.in_bulk([judge for judge, _ in versions])
    verdicts = Verdict.objects.filter(role=Verdict.Role.JUDGE, check_row__project=project, judge__in=judges)
    rows = verdicts.order_by().values_list("judge_id", "origin_name").annotate(first=Min("pk"))
    of_judge: dict[int, list[str]] = defaultdict(list)
    for judge, signature, _ in sorted(rows, key=lambda row: row[2]):
        of_judge[cast("int", judge)].append(signature)
    return {
        (judge, signature): _numbered(judges[judge].name, of_judge[judge], signature)
        for judge, signature in versions
    }


def _numbered(name: str, signatures: Sequence[str], signature: str) -> str:
    return name if len(signatures) == 1 else f"{name}-{signatures.index(signature) + 1}"

"""The checks of a judge cut in every way that may tell where it errs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotation.analysis.agreement.ratings import CheckFacts
from annotation.analysis.intervals import shown
from annotation.models import Check
from evaluation.judging import LABELS, Label
from evaluation.statistics import Estimate, JudgeReport, judge_reports

SHORT, LONG = 8, 15
"""Words up to which a claim is short, and from which it is long."""

PartOf = tuple[int, str]
"""A part's place among the parts of its split, and its name."""


@dataclass(frozen=True, slots=True)
class SplitPart:
    """The judge on one part of the checks: one system, one length, one side, one type of claim.

    `judge_yes` and `people_yes` are their shares of yes over the `scored` checks, those that the judge answered; None
    where there are none.
    """

    name: str
    checks: int
    scored: int
    documents: int
    judge_yes: float | None
    people_yes: float | None
    accuracy: Estimate
    kappa: Estimate
    sensitivity: Estimate
    specificity: Estimate
    bias: Estimate


@dataclass(frozen=True, slots=True)
class CheckSplit:
    """The same checks cut in one way."""

    key: str
    name: str
    parts: tuple[SplitPart, ...]


class SplitChecks(NamedTuple):
    """A judge's answers held against people's: one of each list for every check, in one order.

    `errors` has the kind of error that people named with their answer; empty where they named none.
    """

    facts: Sequence[CheckFacts]
    labels: Sequence[Label | None]
    people: Sequence[Label | None]
    errors: Sequence[str]

    @property
    def documents(self) -> list[str]:
        return [of.cluster for of in self.facts]


def splits_of(held: SplitChecks) -> tuple[CheckSplit, ...]:
    """The ways to cut these checks that leave more than one part.

    Systems and kinds of error come with the judge's worst first. Kinds of error are cut over those checks alone with
    which people named one.
    """
    ways: list[tuple[str, str, Callable[[CheckFacts], PartOf]]] = [
        ("system", "System", lambda of: (0, of.system)),
        ("length", "Length of the summary", _length(held.facts)),
        ("side", "Score", lambda of: _SIDES[of.side]),
        ("figure", "Numbers in the claim", lambda of: _FIGURES[of.has_number]),
        ("words", "Length of the claim in words", lambda of: _words(of.claim)),
    ]
    cuts = [(key, name, [part_of(of) for of in held.facts]) for key, name, part_of in ways]
    found = [_split(key, name, held, parts) for key, name, parts in cuts if len(set(parts)) > 1]
    return (*found, *_errors(held))


def _errors(held: SplitChecks) -> list[CheckSplit]:
    named = [place for place, error in enumerate(held.errors) if error]
    if not named:
        return []
    of_named = SplitChecks(
        facts=[held.facts[place] for place in named],
        labels=[held.labels[place] for place in named],
        people=[held.people[place] for place in named],
        errors=[held.errors[place] for place in named],
    )
    parts = [(0, error.replace("_", " ")) for error in of_named.errors]
    return [_split("error", "Error type named by people", of_named, parts)]


def _split(key: str, name: str, held: SplitChecks, parts: Sequence[PartOf]) -> CheckSplit:
    reports = judge_reports(held.labels, held.people, parts, held.documents, bins=1)
    rows = [(part, _part(part[1], shown(report))) for part, report in reports.items()]
    rows.sort(key=lambda row: (row[0][0], _accuracy(row[1]) if row[0][0] == 0 else 0.0, row[0][1]))
    return CheckSplit(key=key, name=name, parts=tuple(row for _, row in rows))


def _part(name: str, report: JudgeReport) -> SplitPart:
    return SplitPart(
        name=name,
        checks=report.checks,
        scored=report.scored,
        documents=report.documents,
        judge_yes=_share(sum(report.confusion["yes"].values()), report.scored),
        people_yes=_share(sum(report.confusion[said]["yes"] for said in LABELS), report.scored),
        accuracy=report.accuracy,
        kappa=report.kappa,
        sensitivity=report.sensitivity,
        specificity=report.specificity,
        bias=report.bias,
    )


def _share(count: int, of: int) -> float | None:
    return count / of if of else None


def _accuracy(part: SplitPart) -> float:
    """Parts of which nothing can be said come last."""
    return 2.0 if part.accuracy.value is None else part.accuracy.value


_SIDES: Mapping[str, PartOf] = {
    Check.Side.REFERENCE: (0, "coverage: claims of the model summary or the source"),
    Check.Side.PEER: (1, "alignment: claims of the summary"),
}
_FIGURES: Mapping[bool, PartOf] = {True: (0, "contains a number"), False: (1, "holds none")}


def _length(facts: Iterable[CheckFacts]) -> Callable[[CheckFacts], PartOf]:
    """By target length; where all have the same, by the summaries' own lengths, cut in three."""
    targets = {of.target_words for of in facts}
    if len(targets) > 1:
        return lambda of: (
            (of.target_words, f"target {of.target_words}") if of.target_words else (1 << 40, "no target")
        )
    lengths = sorted(of.peer_words or 0 for of in facts)
    if not lengths:
        return lambda of: (0, "")
    short, long = lengths[len(lengths) // 3], lengths[2 * len(lengths) // 3]

    def by_own(of: CheckFacts) -> PartOf:
        words = of.peer_words or 0
        if words <= short:
            return (0, f"up to {short}")
        return (1, f"{short + 1} to {long}") if words <= long else (2, f"over {long}")

    return by_own


def _words(claim: str) -> PartOf:
    words = len(claim.split())
    if words <= SHORT:
        return (0, f"up to {SHORT}")
    return (1, f"{SHORT + 1} to {LONG - 1}") if words < LONG else (2, f"{LONG} or more")

"""The checks of a judge cut in every way that may tell where it errs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from annotation.analysis.agreement.ratings import CheckFacts
from annotation.analysis.intervals import shown
from annotation.models import Check
from evaluation.judging import LABELS, Label
from evaluation.statistics import Estimate, JudgeReport, holm, judge_reports, permutation_test

SHORT, LONG = 8, 15
"""Words up to which a claim is short, and from which it is long."""

SAME_QUESTION = 2
"""So many systems are compared by one test."""

PartOf = tuple[int, str]
"""A part's place among the parts of its split, and its name."""


@dataclass(frozen=True, slots=True)
class SplitPart:
    """The judge on one part of the checks: one system, one length, one side, one type of claim.

    `judge_yes` and `people_yes` are their shares of yes over the `scored` checks, those that the judge answered; None
    where there are none. `bias_p`, of systems alone, tests whether the bias is another than that of all systems
    together (see `bias_tests`).
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
    bias_p: float | None = None


@dataclass(frozen=True, slots=True)
class CheckSplit:
    """The same checks cut in one way."""

    key: str
    name: str
    parts: tuple[SplitPart, ...]


class SplitChecks(NamedTuple):
    """A judge's answers compared with people's: one of each list for every check, in one order.

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
    if found and found[0].key == "system":
        p = bias_tests(held)
        of_systems = tuple(replace(part, bias_p=p.get(part.name)) for part in found[0].parts)
        found[0] = replace(found[0], parts=of_systems)
    return (*found, *_errors(held))


def bias_tests(held: SplitChecks) -> dict[str, float | None]:
    """By system the p of the judge being as generous to it as to all systems together, corrected after Holm.

    The error of a check is 1 where the judge alone says yes, -1 where people alone do, else 0. A system's excess is
    the sum, over its checks, of what the error is above its mean over all checks; each document adds a part to it, less
    the system's share in what the document adds for all systems. Signs of whole documents are exchanged. Two systems
    are one question, since the excess of one is what the other lacks.
    """
    errors = [
        (of.system, of.cluster, float((said == "yes") - (answer == "yes")))
        for of, said, answer in zip(held.facts, held.labels, held.people, strict=True)
        if said is not None
    ]
    checks = Counter(system for system, _, _ in errors)
    mean = sum(error for _, _, error in errors) / len(errors) if errors else 0.0
    parts: dict[str, dict[str, float]] = {
        system: dict.fromkeys((document for _, document, _ in errors), 0.0) for system in checks
    }
    for own, document, error in errors:
        for system, of_document in parts.items():
            of_document[document] += (error - mean) * ((own == system) - checks[system] / len(errors))
    found = {
        system: permutation_test(list(each.values()), [0.0] * len(each)).p for system, each in parts.items()
    }
    if len(found) == SAME_QUESTION:
        return found
    return dict(zip(found, holm(list(found.values())), strict=True))


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
_FIGURES: Mapping[bool, PartOf] = {True: (0, "contains a number"), False: (1, "no number")}


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

"""Planted verdicts: a wrong one in the judge's place, to see whether its reader follows it.

Nothing must tell it from a true one. Its words, its evidence and how sure it is are those of one real verdict that
the same judge gave elsewhere, about as sure as it is of its own here; and it takes as long to show: in a project that
plants, all of this is found for every check, also where the true verdict is shown in the end.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Case, Value, When

from annotation.models import Check, Label, Project, Verdict
from annotation.texts.queries.check_text import TextUnit, compared_text, found_passages

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SURE_UP_TO, SURE_FROM = 0.1, 0.9
"""Probabilities of yes at which a judge is all but certain, so that the opposite may be planted."""
NEAR = 0.15
"""A verdict is lent where it is about as sure, of the other answer, as the judge is of its own: queues go by doubt."""
HASH_BITS = 64
OPPOSITE: dict[str | None, str] = {Label.YES: Label.NO, Label.NO: Label.YES}
_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
MOST_MODELS = 500
"""Of so many verdicts of the judge on the same set, its claim's first, the one that fits best is taken."""


@dataclass(frozen=True, slots=True)
class PlantedVerdict:
    """What is shown in the judge's place. `probability` is that of yes, `evidence` unit numbers of the check's text."""

    label: str
    probability: float | None
    reason: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Model:
    """A verdict that the judge gave elsewhere, after which a planted one may be made."""

    public_id: str
    claim_id: int
    claim: str
    label: str
    probability: float | None
    reason: str
    evidence: tuple[int, ...]


def label_to_plant(check: Check, person: User) -> str | None:
    """The wrong verdict to show this person as the judge's; None where the true one is to be shown.

    A hash of project, person and check chooses, so that the choice is the same at every sight. Only checks whose
    answer is beyond doubt are chosen: the judge is all but certain, or other people have answered as it did, and no
    adjudicator or rule has settled it; and of these only where a verdict can be made that looks like the judge's.
    Nothing is planted for whoever met another's answer: they would know better. Nor where verdicts come before one's
    own answer and others have answered: beside a true one they would stand, so that their absence would tell.
    """
    if check.project.planted_share <= 0 or _met_another(check, person):
        return None
    others = _said_by_others(check, person)
    if others is not None and check.project.reveal != Project.Reveal.AFTER_ANSWER:
        return None
    wrong = OPPOSITE.get(_beyond_doubt(check, others))
    found = planted_verdict(check, wrong or Label.NO)
    return wrong if wrong and found and _is_chosen(check, person) else None


def planted_verdict(check: Check, label: str) -> PlantedVerdict | None:
    """A verdict of that label as the judge would give it; None where it has said nothing that could stand here."""
    units = compared_text(check)
    found = found_passages(check.claim.text, [unit.text for unit in units])
    close = {units[place].number for place in found}
    best = min(_fitting(check, label, units), key=lambda model: _distance(model, check, close), default=None)
    if best is None:
        return None
    return PlantedVerdict(
        label=label,
        probability=best.probability,
        reason=best.reason,
        evidence=tuple(sorted(best.evidence)),
    )


def in_its_place(true: Verdict, label: str, planted: PlantedVerdict | None) -> Verdict:
    """A copy of the judge's verdict that says what was planted; for the eye alone, and never stored."""
    shown = copy(true)
    shown.label = label
    shown.probability = planted.probability if planted else None
    shown.reason = planted.reason if planted else ""
    shown.evidence = list(planted.evidence) if planted else []
    return shown


def _beyond_doubt(check: Check, others: str | None) -> str | None:
    """The judge's label where it is surely right; the judge's own mistakes need no planting. `others` said that."""
    if check.final_source in (Check.Decider.ADJUDICATOR, Check.Decider.RULE):
        return None
    truth = others or _sure_label(check)
    return truth if truth == check.judge_label else None


def _fitting(check: Check, label: str, units: Sequence[TextUnit]) -> Iterator[_Model]:
    """Verdicts of that label, about as sure, that could have been given here.

    Their evidence lies in this text, and their reason names nothing of another claim or of another text.
    """
    own, numbers = _words(check.claim.text), {unit.number for unit in units}
    here = " ".join([check.claim.text, *(unit.text for unit in units)]).casefold()
    for model in _models(check, label):
        of_its_claim = _words(model.reason) & _words(model.claim)
        is_of_here = of_its_claim <= own and set(model.evidence) <= numbers
        if is_of_here and _speaks_of(model.reason, here, numbers) and _apart(model, check, label) <= NEAR:
            yield model


def _speaks_of(reason: str, here: str, numbers: Collection[int]) -> bool:
    """Whether what a reason quotes, and every number in it, stands in the claim or the text, or numbers its units."""
    quoted = (found.casefold() for groups in _QUOTED.findall(reason) for found in groups if found)
    figures = set(_FIGURE.findall(reason)) - set(_FIGURE.findall(here))
    return all(words in here for words in quoted) and figures <= {str(number) for number in numbers}


def _apart(model: _Model, check: Check, label: str) -> float:
    """How far it is from as sure as the judge is of its own answer here; infinite where only one of them says so."""
    wanted, given = _as_sure(check.judge_probability, label), model.probability
    if wanted is None or given is None:
        return 0.0 if wanted is given else math.inf
    return abs(wanted - given)


def _models(check: Check, label: str) -> Iterator[_Model]:
    """What the judge answered so of other checks on the same side of the same document set, its claim's first."""
    rows = Verdict.objects.filter(
        judge=check.project.deciding_judge,
        label=label,
        withdrawn_at=None,
        check_row__side=check.side,
        check_row__peer__document_set_id=check.peer.document_set_id,
    ).exclude(check_row_id=check.pk)
    is_same = Case(When(check_row__claim_id=check.claim_id, then=Value(0)), default=Value(1))
    columns = (
        "public_id",
        "check_row__claim_id",
        "check_row__claim__text",
        "probability",
        "reason",
        "evidence",
    )
    for public_id, claim_id, claim, probability, reason, evidence in rows.order_by(is_same, "pk").values_list(
        *columns
    )[:MOST_MODELS]:
        yield _Model(public_id, claim_id, claim, label, probability, reason, tuple(evidence))


def _distance(model: _Model, check: Check, close: Collection[int]) -> tuple[bool, bool, float, str]:
    """How far a verdict is from what the judge would say of this check; a hash decides between those alike."""
    is_beside = not set(model.evidence) <= set(close)
    apart = _apart(model, check, model.label)
    tie = hashlib.sha256(f"{check.public_id}:{model.public_id}".encode()).hexdigest()
    return is_beside, model.claim_id != check.claim_id, round(apart, 1), tie


def _as_sure(probability: float | None, label: str) -> float | None:
    """The probability of yes of somebody as sure of that label as the judge is of its own."""
    if probability is None:
        return None
    surer = max(probability, 1 - probability)
    return surer if label == Label.YES else 1 - surer


def _is_chosen(check: Check, person: User) -> bool:
    seed = f"planted:{check.project.public_id}:{person.pk}:{check.public_id}"
    place = int.from_bytes(hashlib.sha256(seed.encode()).digest()[: HASH_BITS // 8], "big")
    return place < check.project.planted_share * float(2**HASH_BITS)


def _met_another(check: Check, person: User) -> bool:
    return Verdict.objects.filter(check_row=check, person=person, is_set_aside=True).exists()


def _said_by_others(check: Check, person: User) -> str | None:
    return (
        Verdict.objects.filter(check_row=check, source=Verdict.Source.REVIEWER, withdrawn_at=None)
        .exclude(person=person)
        .order_by("-pk")
        .values_list("label", flat=True)
        .first()
    )


def _sure_label(check: Check) -> str | None:
    probability = check.judge_probability
    if probability is None:
        return None
    return None if SURE_UP_TO < probability < SURE_FROM else check.judge_label


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))

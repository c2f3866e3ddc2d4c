"""A dispute as an adjudicator sees it: the item, the text that decides it, and the answers without names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.adjudicating.queries.answers import NamelessAnswer, answers_on
from annotation.adjudicating.queries.disputes import (
    decisions_on,
    held_by,
    kind_of,
    set_of,
    summary_of,
    text_of,
)
from annotation.models import (
    Check,
    Claim,
    CoverageJudgment,
    Dispute,
    Rating,
    Summary,
    Verdict,
)
from annotation.reviewing.queries.ratings import texts_beside
from annotation.texts.queries import check_text
from annotation.texts.queries.check_text import ContextUnit, texts_around

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class LitPassage:
    """A numbered unit of the text, with the letters of the answers that cite it as evidence."""

    number: int
    text: str
    letters: tuple[str, ...]
    opens: bool


@dataclass(frozen=True, slots=True)
class DisputeView:
    """A dispute on an adjudicator's screen, without names of systems, reviewers and judges.

    `statement` is the claim, the reference unit or the question. `context` has the units around it. `passages` has
    the units of the text that the item is compared with. `beside` has the texts that a question is read with, and
    `heading` is their title. `choices` has the answers of the question's scale, as value and words. `decisions` has
    all decisions, oldest first; `standing` is the current one.
    """

    dispute_id: str
    kind: str
    side: str
    reads_source: bool
    state: str
    spread: float
    statement: str
    unit_number: int | None
    context: tuple[ContextUnit, ...]
    passages: tuple[LitPassage, ...]
    answers: tuple[NamelessAnswer, ...]
    decisions: tuple[Verdict | CoverageJudgment | Rating, ...]
    document_set: str
    summary_id: str
    held_by: str
    heading: str = ""
    beside: tuple[str, ...] = ()
    choices: tuple[tuple[int, str], ...] = ()

    @property
    def standing(self) -> Verdict | CoverageJudgment | Rating | None:
        return next((made for made in reversed(self.decisions) if made.withdrawn_at is None), None)

    @property
    def seen(self) -> str:
        """Return the id of the current decision, "" if there is none. A new decision sends this id."""
        standing = self.standing
        return standing.public_id if standing else ""


def dispute_view(dispute: Dispute, person: User) -> DisputeView:
    """Build the view of a dispute for this adjudicator."""
    place = dispute.place
    answers, summary = answers_on(dispute, person), summary_of(dispute)
    asked = dispute.criterion
    heading, beside = ("", ()) if asked is None or summary is None else texts_beside(summary, asked.reads)
    if isinstance(place, Check):
        texts = texts_around(place)
        side, units, context = place.side, texts.compared, texts.context
        number = place.claim.unit.position if place.claim.unit else None
    elif isinstance(place, Summary):
        side, units, number, context = "", tuple(check_text.text_of(place)), None, ()
    else:
        unit = dispute.unit_judged
        side, units, number = Check.Side.REFERENCE, tuple(check_text.text_of(place.summary)), unit.position
        around = () if isinstance(unit, Claim) else check_text.text_of(place.reference)
        context = tuple(ContextUnit(each.number, each.text, each.number == number) for each in around)
    return DisputeView(
        dispute_id=dispute.public_id,
        kind=kind_of(dispute),
        side=side,
        reads_source=isinstance(place, Check) and place.reads_source,
        state=dispute.state,
        spread=dispute.spread,
        statement=text_of(dispute),
        unit_number=number,
        context=context,
        passages=tuple(
            LitPassage(
                number=unit.number,
                text=unit.text,
                letters=tuple(answer.letter for answer in answers if unit.number in answer.evidence),
                opens=unit.opens,
            )
            for unit in units
        ),
        answers=answers,
        decisions=tuple(decisions_on(dispute).select_related("person").order_by("pk")),
        document_set=set_of(dispute).external_id,
        summary_id=summary.public_id if summary else "",
        held_by=held_by(dispute, person),
        heading=heading,
        beside=tuple(beside),
        choices=asked.fact.choices if asked else (),
    )

"""One check as a reviewer sees it: what the project hides from them is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import connection

from annotation.models import (
    Adjudication,
    Assignment,
    Check,
    CheckLook,
    Claim,
    ClaimSet,
    DocumentSet,
    Label,
    Project,
    Summary,
    Unit,
    Verdict,
)
from annotation.models.by_hand import Part
from annotation.queries.check_draws import is_asked_in_old_words
from annotation.queries.check_text import (
    WHOLE_TEXT_UP_TO,
    ContextUnit,
    TextUnit,
    found_passages,
    shown_places,
    texts_around,
)
from annotation.queries.planted import in_its_place, label_to_plant, planted_verdict
from annotation.queries.reveal import is_judge_visible_to
from annotation.refusals import NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Statements by hand: each claim that comes on screen asks them, and they took longer to build than to answer.
_CHECK = Part(Check, "annotation_check")
_PEER = Part(Summary, "peer", ("id", "public_id", "document_set_id", "text"))
_SET = Part(DocumentSet, "document_set", ("id", "public_id", "external_id"))
_CLAIM = Part(Claim, "claim", ("id", "public_id", "claim_set_id", "unit_id", "text"))
_CLAIM_SET = Part(ClaimSet, "claim_set", ("id", "public_id", "summary_id", "document_set_id"))
_UNIT = Part(Unit, "unit", ("id", "public_id", "position"))
_MODEL = Part(Summary, "model", ("id", "public_id", "text"))
_TEXT_PARTS = (_PEER, _SET, _CLAIM, _CLAIM_SET, _UNIT, _MODEL)
_FIND = "SELECT {columns} FROM annotation_check WHERE public_id = %s AND project_id = %s"
# From both ends of the check, whose row is at hand: joining it too made the database plan for longer than it read.
_TEXTS = """
SELECT {columns}
FROM annotation_summary peer
JOIN annotation_documentset document_set ON document_set.id = peer.document_set_id
CROSS JOIN annotation_claim claim
JOIN annotation_claimset claim_set ON claim_set.id = claim.claim_set_id
LEFT JOIN annotation_unit unit ON unit.id = claim.unit_id
LEFT JOIN annotation_summary model ON model.id = claim_set.summary_id
WHERE peer.id = %s AND claim.id = %s
"""
_VERDICT = Part(Verdict, "verdict")
_SAID = """
SELECT EXISTS (
    SELECT 1 FROM annotation_checklook
    WHERE check_row_id = %(check)s AND person_id = %(person)s AND revealed_at IS NOT NULL
), person.username, {columns}
FROM (SELECT 1) one
LEFT JOIN annotation_verdict verdict ON verdict.check_row_id = %(check)s
LEFT JOIN auth_user person ON person.id = verdict.person_id
ORDER BY verdict.id
"""
_SETTLED = """
SELECT
    EXISTS (
        SELECT 1 FROM annotation_adjudication
        WHERE comparison_id = comparison.id AND {unit} = %s AND withdrawn_at IS NULL
    ),
    EXISTS (
        SELECT 1 FROM annotation_unitjudgment judgment
        JOIN annotation_assignment assignment ON assignment.id = judgment.assignment_id
        WHERE assignment.comparison_id = comparison.id AND judgment.{unit} = %s AND judgment.is_current
            AND judgment.percent IS NOT NULL AND assignment.state = %s AND assignment.repeat_of_id IS NULL
    ) OR EXISTS (
        SELECT 1 FROM annotation_publishedpercent WHERE comparison_id = comparison.id AND unit_id = %s
    )
FROM annotation_comparison comparison WHERE peer_id = %s AND model_id = %s
"""


@dataclass(frozen=True, slots=True)
class Passage:
    """A numbered unit of the text that a claim is held against.

    `evidence` is its place among the judge's evidence (from 1), 0 where it is none; `is_found` tells that it
    shares words with the claim; `is_marked` that the reader has named it as evidence; `follows_gap` that
    units before it are left out, `opens` that a document or paragraph begins.
    """

    number: int
    text: str
    evidence: int = 0
    is_found: bool = False
    is_marked: bool = False
    follows_gap: bool = False
    opens: bool = False


@dataclass(frozen=True, slots=True)
class JudgeSaid:
    """The deciding judge's latest answer. `confidence` is that of the label given, in [0, 1]."""

    judge: str
    is_baseline: bool
    label: str | None
    confidence: float | None
    reason: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PersonSaid:
    """One person's answer (or an imported one), withdrawn or not.

    `met_another` tells that they knew somebody else's answer and not the judge's; `in_batch` that a list was taken over
    whole; `is_set_aside` that it never stood, since somebody else had answered otherwise first.
    """

    verdict_id: str
    who: str
    is_own: bool
    label: str
    reason: str
    evidence: tuple[int, ...]
    quotes: tuple[str, ...]
    error_type: str
    error: str
    confidence: float | None
    saw_judge: bool
    met_another: bool
    in_batch: bool
    at: datetime
    is_withdrawn: bool
    is_set_aside: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """What stands for a check and who decided it."""

    label: str | None
    source: str | None
    who: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What has been said of a check, as far as this reader may know it now.

    `people` are all who answered, once the reader may know; else the reader alone, and the answer of somebody else that
    they met when their own was set aside. `judge` is what they are shown as the judge's answer, which may be a planted
    one as long as they have not been told; `planted` is the label that was planted, once they have been. `is_settled`
    tells that an adjudicator has decided, so that no answer moves a score; that much everybody is told.
    `coverage_stays_because` is told with the judge's answer: `percents` or `adjudicated` where an answer cannot move
    coverage, else nothing.
    """

    check_id: str
    claim: str
    is_current: bool
    judge: JudgeSaid | None
    is_judge_shown: bool
    planted: str
    people: tuple[PersonSaid, ...]
    own: PersonSaid | None
    seen: str
    decision: Decision | None
    is_disputed: bool
    is_settled: bool
    coverage_stays_because: str

    @property
    def others(self) -> tuple[PersonSaid, ...]:
        return tuple(said for said in self.people if not said.is_own)

    @property
    def differing(self) -> tuple[PersonSaid, ...]:
        """What each other person says by now who says otherwise than the reader, as far as it may be told."""
        latest = {said.who: said for said in self.others if not said.is_withdrawn}
        own = self.own
        return tuple(said for said in latest.values() if own is not None and said.label != own.label)

    @property
    def is_own_latest(self) -> bool:
        """Whether the reader's answer is the latest that anybody gave, which counts among those that differ."""
        return self.own is not None and self.own.verdict_id == self.seen

    @property
    def other_label(self) -> str:
        """The judge's label where the reader's own is another, so that they may take it over; nothing in old words."""
        if not self.is_current or self.judge is None or self.judge.label is None or self.own is None:
            return ""
        return "" if self.judge.label == self.own.label else self.judge.label


@dataclass(frozen=True, slots=True)
class CheckView:
    """One check in a reviewer's hands: the claim, the text it is held against, and what has been said.

    `is_asked_in_old_words` tells that the claim was changed since, and that a random draw still waits for an answer of
    the reader to it as it was: it moves no score.
    """

    check_id: str
    claim_id: str
    side: str
    claim: str
    is_current: bool
    is_asked_in_old_words: bool
    unit_number: int | None
    context: tuple[ContextUnit, ...]
    passages: tuple[Passage, ...]
    is_whole_text: bool
    text_units: int
    document_set: str
    summary_id: str
    text_id: str
    may_ask_judge: bool
    outcome: Outcome

    @property
    def is_open(self) -> bool:
        """Whether an answer is taken."""
        return self.is_current or self.is_asked_in_old_words


def check_of(project: Project, public_id: str) -> Check:
    """The check of that public id in the project, with all that stands on its screen. Raises NotFound."""
    with connection.cursor() as cursor:
        cursor.execute(_FIND.format(columns=_CHECK.columns), [public_id, project.pk])
        found = cursor.fetchone()
    if found is None:
        raise NotFound("There is no such check in this project.")
    check = _CHECK.read(iter(found))
    check.project = project
    return with_texts(check)


def with_texts(check: Check) -> Check:
    """The same check, now with the rows that its screen reads: its peer summary, and its claim's origin."""
    columns = ", ".join(part.columns for part in _TEXT_PARTS)
    with connection.cursor() as cursor:
        cursor.execute(_TEXTS.format(columns=columns), [check.peer_id, check.claim_id])
        row = iter(cursor.fetchone())
    check.peer = _PEER.read(row)
    check.peer.document_set = _SET.read(row)
    check.claim = claim = _CLAIM.read(row)
    claim.claim_set = claim_set = _CLAIM_SET.read(row)
    unit, model = _UNIT.read(row), _MODEL.read(row)
    claim.unit = unit if claim.unit_id else None
    claim_set.summary = model if claim_set.summary_id else None
    return check


def own_verdict(check: Check, person: User, public_id: str) -> Verdict:
    """The person's own verdict of that public id on the check. Raises NotFound."""
    verdict = (
        Verdict.objects.filter(check_row=check, person=person, public_id=public_id)
        .select_related("check_row__project")
        .first()
    )
    if verdict is None:
        raise NotFound("There is no such verdict of yours on this check.")
    return verdict


def check_view(
    check: Check,
    person: User,
    *,
    look: CheckLook | None = None,
    marked: Sequence[int] | None = None,
    whole_text: bool = False,
) -> CheckView:
    """A check as this person may see it now. The number of queries is the same for every check that is in force.

    `look` is what they were shown of it so far, None for a page that is made ahead of its turn. `marked` are the
    units that they have named as evidence without having sent it, None for those of their answer.
    """
    said = _said_of(check, person)
    outcome = _outcome(check, person, look, said)
    if marked is None:
        marked = outcome.own.evidence if outcome.own else ()
    texts = texts_around(check)
    # Evidence tells the label, so that none is lit before the judge's verdict is shown.
    lit = outcome.judge.evidence if outcome.judge else ()
    passages = _passages(
        texts.held_against, check.claim.text, judge_evidence=lit, own=marked, whole_text=whole_text
    )
    model = check.claim.claim_set.summary
    return CheckView(
        check_id=check.public_id,
        claim_id=check.claim.public_id,
        side=check.side,
        claim=check.claim.text,
        is_current=check.is_current,
        is_asked_in_old_words=is_asked_in_old_words(check, person),
        unit_number=check.claim.unit.position if check.claim.unit else None,
        context=texts.context,
        passages=passages,
        is_whole_text=whole_text or len(texts.held_against) <= WHOLE_TEXT_UP_TO,
        text_units=len(texts.held_against),
        document_set=check.peer.document_set.external_id,
        summary_id=check.peer.public_id,
        text_id=model.public_id if model else check.peer.document_set.public_id,
        may_ask_judge=not outcome.is_judge_shown and check.project.reveal == Project.Reveal.ON_REQUEST,
        outcome=outcome,
    )


def outcome_of(check: Check, person: User, *, look: CheckLook | None) -> Outcome:
    """What has been said of a check, as far as the person may know it now; `look` as for `check_view`."""
    return _outcome(check, person, look, _said_of(check, person))


def _outcome(check: Check, person: User, look: CheckLook | None, said: _Said) -> Outcome:
    people = _people(said, person)
    own = _newest(one for one in people if one.is_own)
    has_answered = any(one.is_own and not one.is_set_aside for one in people)
    is_shown = is_judge_visible_to(check, knows=said.was_shown or has_answered)
    judge, told, is_fooled = _said_to(check, person, look, said) if is_shown else (None, "", False)
    # Other people's answers draw towards them as a judge's do, so they are revealed together.
    knows_all = is_shown and not is_fooled
    newest = _newest(people)
    met = _met(people)
    decision = None
    if is_fooled:
        decision = _as_if_alone(own, judge)
    elif knows_all or _is_own(check, newest):
        decision = _decision(check, newest, judge)
    return Outcome(
        check_id=check.public_id,
        claim=check.claim.text,
        is_current=check.is_current,
        judge=judge,
        is_judge_shown=is_shown,
        planted=told,
        people=tuple(one for one in people if knows_all or one.is_own or one in met),
        own=own,
        seen=newest.verdict_id if newest else "",
        decision=decision,
        is_disputed=check.is_disputed and knows_all,
        is_settled=check.final_source == Check.Decider.ADJUDICATOR,
        coverage_stays_because=_why_coverage_stays(check) if is_shown else "",
    )


def _met(people: Sequence[PersonSaid]) -> tuple[PersonSaid, ...]:
    """The other's answer that was told to the reader when theirs was set aside, as long as it stands."""
    met = []
    for place, said in enumerate(people):
        if said.is_own and said.is_set_aside:
            before = (one for one in reversed(people[:place]) if not one.is_own and not one.is_set_aside)
            met.append(next(before, None))
    return tuple(one for one in met if one is not None and not one.is_withdrawn)


def _said_to(
    check: Check, person: User, look: CheckLook | None, said: _Said
) -> tuple[JudgeSaid | None, str, bool]:
    """What stands as the judge's verdict, the planted one of which they were told, and whether they are fooled."""
    verdict = _judges_verdict(check, said)
    true = _judge_said(check, verdict)
    if check.project.planted_share <= 0 and (look is None or look.planted_label is None):
        return true, "", False
    if look is None or look.revealed_at is None:
        label, told = label_to_plant(check, person), ""
    elif look.is_fooling:
        label, told = look.planted_label, ""
    else:
        label, told = None, look.planted_label or ""
    # Made also where it is not shown, so that the true verdict takes as long.
    planted = planted_verdict(check, label or Label.NO)
    if label is None or verdict is None:
        return true, told, False
    return _judge_said(check, in_its_place(verdict, label, planted)), "", True


@dataclass(frozen=True, slots=True)
class _Said:
    """All verdicts on a check in their order, each with its person's name; and what one person was shown of it."""

    verdicts: tuple[tuple[str | None, Verdict], ...]
    was_shown: bool


def _said_of(check: Check, person: User) -> _Said:
    with connection.cursor() as cursor:
        cursor.execute(_SAID.format(columns=_VERDICT.columns), {"check": check.pk, "person": person.pk})
        rows = cursor.fetchall()
    return _Said(
        verdicts=tuple(
            (name, _VERDICT.read(iter(verdict))) for _, name, *verdict in rows if verdict[0] is not None
        ),
        was_shown=bool(rows[0][0]),
    )


def _people(said: _Said, person: User) -> list[PersonSaid]:
    return [
        PersonSaid(
            verdict_id=verdict.public_id,
            who=name or verdict.origin_name,
            is_own=verdict.person_id == person.pk,
            label=verdict.label or "",
            reason=verdict.reason,
            evidence=tuple(verdict.evidence),
            quotes=tuple(f"{each['unit']}:{each['start']}:{each['end']}" for each in verdict.quotes),
            error_type=verdict.error_type,
            error=verdict.get_error_type_display() if verdict.error_type else "",
            confidence=verdict.confidence,
            saw_judge=verdict.shown in (Verdict.Shown.JUDGE, Verdict.Shown.PLANTED),
            met_another=verdict.shown == Verdict.Shown.PERSON,
            in_batch=verdict.batch_id is not None,
            at=verdict.created_at,
            is_withdrawn=verdict.withdrawn_at is not None,
            is_set_aside=verdict.is_set_aside,
        )
        for name, verdict in said.verdicts
        if verdict.source == Verdict.Source.REVIEWER
    ]


def _judges_verdict(check: Check, said: _Said) -> Verdict | None:
    judge = check.project.deciding_judge
    if judge is None:
        return None
    standing = [one for _, one in said.verdicts if one.judge_id == judge.pk and one.withdrawn_at is None]
    # The latest usable answer stands; a later failure does not undo it.
    return next((one for one in reversed(standing) if one.label), standing[-1] if standing else None)


def _judge_said(check: Check, verdict: Verdict | None) -> JudgeSaid | None:
    judge = check.project.deciding_judge
    if judge is None or verdict is None:
        return None
    return JudgeSaid(
        judge=judge.name,
        is_baseline=judge.kind == judge.Kind.LEXICAL,
        label=verdict.label,
        confidence=_sureness(verdict.label, verdict.probability),
        reason=verdict.reason,
        evidence=tuple(verdict.evidence),
    )


def _sureness(label: str | None, probability: float | None) -> float | None:
    """In the label given: the probability of yes, or of its opposite."""
    if probability is None or label not in (Label.YES, Label.NO):
        return None
    return probability if label == Label.YES else 1 - probability


def _newest(people: Iterable[PersonSaid]) -> PersonSaid | None:
    return next((said for said in reversed(list(people)) if not said.is_withdrawn), None)


def _as_if_alone(own: PersonSaid | None, judge: JudgeSaid | None) -> Decision | None:
    """What would stand, had nobody but the reader and the judge that they take for true said anything."""
    if own is not None:
        return Decision(label=own.label, source=Check.Decider.REVIEWER, who=own.who, reason=own.reason)
    if judge is None:
        return None
    return Decision(label=judge.label, source=Check.Decider.JUDGE, who=judge.judge, reason=judge.reason)


def _decision(check: Check, newest: PersonSaid | None, judge: JudgeSaid | None) -> Decision | None:
    """What stands, unless it would tell what the judge said to somebody who must not know yet."""
    match check.final_source:
        case Check.Decider.ADJUDICATOR:
            settled = (
                Adjudication.objects.filter(check_row=check, withdrawn_at=None)
                .select_related("decided_by")
                .order_by("-pk")
                .first()
            )
            who, reason = (settled.decided_by.username, settled.reason) if settled else ("", "")
            return Decision(label=check.final_label, source=check.final_source, who=who, reason=reason)
        case Check.Decider.REVIEWER:
            who, reason = (newest.who, newest.reason) if newest else ("", "")
            return Decision(label=check.final_label, source=check.final_source, who=who, reason=reason)
        case Check.Decider.RULE:
            return Decision(
                label=check.final_label, source=check.final_source, who="", reason="the summary is empty"
            )
        case _ if judge is None:
            return None
        case _:
            reason = judge.reason if check.final_label else check.unscored_reason
            return Decision(
                label=check.final_label, source=check.final_source, who=judge.judge, reason=reason
            )


def _is_own(check: Check, newest: PersonSaid | None) -> bool:
    """Whether what stands follows from nobody else's answer: from a rule, or the reader's own."""
    if check.final_source == Check.Decider.RULE:
        return True
    return check.final_source == Check.Decider.REVIEWER and newest is not None and newest.is_own


def _passages(
    units: Sequence[TextUnit],
    claim: str,
    *,
    judge_evidence: Sequence[int],
    own: Sequence[int],
    whole_text: bool,
) -> tuple[Passage, ...]:
    """The text that the claim is held against: whole if short or asked for, else around what was found."""
    found = found_passages(claim, [unit.text for unit in units])
    lit = {number: place for place, number in enumerate(sorted(set(judge_evidence)), start=1)}
    interesting = {
        place
        for place, unit in enumerate(units)
        if place in found or unit.number in lit or unit.number in own
    }
    places = shown_places(len(units), interesting, whole_text=whole_text)
    before = {place: earlier for earlier, place in zip([-1, *places], places, strict=False)}
    return tuple(
        Passage(
            number=units[place].number,
            text=units[place].text,
            evidence=lit.get(units[place].number, 0),
            is_found=place in found,
            is_marked=units[place].number in own,
            follows_gap=place > 0 and before[place] != place - 1,
            opens=units[place].opens,
        )
        for place in places
    )


def _why_coverage_stays(check: Check) -> str:
    """The word `percents` or `adjudicated` where an answer to this check cannot move coverage, else nothing."""
    model = check.claim.claim_set.summary
    if check.side != Check.Side.REFERENCE or model is None:
        return ""
    claim = check.claim
    unit, key = ("unit_id", claim.unit_id) if claim.unit_id else ("claim_id", claim.pk)
    values: list[int | str | None] = [
        key,
        key,
        Assignment.State.SUBMITTED.value,
        claim.unit_id,
        check.peer_id,
        model.pk,
    ]
    with connection.cursor() as cursor:
        cursor.execute(_SETTLED.format(unit=unit), values)
        is_adjudicated, has_percents = cursor.fetchone() or (False, False)
    if is_adjudicated:
        return "adjudicated"
    return "percents" if has_percents and check.project.blend == Project.Blend.HUMAN_FIRST else ""

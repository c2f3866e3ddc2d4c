"""One check as a reviewer sees it: what the project hides from them is left out."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.models import (
    Adjudication,
    Assignment,
    Check,
    Comparison,
    Document,
    Label,
    Project,
    PublishedPercent,
    Score,
    Unit,
    UnitJudgment,
    Verdict,
)
from annotation.queries.review_queue import COUNTED_UP_TO, Filter, count, next_in_queue, waiting_checks
from annotation.refusals import NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import User

WHOLE_TEXT_UP_TO = 40
"""A longer text is shown as the passages around what was found, with the whole one a key away."""
PASSAGE_MARGIN = 2
PASSAGES_FOUND = 3
ON_SCREEN_AFTER = ("coverage", "claim_coverage", "alignment", "composite_2_3")
"""The scores whose movement a reviewer is told."""


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
    """One person's answer (or an imported one), withdrawn or not."""

    verdict_id: str
    who: str
    is_own: bool
    label: str
    reason: str
    evidence: tuple[int, ...]
    saw_judge: bool
    at: datetime
    is_withdrawn: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """What stands for a check and who decided it."""

    label: str | None
    source: str | None
    who: str
    reason: str


@dataclass(frozen=True, slots=True)
class ContextUnit:
    number: int
    text: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class CheckView:
    """One check in a reviewer's hands. What the project hides from them is not in it."""

    check_id: str
    side: str
    claim: str
    unit_number: int | None
    context: tuple[ContextUnit, ...]
    passages: tuple[Passage, ...]
    is_whole_text: bool
    text_units: int
    document_set: str
    summary_id: str
    judge: JudgeSaid | None
    may_ask_judge: bool
    is_judge_shown: bool
    people: tuple[PersonSaid, ...]
    own: PersonSaid | None
    seen: str
    decision: Decision | None
    is_disputed: bool
    coverage_stays_because: str
    next_id: str | None
    left: int
    is_left_counted_out: bool

    @property
    def others(self) -> tuple[PersonSaid, ...]:
        return tuple(said for said in self.people if not said.is_own)


@dataclass(frozen=True, slots=True)
class Change:
    """A score before and after an answer, in [0, 1]."""

    name: str
    before: float | None
    after: float | None

    @property
    def is_moved(self) -> bool:
        return self.before != self.after


def check_of(project: Project, public_id: str) -> Check:
    """The check of that public id in the project, with its claim and summary. Raises NotFound."""
    check = (
        Check.objects.filter(project=project, public_id=public_id)
        .select_related("project", "peer__document_set", "claim__unit", "claim__claim_set__summary")
        .first()
    )
    if check is None:
        raise NotFound("There is no such check in this project.")
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


def is_judge_visible(check: Check, person: User, *, asked: bool) -> bool:
    """Whether the project's reveal mode lets the person see the judge's verdict on this check.

    Whoever has answered once has seen it, also after taking the answer back.
    """
    match Project.Reveal(check.project.reveal):
        case Project.Reveal.SHOWN:
            return True
        case Project.Reveal.ON_REQUEST if asked:
            return True
        case _:
            return Verdict.objects.filter(check_row=check, person=person).exists()


def check_view(
    check: Check, person: User, filters: Filter, *, asked: bool = False, whole_text: bool = False
) -> CheckView:
    """A check as this person may see it now. The number of queries is the same for every check."""
    people = _people(check, person)
    own = next((said for said in reversed(people) if said.is_own and not said.is_withdrawn), None)
    is_shown = is_judge_visible(check, person, asked=asked)
    judge = _judge_said(check) if is_shown else None
    # Other people's answers draw towards them as a judge's do, so they are revealed together.
    decision = _decision(check, people, judge) if is_shown or not _is_by_others(check, own) else None
    passages, is_whole, text_units = _passages(
        check, judge_evidence=_lit(check, judge), own=own.evidence if own else (), whole_text=whole_text
    )
    newest = next((said for said in reversed(people) if not said.is_withdrawn), None)
    left = count(waiting_checks(check.project, filters))
    return CheckView(
        check_id=check.public_id,
        side=check.side,
        claim=check.claim.text,
        unit_number=check.claim.unit.position if check.claim.unit else None,
        context=tuple(_context(check)),
        passages=passages,
        is_whole_text=is_whole,
        text_units=text_units,
        document_set=check.peer.document_set.external_id,
        summary_id=check.peer.public_id,
        judge=judge,
        may_ask_judge=not is_shown and check.project.reveal == Project.Reveal.ON_REQUEST,
        is_judge_shown=is_shown,
        people=tuple(said for said in people if is_shown or said.is_own),
        own=own,
        seen=newest.verdict_id if newest else "",
        decision=decision,
        is_disputed=check.is_disputed and is_shown,
        coverage_stays_because=_why_coverage_stays(check),
        next_id=next_in_queue(check, filters),
        left=min(left, COUNTED_UP_TO),
        is_left_counted_out=left <= COUNTED_UP_TO,
    )


def scores_now(check: Check) -> dict[str, float | None]:
    """The scores of the check's summary that an answer may move."""
    row = Score.objects.filter(summary_id=check.peer_id).values(*ON_SCREEN_AFTER).first()
    return dict(row) if row else dict.fromkeys(ON_SCREEN_AFTER)


def changes(before: dict[str, float | None], after: dict[str, float | None]) -> list[Change]:
    """What an answer did to the scores, in the order of the screen; those that never were are left out."""
    return [
        Change(name=name, before=before[name], after=after[name])
        for name in ON_SCREEN_AFTER
        if before[name] is not None or after[name] is not None
    ]


def found_passages(claim: str, texts: Sequence[str]) -> frozenset[int]:
    """The places (from 0) of the few texts that share most words with a claim, rare words counting more.

    Says nothing of whether they support it: it is the same help for a true claim and a false one. Empty where
    nothing is shared.
    """
    words = [_words(text) for text in texts]
    spread = Counter(word for text in words for word in text)
    claimed = _words(claim)
    weights = [sum(math.log(1 + len(texts) / spread[word]) for word in claimed & text) for text in words]
    ranked = sorted((place for place, weight in enumerate(weights) if weight > 0), key=lambda p: -weights[p])
    enough = weights[ranked[0]] / 2 if ranked else 0.0
    return frozenset(place for place in ranked[:PASSAGES_FOUND] if weights[place] >= enough)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _people(check: Check, person: User) -> list[PersonSaid]:
    verdicts = Verdict.objects.filter(check_row=check, source=Verdict.Source.REVIEWER).select_related(
        "person"
    )
    return [
        PersonSaid(
            verdict_id=verdict.public_id,
            who=verdict.person.username if verdict.person else verdict.origin_name,
            is_own=verdict.person_id == person.pk,
            label=verdict.label or "",
            reason=verdict.reason,
            evidence=tuple(verdict.evidence),
            saw_judge=verdict.shown == Verdict.Shown.JUDGE,
            at=verdict.created_at,
            is_withdrawn=verdict.withdrawn_at is not None,
        )
        for verdict in verdicts.order_by("pk")
    ]


def _judge_said(check: Check) -> JudgeSaid | None:
    deciding = check.project.deciding_judge_id
    if deciding is None:
        return None
    verdicts = Verdict.objects.filter(check_row=check, judge_id=deciding, withdrawn_at=None)
    said = list(verdicts.select_related("judge").order_by("pk"))
    # The latest usable answer stands; a later failure does not undo it.
    verdict = next((one for one in reversed(said) if one.label), said[-1] if said else None)
    if verdict is None or verdict.judge is None:
        return None
    return JudgeSaid(
        judge=verdict.judge.name,
        is_baseline=verdict.judge.kind == verdict.judge.Kind.LEXICAL,
        label=verdict.label,
        confidence=_confidence(verdict),
        reason=verdict.reason,
        evidence=tuple(verdict.evidence),
    )


def _confidence(verdict: Verdict) -> float | None:
    """In the label given: the probability of yes, or of its opposite."""
    if verdict.probability is None or verdict.label not in (Label.YES, Label.NO):
        return None
    return verdict.probability if verdict.label == Label.YES else 1 - verdict.probability


def _lit(check: Check, judge: JudgeSaid | None) -> tuple[int, ...]:
    """The judge's evidence, which is part of its verdict, shown with it; on request it comes first."""
    if judge is not None:
        return judge.evidence
    if check.project.reveal == Project.Reveal.ON_REQUEST:
        hidden = _judge_said(check)
        return hidden.evidence if hidden else ()
    return ()


def _decision(check: Check, people: Sequence[PersonSaid], judge: JudgeSaid | None) -> Decision | None:
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
            newest = next((said for said in reversed(people) if not said.is_withdrawn), None)
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


def _is_by_others(check: Check, own: PersonSaid | None) -> bool:
    """Whether what stands was decided by people, and the reader is none of them."""
    return own is None and check.final_source in (Check.Decider.REVIEWER, Check.Decider.ADJUDICATOR)


def _context(check: Check) -> Iterable[ContextUnit]:
    """The unit that the claim was taken from, with the ones beside it."""
    unit = check.claim.unit
    text = check.claim.claim_set.summary
    if unit is None or text is None:
        return
    near = Unit.objects.filter(
        summary=text, position__gte=unit.position - 1, position__lte=unit.position + 1
    ).order_by("position")
    for other in near:
        yield ContextUnit(
            number=other.position, text=text.text[other.start : other.end], is_here=other.pk == unit.pk
        )


def _passages(
    check: Check, *, judge_evidence: Sequence[int], own: Sequence[int], whole_text: bool
) -> tuple[tuple[Passage, ...], bool, int]:
    """The text that the claim is held against: whole if short or asked for, else around what was found."""
    units = list(_text_units(check))
    found = found_passages(check.claim.text, [unit.text for unit in units])
    lit = {number: place for place, number in enumerate(sorted(set(judge_evidence)), start=1)}
    passages = [
        replace(
            unit,
            evidence=lit.get(unit.number, 0),
            is_found=place in found,
            is_marked=unit.number in own,
        )
        for place, unit in enumerate(units)
    ]
    if whole_text or len(passages) <= WHOLE_TEXT_UP_TO:
        return tuple(passages), True, len(passages)
    return tuple(_windows(passages)), False, len(passages)


def _windows(passages: Sequence[Passage]) -> Iterable[Passage]:
    wanted = {
        near
        for place, passage in enumerate(passages)
        if passage.evidence or passage.is_found or passage.is_marked
        for near in range(place - PASSAGE_MARGIN, place + PASSAGE_MARGIN + 1)
    } or set(range(WHOLE_TEXT_UP_TO))
    for place, passage in enumerate(passages):
        if place in wanted:
            yield replace(passage, follows_gap=place > 0 and place - 1 not in wanted)


def _text_units(check: Check) -> Iterable[Passage]:
    if check.side == Check.Side.REFERENCE:
        units = Unit.objects.filter(summary_id=check.peer_id).order_by("position")
        yield from _numbered(units, check.peer.text)
        return
    texts = {
        document.pk: document.text
        for document in Document.objects.filter(document_set_id=check.peer.document_set_id)
    }
    units = Unit.objects.filter(document_id__in=texts).order_by("position")
    before: int | None = None
    for unit in units:
        assert unit.document_id is not None, "the filter asks for units of documents"
        yield from _numbered([unit], texts[unit.document_id], is_new_text=unit.document_id != before)
        before = unit.document_id


def _numbered(units: Iterable[Unit], text: str, *, is_new_text: bool = False) -> Iterable[Passage]:
    for unit in units:
        opens = is_new_text or "\n" in text[max(0, unit.start - 2) : unit.start]
        yield Passage(number=unit.position, text=text[unit.start : unit.end].strip(), opens=opens)


def _why_coverage_stays(check: Check) -> str:
    """The word `percents` or `adjudicated` where an answer to this check cannot move coverage, else nothing."""
    model = check.claim.claim_set.summary
    if check.side != Check.Side.REFERENCE or model is None:
        return ""
    comparison = Comparison.objects.filter(peer_id=check.peer_id, model=model).first()
    if comparison is None:
        return ""
    unit = Q(unit_id=check.claim.unit_id) if check.claim.unit_id else Q(claim_id=check.claim_id)
    if Adjudication.objects.filter(unit, comparison=comparison, withdrawn_at=None).exists():
        return "adjudicated"
    has_percents = UnitJudgment.objects.filter(
        unit,
        assignment__comparison=comparison,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__repeat_of=None,
        is_current=True,
        percent__isnull=False,
    ).exists() or (
        check.claim.unit_id is not None
        and PublishedPercent.objects.filter(unit_id=check.claim.unit_id, comparison=comparison).exists()
    )
    return "percents" if has_percents and check.project.blend == Project.Blend.HUMAN_FIRST else ""

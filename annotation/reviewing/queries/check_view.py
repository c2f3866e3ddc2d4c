"""One check as a reviewer may see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from annotation.core.refusals import NotFound
from annotation.models import (
    Check,
    CoverageJudgment,
    Label,
    Project,
    Verdict,
)
from annotation.models.answer import STANDING_DECISION
from annotation.models.judgment import COUNTING
from annotation.reviewing.queries.sight import may_see
from annotation.texts.queries.check_text import (
    SUMMARY_NUMBER,
    WHOLE_TEXT_UP_TO,
    ContextUnit,
    TextUnit,
    found_passages,
    shown_places,
    texts_around,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User

ON_SCREEN = Check.objects.select_related(
    "document_set", "summary", "claim__claim_set__summary", "claim__unit"
).annotate(summary_number=SUMMARY_NUMBER)


@dataclass(frozen=True, slots=True)
class Passage:
    """A numbered unit of the text that a claim is compared with.

    - `evidence`: its place in the judge's evidence, from 1; 0 if it is not evidence
    - `is_found`: it is one of the few passages that share most words with the claim
    - `is_best`: it is the first of these
    - `is_marked`: it is marked as the reader's evidence
    - `follows_gap`: units before it are not shown
    - `opens`: see `TextUnit`
    """

    number: int
    text: str
    evidence: int = 0
    is_found: bool = False
    is_best: bool = False
    is_marked: bool = False
    follows_gap: bool = False
    opens: bool = False


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """The deciding judge's latest usable answer; without one, its latest failure, whose label is None.

    `confidence` is the probability of the label, in [0, 1]; None for unsure, and if the judge gave no probability.
    """

    judge: str
    is_baseline: bool
    label: str | None
    confidence: float | None
    reason: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """One person's answer or an imported answer, withdrawn or not.

    `saw_judge` is True if the person had seen others' answers before. `confidence` is in [0, 1]; None if not given.
    """

    verdict_id: str
    who: str
    is_own: bool
    label: str
    reason: str
    evidence: tuple[int, ...]
    error_type: str
    error: str
    confidence: float | None
    saw_judge: bool
    at: datetime
    is_withdrawn: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """The final label of a check and its source."""

    label: str | None
    source: str | None
    who: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answers to a check that this reader may see now.

    `people` has the answers of people and files if the reader may see them; otherwise only the reader's own answers.
    `is_settled` is True after an adjudicator's decision; this is never hidden. `coverage_stays_because` is the reason
    (`percents` or `adjudicated`) if an answer cannot change coverage and the reader may know this; otherwise it is "".
    """

    check_id: str
    claim: str
    is_current: bool
    judge: JudgeAnswer | None
    is_judge_shown: bool
    people: tuple[PersonAnswer, ...]
    own: PersonAnswer | None
    decision: Decision | None
    is_disputed: bool
    is_settled: bool
    coverage_stays_because: str

    @property
    def others(self) -> tuple[PersonAnswer, ...]:
        return tuple(said for said in self.people if not said.is_own)

    @property
    def differing(self) -> tuple[PersonAnswer, ...]:
        """Return the latest visible answers of other people that differ from the reader's own answer."""
        latest = {said.who: said for said in self.others if not said.is_withdrawn}
        own = self.own
        return tuple(said for said in latest.values() if own is not None and said.label != own.label)

    @property
    def is_own_latest(self) -> bool:
        """Return True if the reader's own answer is the latest visible answer of a person."""
        return self.own is not None and self.own == _newest(self.people)

    @property
    def seen(self) -> str:
        """Return the id of the reader's own answer; "" without a current one."""
        return self.own.verdict_id if self.own else ""

    @property
    def other_label(self) -> str:
        """Return the judge's label if it differs from the reader's label on a current check; otherwise ""."""
        if not self.is_current or self.judge is None or self.judge.label is None or self.own is None:
            return ""
        return "" if self.judge.label == self.own.label else self.judge.label


@dataclass(frozen=True, slots=True)
class CheckView:
    """A check on a reviewer's screen: the claim, the text it is compared with, and the visible answers.

    `summary_id` is "" if a question is checked against the source. `text_id` is "" if the claim comes from no text.
    """

    check_id: str
    claim_id: str
    side: str
    claim: str
    is_current: bool
    unit_number: int | None
    context: tuple[ContextUnit, ...]
    passages: tuple[Passage, ...]
    is_whole_text: bool
    text_units: int
    document_set: str
    summary_id: str
    summary_number: int | None
    text_id: str
    reads_source: bool
    outcome: Outcome


def check_of(project: Project, public_id: str) -> Check:
    """Return the check with its document set, its summary and its claim. Raises NotFound if there is none."""
    return of_project(ON_SCREEN.filter(project=project, public_id=public_id).first(), project)


def of_project(check: Check | None, project: Project) -> Check:
    """Return the check with `project` as its project. Raises NotFound if the check is None."""
    if check is None:
        raise NotFound("There is no such check in this project.")
    check.project = project
    return check


def own_verdict(check: Check, person: User, public_id: str) -> Verdict:
    """Return the person's own verdict with this public id on the check. Raises NotFound if there is none."""
    verdict = (
        Verdict.objects.filter(
            check_row=check, person=person, role=Verdict.Role.REVIEWER, public_id=public_id
        )
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
    marked: Sequence[int] | None = None,
    whole_text: bool = False,
) -> CheckView:
    """Build the view of a check that this person may see now.

    `marked` are the unsaved evidence units of the form; None marks the units of the person's own answer. `whole_text`
    shows all passages of a long text.
    """
    outcome = outcome_of(check, person)
    if marked is None:
        marked = outcome.own.evidence if outcome.own else ()
    return _view(check, outcome, marked, whole_text)


def view_without_answers(check: Check) -> CheckView:
    """Build the view of a check with its whole text and without any answer, the reader's own answers included."""
    nothing = Outcome(
        check.public_id, check.claim.text, check.is_current, None, False, (), None, None, False, False, ""
    )
    return _view(check, nothing, (), whole_text=True)


def _view(check: Check, outcome: Outcome, marked: Sequence[int], whole_text: bool) -> CheckView:
    texts = texts_around(check)
    # Hide the judge's evidence until its verdict is shown, because the evidence may reveal the label.
    lit = outcome.judge.evidence if outcome.judge else ()
    passages = _passages(
        texts.compared, check.claim.text, judge_evidence=lit, own=marked, whole_text=whole_text
    )
    return CheckView(
        check_id=check.public_id,
        claim_id=check.claim.public_id,
        side=check.side,
        claim=check.claim.text,
        is_current=check.is_current,
        unit_number=check.claim.unit.position if check.claim.unit else None,
        context=texts.context,
        passages=passages,
        is_whole_text=whole_text or len(texts.compared) <= WHOLE_TEXT_UP_TO,
        text_units=len(texts.compared),
        document_set=check.document_set.external_id,
        summary_id=check.summary.public_id if check.summary else "",
        summary_number=vars(check)["summary_number"],
        text_id=_text_id(check),
        reads_source=check.reads_source,
        outcome=outcome,
    )


def _text_id(check: Check) -> str:
    if check.side == Check.Side.QUESTION:
        return ""
    reference = check.claim.claim_set.summary
    return reference.public_id if reference else check.document_set.public_id


def outcome_of(check: Check, person: User) -> Outcome:
    """Load the answers to a check that the person may see now."""
    said = list(Verdict.objects.filter(check_row=check).select_related("person").order_by("pk"))
    is_known = may_see(check, person, said=said)
    judge = _judge_answer(check, _judges_verdict(check, said)) if is_known else None
    people = tuple(_answer(one, person) for one in said if one.role == Verdict.Role.REVIEWER)
    people = tuple(one for one in people if is_known or one.is_own)
    is_shown = is_known or check.final_source == Check.Decider.RULE
    return Outcome(
        check_id=check.public_id,
        claim=check.claim.text,
        is_current=check.is_current,
        judge=judge,
        is_judge_shown=is_known,
        people=people,
        own=_newest(one for one in people if one.is_own),
        decision=_decision(check, said, judge) if is_shown else None,
        is_disputed=is_known and check.is_disputed,
        is_settled=check.final_source == Check.Decider.ADJUDICATOR,
        coverage_stays_because=_why_coverage_stays(check) if is_known else "",
    )


def _answer(verdict: Verdict, person: User) -> PersonAnswer:
    return PersonAnswer(
        verdict_id=verdict.public_id,
        who=verdict.author,
        is_own=verdict.person_id == person.pk,
        label=verdict.label or "",
        reason=verdict.reason,
        evidence=tuple(verdict.evidence),
        error_type=verdict.error_type,
        error=verdict.get_error_type_display() if verdict.error_type else "",
        confidence=verdict.confidence,
        saw_judge=verdict.had_seen,
        at=verdict.created_at,
        is_withdrawn=verdict.withdrawn_at is not None,
    )


def _judges_verdict(check: Check, said: Sequence[Verdict]) -> Verdict | None:
    judge = check.project.deciding_judge
    if judge is None:
        return None
    standing = [one for one in said if one.judge_id == judge.pk and one.withdrawn_at is None]
    # Take the latest usable answer; a later failure does not replace it.
    return next((one for one in reversed(standing) if one.label), standing[-1] if standing else None)


def _judge_answer(check: Check, verdict: Verdict | None) -> JudgeAnswer | None:
    judge = check.project.deciding_judge
    if judge is None or verdict is None:
        return None
    return JudgeAnswer(
        judge=judge.name,
        is_baseline=judge.kind == judge.Kind.LEXICAL,
        label=verdict.label,
        confidence=_sureness(verdict.label, verdict.probability),
        reason=verdict.reason,
        evidence=tuple(verdict.evidence),
    )


def _sureness(label: str | None, probability: float | None) -> float | None:
    if probability is None or label not in (Label.YES, Label.NO):
        return None
    return probability if label == Label.YES else 1 - probability


def _newest(people: Iterable[PersonAnswer]) -> PersonAnswer | None:
    return next((said for said in reversed(list(people)) if not said.is_withdrawn), None)


def _decision(check: Check, said: Sequence[Verdict], judge: JudgeAnswer | None) -> Decision | None:
    source, who, reason = check.final_source, "", ""
    if source in (Check.Decider.ADJUDICATOR, Check.Decider.REVIEWER):
        standing = [one for one in said if one.role == source and one.withdrawn_at is None]
        who, reason = (standing[-1].author, standing[-1].reason) if standing else ("", "")
    elif source != Check.Decider.RULE:
        if judge is None:
            return None
        who, reason = judge.judge, judge.reason if check.final_label else check.unscored_reason
    return Decision(label=check.final_label, source=source, who=who, reason=reason)


def _passages(
    units: Sequence[TextUnit],
    claim: str,
    *,
    judge_evidence: Sequence[int],
    own: Sequence[int],
    whole_text: bool,
) -> tuple[Passage, ...]:
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
            is_best=place in found[:1],
            is_marked=units[place].number in own,
            follows_gap=place > 0 and before[place] != place - 1,
            opens=units[place].opens,
        )
        for place in places
    )


def _why_coverage_stays(check: Check) -> str:
    reference = check.claim.claim_set.summary
    if check.side != Check.Side.REFERENCE or reference is None:
        return ""
    claim = check.claim
    place: dict[str, Any] = {"unit": claim.unit_id} if claim.unit_id else {"claim": claim.pk}
    counted = CoverageJudgment.objects.filter(
        COUNTING | STANDING_DECISION,
        comparison__summary=check.summary_id,
        comparison__reference=reference,
        **place,
    )
    roles = set(counted.order_by().values_list("role", flat=True))
    if CoverageJudgment.Role.ADJUDICATOR in roles:
        return "adjudicated"
    return "percents" if roles and check.project.blend == Project.Blend.HUMAN_FIRST else ""

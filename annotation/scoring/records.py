"""The only place where rows become what `evaluation.score` takes.

Everything here reads the statements themselves (verdicts, judgments, adjudications), never the
derived columns of a check or a score, so that scores can be thrown away and rebuilt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from django.db.models import Q

from annotation.core.unit_lists import has_claims_as_units
from annotation.models import (
    Adjudication,
    Check,
    Claim,
    ClaimSet,
    Comparison,
    Document,
    Project,
    PublishedPercent,
    Question,
    Rating,
    Summary,
    Unit,
    UnitJudgment,
    Verdict,
)
from annotation.models.judgment import COUNTING
from annotation.scoring.overtaken import OVERTAKEN
from annotation.scoring.questions import latest_answers
from evaluation.blend import (
    AssessorAverage,
    Blend,
    OverLength,
    ScoredClaim,
    ScoredComparison,
    ScoredSummary,
    ScoredUnit,
    ScoreRules,
)
from evaluation.judging import Label
from evaluation.metrics import ConcisenessTerms, conciseness_terms, question_coverage_or_none
from evaluation.text import LengthUnit, count_length, has_word_breaks, truncate

if TYPE_CHECKING:
    from django.db.models import QuerySet

RECORDS_AT_ONCE = 200
DOCUMENT_BREAK = "\n\n"
"""Between two documents of a set where they are read as one text."""

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class CheckAnswers:
    """What has been said about one check, reduced to what counts.

    `judge` is the deciding judge's latest usable answer; where it never gave one,
    `unscored_reason` says why. `judge_doubt` is a panel's: the share of its votes that differ.
    `reviewer` is the latest reviewer's verdict not withdrawn; `standing` holds what each reviewer says by
    now, and `is_disputed` tells that these differ. `overtaken` holds what was set aside of those who have said nothing
    since: it decides nothing, yet that people differed by themselves is for an adjudicator.
    """

    judge: Label | None = None
    judge_probability: float | None = None
    judge_doubt: float | None = None
    reviewer: Label | None = None
    adjudicated: Label | None = None
    rule: Label | None = None
    standing: tuple[Label, ...] = ()
    overtaken: tuple[Label, ...] = ()
    unscored_reason: str = ""

    @property
    def is_disputed(self) -> bool:
        return len(set(self.standing)) > 1

    def scored(self, claim_id: str) -> ScoredClaim:
        return ScoredClaim(
            claim_id=claim_id,
            judge=self.judge,
            reviewer=self.reviewer,
            adjudicated=self.adjudicated,
            rule=self.rule,
        )


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """A check, the public id of its claim, and what has been said about it."""

    check: Check
    claim_id: str
    answers: CheckAnswers


UnitKey = tuple[int, int | None, int | None]
"""Comparison, unit, or the claim that stands in for a unit."""


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """A unit of one comparison by its rows' keys, and what has been said about it."""

    key: UnitKey
    value: ScoredUnit


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """A peer summary with all that has been said of it: the row, its value, its checks and units.

    `conciseness_terms` are there where its conciseness has been rated.
    """

    summary: Summary
    value: ScoredSummary
    checks: tuple[CheckRecord, ...]
    units: tuple[UnitRecord, ...]
    conciseness_terms: ConcisenessTerms | None = None


def score_rules(project: Project) -> ScoreRules:
    """The project's scoring rules as the evaluation room wants them."""
    return ScoreRules(
        blend=cast("Blend", project.blend),
        human_weight=project.blend_human_weight,
        assessor_average=cast("AssessorAverage", project.assessor_average),
        composite_weight=project.composite_weight,
        length_unit=cast("LengthUnit", project.length_unit),
        over_length=cast("OverLength", project.over_length),
    )


def judged_text(summary: Summary, project: Project) -> str:
    """The text that is judged: the delivered one, cut to the target where the project says so."""
    if project.over_length == Project.OverLength.TRUNCATE and summary.is_peer and summary.target_words:
        return truncate(summary.text, summary.target_words, cast("LengthUnit", project.length_unit))
    return summary.text


@dataclass(frozen=True, slots=True)
class OneVoice:
    """Whose answers: those of a member (`person`), or of somebody named in an import, by what it was called.

    Of an imported one `assessor` is the name in a published table; None where the import held verdicts.
    """

    person: int | None = None
    origin_name: str = ""
    assessor: str | None = None

    def verdicts(self, given: QuerySet[Verdict]) -> QuerySet[Verdict]:
        """Their verdicts among these."""
        if self.person is not None:
            return given.filter(person_id=self.person)
        if self.assessor is not None:
            return given.none()
        return given.filter(source=Verdict.Source.REVIEWER, person__isnull=True, origin_name=self.origin_name)


def summary_records(
    project: Project, summary_ids: Sequence[int] | None = None, *, without: OneVoice | None = None
) -> Iterator[SummaryRecord]:
    """Every peer summary of the project, or those of it that are named, as the evaluation room wants it.

    `without` is whose percents and verdicts are left out, as if never given; decisions of adjudicators stay.
    Works through the summaries in batches; the number of queries grows with batches, never with units, claims or
    verdicts.
    """
    keys = peer_keys(project, summary_ids)
    for first in range(0, len(keys), RECORDS_AT_ONCE):
        yield from _SummaryBatch.load(project, keys[first : first + RECORDS_AT_ONCE], without).records()


def new_records(
    project: Project,
    peers: Sequence[Summary],
    answers: Mapping[int, Mapping[int, CheckAnswers]],
    *,
    comparisons: Iterable[Comparison],
    units: Iterable[Unit],
    claims: Sequence[Claim],
) -> Iterator[SummaryRecord]:
    """Records of peer summaries of new document sets, made of the rows that the caller has just stored.

    `answers`, by peer and claim, are all that was said of them. No query; `checks` of a record are left out.
    """
    batch = _SummaryBatch(
        project=project,
        peers=list(peers),
        comparisons=_by(comparisons, lambda row: row.peer_id),
        units=_by(units, lambda row: row.summary_id or 0),
        claims=_by(claims, lambda row: row.claim_set.summary_id or 0),
        document_claims=_by(claims, lambda row: row.claim_set.document_set_id or 0),
        extracted=frozenset((row.claim_set.summary_id, row.claim_set.document_set_id) for row in claims),
        checks={},
        said={},
        percents={},
        adjudicated={},
        wholes=_Wholes({}, {}, {}, frozenset(), {}, {}),
    )
    for peer in peers:
        yield batch.record_of(peer, answers.get(peer.pk, {}))


def peer_keys(project: Project, summary_ids: Sequence[int] | None = None) -> list[int]:
    """The primary keys of the project's peer summaries, or of those named, set by set."""
    # By key alone where there are keys: with the join SQLite would walk through all sets of the project.
    named = Q(document_set__project=project) if summary_ids is None else Q(pk__in=summary_ids)
    peers = Summary.objects.filter(named, is_peer=True)
    return list(peers.order_by("document_set_id", "pk").values_list("pk", flat=True))


class _CheckStatement(NamedTuple):
    check_id: int
    source: str
    person_id: int | None
    origin_name: str
    label: Label | None
    probability: float | None
    doubt: float | None
    reason: str
    is_set_aside: bool


@dataclass(slots=True)
class _CheckSaid:
    """The statements on one check, heard in the order in which they were made."""

    judge: Label | None = None
    judge_probability: float | None = None
    judge_doubt: float | None = None
    failure: str = ""
    reviewer: Label | None = None
    latest_of_each: dict[int | str, Label | None] = field(default_factory=dict)
    overtaken: list[Label] = field(default_factory=list)
    adjudicated: Label | None = None

    def hear(self, statement: _CheckStatement) -> None:
        if statement.is_set_aside and statement.label is not None:
            self.overtaken.append(statement.label)
        elif statement.source == Verdict.Source.REVIEWER:
            self.reviewer = statement.label
            self.latest_of_each[statement.person_id or statement.origin_name] = statement.label
        elif statement.label is None:
            self.failure = statement.reason
        else:
            self.judge, self.judge_probability = statement.label, statement.probability
            self.judge_doubt = statement.doubt

    def reduced(self, *, rule: Label | None) -> CheckAnswers:
        return CheckAnswers(
            judge=self.judge,
            judge_probability=self.judge_probability,
            judge_doubt=self.judge_doubt,
            reviewer=self.reviewer,
            adjudicated=self.adjudicated,
            rule=rule,
            standing=tuple(label for label in self.latest_of_each.values() if label is not None),
            overtaken=tuple(self.overtaken),
            unscored_reason="" if self.judge else self.failure,
        )


def _said_of(project: Project, peer_ids: Sequence[int], without: OneVoice | None) -> dict[int, _CheckSaid]:
    said: dict[int, _CheckSaid] = defaultdict(_CheckSaid)
    counts = Q(source=Verdict.Source.REVIEWER)
    if project.deciding_judge_id is not None:
        counts |= Q(judge_id=project.deciding_judge_id)
    is_heard = Q(withdrawn_at=None) | OVERTAKEN
    statements = Verdict.objects.filter(counts, is_heard, check_row__peer_id__in=peer_ids)
    if without is not None:
        statements = statements.exclude(pk__in=without.verdicts(statements))
    columns = (
        "check_row_id",
        "source",
        "person_id",
        "origin_name",
        "label",
        "probability",
        "doubt",
        "reason",
        "is_set_aside",
    )
    for row in statements.order_by("pk").values_list(*columns):
        statement = _CheckStatement(*row)
        said[statement.check_id].hear(statement)
    decisions = Adjudication.objects.filter(check_row__peer_id__in=peer_ids, withdrawn_at=None)
    for check_id, label in decisions.order_by("pk").values_list("check_row_id", "label"):
        said[check_id].adjudicated = cast("Label", label)
    return said


def _submitted_percents(peer_ids: Sequence[int], without: OneVoice | None) -> dict[UnitKey, list[float]]:
    """Percents that count, and those of published tables."""
    percents: dict[UnitKey, list[float]] = defaultdict(list)
    judgments = UnitJudgment.objects.filter(COUNTING, assignment__comparison__peer_id__in=peer_ids)
    if without is not None and without.person is not None:
        judgments = judgments.exclude(assignment__sitting__assessor_id=without.person)
    columns = ("assignment__comparison_id", "unit_id", "claim_id", "percent")
    for comparison_id, unit_id, claim_id, percent in judgments.order_by("pk").values_list(*columns):
        percents[comparison_id, unit_id, claim_id].append(float(percent))
    published = PublishedPercent.objects.filter(comparison__peer_id__in=peer_ids).order_by("pk")
    if without is not None and without.assessor is not None:
        published = published.exclude(
            score__assessor=without.assessor, score__origin_name=without.origin_name
        )
    for comparison_id, unit_id, percent in published.values_list("comparison_id", "unit_id", "percent"):
        percents[comparison_id, unit_id, None].append(float(percent))
    return percents


def _adjudicated_percents(peer_ids: Sequence[int]) -> dict[UnitKey, float]:
    decisions = Adjudication.objects.filter(comparison__peer_id__in=peer_ids, withdrawn_at=None)
    columns = ("comparison_id", "unit_id", "claim_id", "percent")
    return {
        (comparison_id, unit_id, claim_id): float(percent)
        for comparison_id, unit_id, claim_id, percent in decisions.order_by("pk").values_list(*columns)
    }


@dataclass(slots=True)
class _Wholes:
    """What the deciding judge said of summaries as wholes, and what was computed of them."""

    questions: dict[int, list[int]]
    from_source: dict[int, Label]
    from_summary: dict[tuple[int, int], Label]
    asked: frozenset[int]
    ratings: dict[tuple[int, str], float]
    sources: dict[int, str]

    @classmethod
    def load(cls, project: Project, peers: Sequence[Summary]) -> _Wholes:
        sets = {peer.document_set_id for peer in peers}
        peer_ids = [peer.pk for peer in peers]
        rows = Question.objects.filter(document_set_id__in=sets, retired_at=None).order_by("position")
        questions: dict[int, list[int]] = defaultdict(list)
        for document_set, question in rows.values_list("document_set_id", "pk"):
            questions[document_set].append(question)
        from_source: dict[int, Label] = {}
        from_summary: dict[tuple[int, int], Label] = {}
        asked: set[int] = set()
        counting = {question for of_set in questions.values() for question in of_set}
        said = latest_answers(project, sets, peer_ids) if counting else {}
        for (question, summary), answer in said.items():
            if question not in counting:
                continue
            if summary is not None:
                asked.add(summary)
            if answer.label is None:
                continue
            if summary is None:
                from_source[question] = answer.label
            else:
                from_summary[question, summary] = answer.label
        ratings = _ratings(project, peer_ids)
        rated = {peer.document_set_id for peer in peers if (peer.pk, Rating.Name.CONCISENESS) in ratings}
        return cls(questions, from_source, from_summary, frozenset(asked), ratings, _sources(rated))

    def has_questions(self, peer: Summary) -> bool:
        """Whether questions were asked of the summary; an empty one answers them by rule."""
        asked = self.questions.get(peer.document_set_id, ())
        return peer.pk in self.asked or (peer.is_empty and any(each in self.from_source for each in asked))

    def question_coverage(self, peer: Summary) -> float | None:
        if not self.has_questions(peer):
            return None
        questions = self.questions[peer.document_set_id]
        by_rule: Label | None = "no" if peer.is_empty else None
        return question_coverage_or_none(
            [self.from_source.get(question) for question in questions],
            [by_rule or self.from_summary.get((question, peer.pk)) for question in questions],
        )

    def conciseness_terms(self, peer: Summary, text: str) -> ConcisenessTerms | None:
        if (peer.pk, Rating.Name.CONCISENESS) not in self.ratings:
            return None
        return conciseness_terms(self.sources[peer.document_set_id], text, peer.document_set.language)

    def conciseness(self, peer: Summary, terms: ConcisenessTerms | None) -> float | None:
        rating = self.ratings.get((peer.pk, Rating.Name.CONCISENESS))
        return None if rating is None or terms is None else terms.with_rating(rating)


def _ratings(project: Project, peer_ids: Sequence[int]) -> dict[tuple[int, str], float]:
    """The latest usable rating of each summary and name: the deciding judge's, or a computed one."""
    counts = Q(judge__isnull=True) | Q(judge_id=project.deciding_judge_id)
    rows = Rating.objects.filter(counts, summary_id__in=peer_ids, value__isnull=False).order_by("pk")
    return {
        (summary, name): value
        for summary, name, value in rows.values_list("summary_id", "name", "value")
        if value is not None
    }


def _sources(sets: Iterable[int]) -> dict[int, str]:
    texts: dict[int, list[str]] = defaultdict(list)
    documents = Document.objects.filter(document_set_id__in=sets).order_by("position")
    for document_set, text in documents.values_list("document_set_id", "text"):
        texts[document_set].append(text)
    return {document_set: DOCUMENT_BREAK.join(found) for document_set, found in texts.items()}


@dataclass(slots=True)
class _SummaryBatch:
    """The rows of some peer summaries, each kind fetched once."""

    project: Project
    peers: list[Summary]
    comparisons: dict[int, list[Comparison]]
    units: dict[int, list[Unit]]
    claims: dict[int, list[Claim]]
    document_claims: dict[int, list[Claim]]
    extracted: frozenset[tuple[int | None, int | None]]
    checks: dict[int, dict[int, Check]]
    said: dict[int, _CheckSaid]
    percents: dict[UnitKey, list[float]]
    adjudicated: dict[UnitKey, float]
    wholes: _Wholes

    @classmethod
    def load(cls, project: Project, peer_ids: Sequence[int], without: OneVoice | None) -> _SummaryBatch:
        peers = list(
            Summary.objects.filter(pk__in=peer_ids)
            .select_related("system", "document_set")
            .order_by("document_set_id", "pk")
        )
        comparisons = _by(
            Comparison.objects.filter(peer_id__in=peer_ids).order_by("pk"), lambda row: row.peer_id
        )
        model_ids = {comparison.model_id for rows in comparisons.values() for comparison in rows}
        active = Claim.objects.filter(claim_set__is_active=True).order_by("claim_set_id", "position")
        checks: dict[int, dict[int, Check]] = defaultdict(dict)
        asked = Check.objects.filter(peer_id__in=peer_ids, is_current=True)
        for check in asked.select_related("claim").order_by("pk"):
            checks[check.peer_id][check.claim_id] = check
        sets_without_model = {peer.document_set_id for peer in peers if peer.pk not in comparisons}
        return cls(
            project=project,
            peers=peers,
            comparisons=comparisons,
            units=_by(
                Unit.objects.filter(summary_id__in=model_ids).order_by("position"),
                lambda row: row.summary_id or 0,
            ),
            claims=_by(
                active.filter(claim_set__summary_id__in={*model_ids, *peer_ids}).select_related("claim_set"),
                lambda row: row.claim_set.summary_id or 0,
            ),
            document_claims=_by(
                active.filter(claim_set__document_set_id__in=sets_without_model).select_related("claim_set"),
                lambda row: row.claim_set.document_set_id or 0,
            ),
            extracted=frozenset(
                ClaimSet.objects.filter(
                    Q(summary_id__in=model_ids) | Q(document_set_id__in=sets_without_model), is_active=True
                ).values_list("summary_id", "document_set_id")
            ),
            checks=checks,
            said=_said_of(project, peer_ids, without),
            percents=_submitted_percents(peer_ids, without),
            adjudicated=_adjudicated_percents(peer_ids),
            wholes=_Wholes.load(project, peers),
        )

    def records(self) -> Iterator[SummaryRecord]:
        for peer in self.peers:
            yield self._record(peer)

    def _record(self, peer: Summary) -> SummaryRecord:
        rule: Label | None = "no" if peer.is_empty else None
        checks = self.checks.get(peer.pk, {})
        answers = {claim_id: self.said[check.pk].reduced(rule=rule) for claim_id, check in checks.items()}
        rows = tuple(
            CheckRecord(check=check, claim_id=check.claim.public_id, answers=answers[claim_id])
            for claim_id, check in checks.items()
        )
        return self.record_of(peer, answers, rows)

    def record_of(
        self, peer: Summary, answers: Mapping[int, CheckAnswers], checks: tuple[CheckRecord, ...] = ()
    ) -> SummaryRecord:
        """The record of a peer, given the answers to its checks by their claims' keys."""
        unasked = CheckAnswers(rule="no" if peer.is_empty else None)

        def scored(claims: Iterable[Claim]) -> tuple[ScoredClaim, ...]:
            return tuple(answers.get(claim.pk, unasked).scored(claim.public_id) for claim in claims)

        rows = self.comparisons.get(peer.pk, ())
        units = {comparison.pk: tuple(self._units(comparison, scored)) for comparison in rows}
        comparisons = tuple(
            ScoredComparison(
                comparison_id=comparison.public_id,
                units=tuple(unit.value for unit in units[comparison.pk]),
            )
            for comparison in rows
        )
        terms = self.wholes.conciseness_terms(peer, judged_text(peer, self.project))
        value = ScoredSummary(
            summary_id=peer.public_id,
            comparisons=comparisons,
            document_claims=() if comparisons else scored(self.document_claims.get(peer.document_set_id, ())),
            peer_claims=scored(claim for claim in self.claims.get(peer.pk, ()) if claim.pk in answers),
            peer_length=count_length(peer.text, cast("LengthUnit", self.project.length_unit)),
            target=peer.target_words,
            has_word_breaks=has_word_breaks(peer.text),
            is_empty=peer.is_empty,
            claims_extracted=self._has_claims(peer),
            question_coverage=self.wholes.question_coverage(peer),
            questions_asked=self.wholes.has_questions(peer),
            completeness=self.wholes.ratings.get((peer.pk, Rating.Name.COMPLETENESS)),
            conciseness=self.wholes.conciseness(peer, terms),
        )
        return SummaryRecord(
            summary=peer,
            value=value,
            checks=checks,
            units=tuple(unit for of_comparison in units.values() for unit in of_comparison),
            conciseness_terms=terms,
        )

    def _has_claims(self, peer: Summary) -> bool:
        """Whether somebody has looked for claims in everything that the peer is held against."""
        rows = self.comparisons.get(peer.pk)
        if not rows:
            return (None, peer.document_set_id) in self.extracted
        return all((comparison.model_id, None) in self.extracted for comparison in rows)

    def _units(
        self, comparison: Comparison, scored: Callable[[Iterable[Claim]], tuple[ScoredClaim, ...]]
    ) -> Iterator[UnitRecord]:
        """The one list over which a comparison is scored: units, or the claims in their stead."""
        claims = self.claims.get(comparison.model_id, [])
        if has_claims_as_units(claims):
            for claim in claims:
                yield self._unit(
                    (comparison.pk, None, claim.pk), claim.public_id, claim.weight, scored([claim])
                )
            return
        of_unit = _by(claims, lambda claim: claim.unit_id or 0)
        for unit in self.units.get(comparison.model_id, ()):
            yield self._unit(
                (comparison.pk, unit.pk, None), unit.public_id, unit.weight, scored(of_unit.get(unit.pk, ()))
            )

    def _unit(self, key: UnitKey, unit_id: str, weight: float, claims: tuple[ScoredClaim, ...]) -> UnitRecord:
        value = ScoredUnit(
            unit_id=unit_id,
            weight=weight,
            percents=tuple(self.percents.get(key, ())),
            adjudicated_percent=self.adjudicated.get(key),
            claims=claims,
        )
        return UnitRecord(key=key, value=value)


def _by(rows: Iterable[Row], key: Callable[[Row], int]) -> dict[int, list[Row]]:
    grouped: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[key(row)].append(row)
    return dict(grouped)

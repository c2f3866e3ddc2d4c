"""Turning database rows into the arguments of `evaluation.score`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from django.db import connection
from django.db.models import Q

from annotation.core.by_hand import Part, places, rows
from annotation.models import (
    Answer,
    Check,
    Criterion,
    Document,
    DocumentSet,
    Project,
    Summary,
    System,
)
from annotation.scoring import sql
from annotation.scoring.unit_lists import has_claims_as_units
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
from evaluation.metrics import (
    ConcisenessTerms,
    conciseness_terms,
    question_coverage_or_none,
    scored_pairs,
)
from evaluation.text import (
    DOCUMENT_BREAK,
    LengthUnit,
    count_length,
    has_word_breaks,
    truncate,
)

if TYPE_CHECKING:
    from annotation.models import Claim, Comparison, Unit

RECORDS_AT_ONCE = 200

_SUMMARY, _SET = Part(Summary, "summary"), Part(DocumentSet, "document_set")
_SYSTEM, _CHECK = Part(System, "author"), Part(Check, "annotation_check")
_SUMMARY_PARTS = (_SUMMARY, _SET, _SYSTEM)


@dataclass(frozen=True, slots=True)
class CheckAnswers:
    """The answers to one check that count.

    `judge` is the deciding judge's latest usable answer; without one, `unscored_reason` is the reason, if known.
    `judge_uncertainty` is the `Verdict.uncertainty` of this answer. `rule` is "no" if the summary is empty. `standing`
    has the latest answer of each reviewer and file, the newest last; `is_disputed` is True if these answers differ.
    """

    judge: Label | None = None
    judge_probability: float | None = None
    judge_uncertainty: float | None = None
    adjudicated: Label | None = None
    rule: Label | None = None
    standing: tuple[Label, ...] = ()
    unscored_reason: str = ""

    @property
    def is_disputed(self) -> bool:
        return len(set(self.standing)) > 1

    def scored(self, claim_id: str) -> ScoredClaim:
        return ScoredClaim(
            claim_id=claim_id,
            judge=self.judge,
            reviewer=self.standing[-1] if self.standing else None,
            adjudicated=self.adjudicated,
            rule=self.rule,
        )


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """A check, the public id of its claim, and its answers."""

    check: Check
    claim_id: str
    answers: CheckAnswers

    @property
    def final(self) -> Label | None:
        """Return the final verdict; None if the check is unscored."""
        return self.answers.scored(self.claim_id).final


class CheckOfClaim(NamedTuple):
    check: Check
    claim_id: str


UnitKey = tuple[int, int | None, int | None]
"""The keys of a comparison, of its unit, and of the claim that replaces a unit."""


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """A unit of one comparison, or the claim that replaces it, with its keys and answers."""

    key: UnitKey
    value: ScoredUnit


@dataclass(frozen=True, slots=True)
class RatingRecord:
    """The answers to a criterion about a summary, in [0, 1]: those of people, and the judge's.

    The raters of files are together one answer, their mean. `is_decided` is True if an adjudicator has decided.
    """

    criterion_id: int
    name: str
    people: tuple[float, ...]
    judge: float | None
    is_decided: bool


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """A summary with the arguments of `evaluation.score`, its checks and its units.

    The first summary of a set in a batch also has the checks of the set's source. `ratings` may lack criteria with
    fewer than two answers, and lacks criteria about unmarked units. `conciseness_terms` is None unless the judge rated
    the conciseness. `has_disputes` is True if the database has disputes about the summary or its source.
    """

    summary: Summary
    value: ScoredSummary
    checks: tuple[CheckRecord, ...]
    units: tuple[UnitRecord, ...]
    ratings: tuple[RatingRecord, ...] = ()
    conciseness_terms: ConcisenessTerms | None = None
    has_disputes: bool = False


def score_rules(project: Project) -> ScoreRules:
    """Convert the project's scoring rules to the library's type."""
    return ScoreRules(
        blend=cast("Blend", project.blend),
        human_weight=project.blend_human_weight,
        assessor_average=cast("AssessorAverage", project.assessor_average),
        composite_weight=project.composite_weight,
        length_unit=cast("LengthUnit", project.length_unit),
        over_length=cast("OverLength", project.over_length),
        threshold=project.summarization_threshold,
        strict=project.summarization_strict,
        scale=project.summarization_scale,
        least_scored=project.least_scored,
    )


def target_of(summary: Summary, project: Project) -> int | None:
    """Return the target length of a summary: its own or the project's; None if neither is set."""
    return summary.target_words or project.target_length


def judged_text(summary: Summary, project: Project) -> str:
    """Return the text that is judged: the summary, truncated to the target if the project requires it."""
    target = target_of(summary, project)
    if project.over_length == Project.OverLength.TRUNCATE and summary.is_summary and target:
        return truncate(summary.text, target, cast("LengthUnit", project.length_unit))
    return summary.text


def summary_records(project: Project, summary_ids: Sequence[int] | None = None) -> Iterator[SummaryRecord]:
    """Yield the records of the project's summaries, or only of `summary_ids`."""
    is_one_batch = summary_ids is not None and len(summary_ids) <= RECORDS_AT_ONCE
    keys = summary_ids if summary_ids is not None and is_one_batch else summary_keys(project, summary_ids)
    for first in range(0, len(keys), RECORDS_AT_ONCE):
        yield from records_of(project, summaries(keys[first : first + RECORDS_AT_ONCE]))


def records_of(project: Project, found: Sequence[Summary]) -> Iterator[SummaryRecord]:
    """Yield records as `summary_records` does, for at most one batch of summaries that `summaries` has loaded."""
    if found:
        yield from _SummaryBatch.load(project, found).records()


def summaries(keys: Sequence[int], *, hold: bool = False) -> list[Summary]:
    """Load the summaries with these keys, with their sets and systems, ordered by set.

    On PostgreSQL, `hold` locks the rows in the order of their keys. Then the caller must be in a transaction, and read
    the answers only after the lock.
    """
    if not keys:
        return []
    columns = ", ".join(part.columns for part in _SUMMARY_PARTS)
    statement = sql.SUMMARIES.format(columns=columns, summaries=places(keys))
    if hold and connection.features.has_select_for_update:
        statement += "FOR UPDATE OF summary"
    found = [_summary(iter(row)) for row in rows(statement, keys)]
    return sorted(found, key=lambda summary: (summary.document_set_id, summary.pk))


def hold_scored(place: Check | Comparison | Summary) -> list[Summary]:
    """Lock and return the summaries whose scores an answer can change.

    These are one summary, or all summaries of the set if `place` is a check without a summary. Then the document set is
    locked first.
    """
    key = place.pk if isinstance(place, Summary) else place.summary_id
    return hold_set(cast("Check", place).document_set_id) if key is None else summaries([key], hold=True)


def hold_set(document_set: int) -> list[Summary]:
    """Lock a document set and then its summaries, and return the summaries."""
    list(
        DocumentSet.objects.select_for_update(of=("self",), no_key=True).filter(pk=document_set).values("pk")
    )
    rows = Summary.objects.filter(document_set=document_set, is_summary=True).order_by()
    return summaries(list(rows.values_list("pk", flat=True)), hold=True)


def _summary(values: Iterator[object]) -> Summary:
    summary = _SUMMARY.read(values)
    summary.document_set, system = _SET.read(values), _SYSTEM.read(values)
    summary.system = system if summary.system_id else None
    return summary


def new_records(
    project: Project,
    summaries: Sequence[Summary],
    answers: Mapping[int, Mapping[int, CheckAnswers]],
    *,
    comparisons: Iterable[Comparison],
    units: Iterable[Unit],
    claims: Sequence[Claim],
) -> Iterator[SummaryRecord]:
    """Yield records of summaries of new document sets from rows that the caller has just stored.

    `answers` has all answers to the summaries' checks, by summary and claim. The records have no `checks`.
    """
    of_texts: dict[int, list[_Piece]] = defaultdict(list)
    of_documents: dict[int, list[_Piece]] = defaultdict(list)
    for claim in claims:
        owner, document_set = claim.claim_set.summary_id, claim.claim_set.document_set_id
        of_text = of_texts[owner] if owner else of_documents[cast("int", document_set)]
        of_text.append(_Piece(claim.pk, claim.public_id, claim.weight, claim.unit_id))
    of_summaries: dict[int, list[_Comparison]] = defaultdict(list)
    for row in comparisons:
        of_summaries[row.summary_id].append(_Comparison(row.pk, row.public_id, row.reference_id))
    cut: dict[int, list[_Piece]] = defaultdict(list)
    for unit in units:
        if unit.summary_id is not None:
            cut[unit.summary_id].append(_Piece(unit.pk, unit.public_id, unit.weight))
    batch = _SummaryBatch(
        project=project,
        summaries=list(summaries),
        comparisons=dict(of_summaries),
        units=dict(cut),
        claims=dict(of_texts),
        document_claims=dict(of_documents),
        questions={},
        checks={},
        source_checks={},
        said={},
        disputed=frozenset(),
        wholes=_Wholes({}, {}, {}),
    )
    for summary in summaries:
        yield batch.record_of(summary, answers.get(summary.pk, {}))


def summary_keys(project: Project, summary_ids: Sequence[int] | None = None) -> list[int]:
    """Return the keys of the project's summaries, or of `summary_ids` only, ordered by set."""
    # If keys are given, do not join the project, because SQLite would read all its sets.
    named = Q(document_set__project=project) if summary_ids is None else Q(pk__in=summary_ids)
    summaries = Summary.objects.filter(named, is_summary=True)
    return list(summaries.order_by("document_set_id", "pk").values_list("pk", flat=True))


class _Fact(NamedTuple):
    """A row of `sql.FACTS`; the meaning of its columns depends on its kind."""

    place: int
    a: int
    b: int
    c: int | None
    d: int | None
    one: str
    two: str
    three: str
    x: float
    y: float | None


class _Comparison(NamedTuple):
    pk: int
    public_id: str
    reference_id: int


class _Piece(NamedTuple):
    pk: int
    public_id: str
    weight: float
    unit_id: int | None = None


@dataclass(slots=True)
class _Said:
    """The answers to one check or unit. `add` must be called in the order of time."""

    judge: _Fact | None = None
    failure: str = ""
    people: dict[int | str | None, Any] = field(default_factory=dict)
    decision: Any = None

    def add(self, fact: _Fact, *, role: str, author: int | str | None, value: str | float) -> None:
        if role == Answer.Role.ADJUDICATOR:
            self.decision = value
        elif role != Answer.Role.JUDGE:
            # Remove the author's earlier answer first, so that the dictionary stays in the order of time.
            self.people.pop(author, None)
            self.people[author] = value
        elif value:
            self.judge = fact
        else:
            self.failure = fact.three

    def of_check(self, *, rule: Label | None) -> CheckAnswers:
        judge = self.judge
        return CheckAnswers(
            judge=cast("Label", judge.one) if judge else None,
            judge_probability=judge.x if judge else None,
            judge_uncertainty=judge.y if judge else None,
            adjudicated=self.decision,
            rule=rule,
            standing=tuple(self.people.values()),
            unscored_reason="" if judge else self.failure,
        )


_NOTHING = _Said()


class _Facts:
    def __init__(self, project: Project, summary_ids: Sequence[int]) -> None:
        self._rows: dict[str, list[_Fact]] = defaultdict(list)
        judge = project.deciding_judge_id
        for kind, *columns in rows(
            sql.FACTS.format(summaries=places(summary_ids)), [*summary_ids, judge, judge]
        ):
            self._rows[kind].append(_Fact(*columns))

    def of(self, kind: str) -> list[_Fact]:
        return self._rows.get(kind, [])

    def said(self) -> dict[int | UnitKey, _Said]:
        said: dict[int | UnitKey, _Said] = defaultdict(_Said)
        for role in Answer.Role.values:
            for fact in self.of(role):
                said[fact.a].add(fact, role=role, author=fact.b or fact.two, value=fact.one)
        for fact in self.of("percent"):
            said[fact.a, fact.b, fact.c].add(fact, role=fact.one, author=fact.d, value=float(fact.x))
        return said

    def ratings(self) -> dict[int, list[RatingRecord]]:
        given: dict[tuple[int, int], dict[tuple[str, int | str], float | None]] = defaultdict(dict)
        for fact in self.of("rating"):
            is_of_people = fact.two in (Answer.Role.REVIEWER, Answer.Role.ASSESSOR)
            who = ("people", fact.c or fact.three) if is_of_people else (fact.two, "")
            # A failed answer of the judge does not replace a usable one. A person's empty answer withdraws the
            # earlier one.
            value = cast("float | None", fact.x)
            if value is not None or is_of_people:
                given[fact.a, fact.b][who] = value
        asked = {criterion for (_, criterion), said in given.items() if len(said) > 1}
        rows = Criterion.objects.filter(pk__in=asked).exclude(reads=Criterion.Reads.UNMARKED) if asked else ()
        facts = {row.pk: row.fact for row in rows}
        found: dict[int, list[RatingRecord]] = defaultdict(list)
        for (summary, key), said in given.items():
            if criterion := facts.get(key):
                shares = {who: criterion.share(value) for who, value in said.items() if value is not None}
                people = {author: share for (role, author), share in shares.items() if role == "people"}
                of_files = [share for author, share in people.items() if isinstance(author, str)]
                found[summary].append(
                    RatingRecord(
                        criterion_id=key,
                        name=criterion.name,
                        people=(
                            *(share for author, share in people.items() if isinstance(author, int)),
                            *([fmean(of_files)] if of_files else []),
                        ),
                        judge=shares.get((Answer.Role.JUDGE, "")),
                        is_decided=(Answer.Role.ADJUDICATOR, "") in shares,
                    )
                )
        return found

    def comparisons(self) -> dict[int, list[_Comparison]]:
        found: dict[int, list[_Comparison]] = defaultdict(list)
        for fact in self.of("comparison"):
            found[fact.a].append(_Comparison(fact.b, fact.one, cast("int", fact.c)))
        return found

    def pieces(self, kind: str) -> dict[int, list[_Piece]]:
        """Return units or claims by the key of their text.

        A text that was searched for claims without result has an empty list; a text that was not searched has no
        entry.
        """
        found: dict[int, list[_Piece]] = {}
        for fact in self.of(kind):
            of_text = found.setdefault(fact.a, [])
            if fact.b:
                of_text.append(_Piece(fact.b, fact.one, fact.x, fact.c))
        return found


@dataclass(slots=True)
class _Wholes:
    ratings: dict[tuple[int, str], float]
    sources: dict[int, str]
    disputable: Mapping[int, Sequence[RatingRecord]]

    @classmethod
    def of(cls, facts: _Facts, summaries: Sequence[Summary]) -> _Wholes:
        judged = (fact for fact in facts.of("rating") if fact.two == Answer.Role.JUDGE and fact.x is not None)
        ratings = {(fact.a, fact.one): fact.x for fact in judged}
        rated = {summary.document_set_id for summary in summaries if (summary.pk, "conciseness") in ratings}
        sources = sources_of(rated) if rated else {}
        return cls(ratings, sources, facts.ratings())

    def conciseness_terms(self, summary: Summary, text: str) -> ConcisenessTerms | None:
        if (summary.pk, "conciseness") not in self.ratings:
            return None
        return conciseness_terms(self.sources[summary.document_set_id], text, summary.document_set.language)

    def conciseness(self, summary: Summary, terms: ConcisenessTerms | None) -> float | None:
        rating = self.ratings.get((summary.pk, "conciseness"))
        return None if rating is None or terms is None else terms.with_rating(rating)


def sources_of(sets: Iterable[int]) -> dict[int, str]:
    """Load the joined documents of document sets; a set without a document has no entry."""
    texts: dict[int, list[str]] = defaultdict(list)
    documents = Document.objects.filter(document_set_id__in=sets).order_by("position")
    for document_set, text in documents.values_list("document_set_id", "text"):
        texts[document_set].append(text)
    return {document_set: DOCUMENT_BREAK.join(found) for document_set, found in texts.items()}


_ChecksOfClaims = dict[int, dict[int, CheckOfClaim]]


def _checks(summary_ids: Sequence[int]) -> tuple[_ChecksOfClaims, _ChecksOfClaims]:
    of_summaries: _ChecksOfClaims = defaultdict(dict)
    of_sources: _ChecksOfClaims = defaultdict(dict)
    columns = f"claim.public_id, {_CHECK.columns}"
    statement = sql.CHECKS.format(columns=columns, summaries=places(summary_ids))
    for claim_id, *values in rows(statement, [*summary_ids, *summary_ids]):
        check = _CHECK.read(iter(values))
        of_text = (
            of_sources[check.document_set_id] if check.summary_id is None else of_summaries[check.summary_id]
        )
        of_text[check.claim_id] = CheckOfClaim(check, claim_id)
    return of_summaries, of_sources


@dataclass(slots=True)
class _SummaryBatch:
    project: Project
    summaries: Sequence[Summary]
    comparisons: dict[int, list[_Comparison]]
    units: dict[int, list[_Piece]]
    claims: dict[int, list[_Piece]]
    document_claims: dict[int, list[_Piece]]
    questions: dict[int, list[int]]
    checks: _ChecksOfClaims
    source_checks: _ChecksOfClaims
    said: dict[int | UnitKey, _Said]
    disputed: frozenset[int]
    wholes: _Wholes

    @classmethod
    def load(cls, project: Project, summaries: Sequence[Summary]) -> _SummaryBatch:
        summary_ids = [summary.pk for summary in summaries]
        facts = _Facts(project, summary_ids)
        checks, source_checks = _checks(summary_ids)
        questions: dict[int, list[int]] = defaultdict(list)
        for fact in facts.of("question"):
            questions[fact.a].append(fact.b)
        return cls(
            project=project,
            summaries=summaries,
            comparisons=facts.comparisons(),
            units=facts.pieces("unit"),
            claims=facts.pieces("claim"),
            document_claims=facts.pieces("claim of documents"),
            questions=questions,
            checks=checks,
            source_checks=source_checks,
            said=facts.said(),
            disputed=frozenset(fact.a for fact in facts.of("disputed")),
            wholes=_Wholes.of(facts, summaries),
        )

    def records(self) -> Iterator[SummaryRecord]:
        sources = {
            document_set: self._answered(checks) for document_set, checks in self.source_checks.items()
        }
        set_before = None
        for summary in self.summaries:
            of_source = sources.get(summary.document_set_id, {})
            of_summary = self._answered(
                self.checks.get(summary.pk, {}), rule="no" if summary.is_empty else None
            )
            # Only one summary of the set gets the checks of the source, so that they are written once.
            shared = () if summary.document_set_id == set_before else of_source.values()
            set_before = summary.document_set_id
            yield self.record_of(
                summary,
                {claim: row.answers for claim, row in of_summary.items()},
                (*of_summary.values(), *shared),
                self._question_labels(summary, of_source, of_summary),
            )

    def _answered(
        self, checks: Mapping[int, CheckOfClaim], rule: Label | None = None
    ) -> dict[int, CheckRecord]:
        return {
            claim: CheckRecord(check, claim_id, self.said.get(check.pk, _NOTHING).of_check(rule=rule))
            for claim, (check, claim_id) in checks.items()
        }

    def _question_labels(
        self, summary: Summary, of_source: Mapping[int, CheckRecord], of_summary: Mapping[int, CheckRecord]
    ) -> tuple[list[Label | None], list[Label | None]]:
        """Return the final answers to each question from the source and from the summary.

        The lists are empty if the summary was not asked. An empty summary answers no by rule; it counts as asked if
        its source has an answer.
        """
        questions = self.questions.get(summary.document_set_id, [])
        by_rule: Label | None = "no" if summary.is_empty else None
        source = [of_source[each].final if each in of_source else None for each in questions]
        answers = [of_summary[each].final if each in of_summary else by_rule for each in questions]
        said = any(each in of_summary and of_summary[each].check.pk in self.said for each in questions)
        return (source, answers) if said or (summary.is_empty and any(source)) else ([], [])

    def record_of(
        self,
        summary: Summary,
        answers: Mapping[int, CheckAnswers],
        checks: tuple[CheckRecord, ...] = (),
        of_questions: tuple[list[Label | None], list[Label | None]] = ([], []),
    ) -> SummaryRecord:
        unasked = CheckAnswers(rule="no" if summary.is_empty else None)

        def scored(claims: Iterable[_Piece]) -> tuple[ScoredClaim, ...]:
            return tuple(answers.get(claim.pk, unasked).scored(claim.public_id) for claim in claims)

        rows = self.comparisons.get(summary.pk, ())
        units = {comparison.pk: tuple(self._units(comparison, scored)) for comparison in rows}
        comparisons = tuple(
            ScoredComparison(
                comparison_id=comparison.public_id,
                units=tuple(unit.value for unit in units[comparison.pk]),
            )
            for comparison in rows
        )
        terms = self.wholes.conciseness_terms(summary, judged_text(summary, self.project))
        value = ScoredSummary(
            summary_id=summary.public_id,
            comparisons=comparisons,
            document_claims=()
            if comparisons
            else scored(self.document_claims.get(summary.document_set_id, ())),
            summary_claims=scored(claim for claim in self.claims.get(summary.pk, ()) if claim.pk in answers),
            summary_length=count_length(summary.text, cast("LengthUnit", self.project.length_unit)),
            target=target_of(summary, self.project),
            has_word_breaks=has_word_breaks(summary.text),
            is_empty=summary.is_empty,
            claims_extracted=self._has_claims(summary),
            question_coverage=question_coverage_or_none(*of_questions),
            questions_asked=bool(of_questions[0]),
            questions_scored=scored_pairs(*of_questions),
            topic_preservation=self.wholes.ratings.get((summary.pk, "topic_preservation")),
            completeness=summary.computed.get("completeness", {}).get("value"),
            redundancy=summary.computed.get("redundancy", {}).get("value"),
            conciseness=self.wholes.conciseness(summary, terms),
            coherence=self.wholes.ratings.get((summary.pk, "coherence")),
        )
        return SummaryRecord(
            summary=summary,
            value=value,
            checks=checks,
            units=tuple(unit for of_comparison in units.values() for unit in of_comparison),
            ratings=tuple(self.wholes.disputable.get(summary.pk, ())),
            conciseness_terms=terms,
            has_disputes=summary.pk in self.disputed,
        )

    def _has_claims(self, summary: Summary) -> bool:
        rows = self.comparisons.get(summary.pk)
        if not rows:
            return summary.document_set_id in self.document_claims
        return all(comparison.reference_id in self.claims for comparison in rows)

    def _units(
        self, comparison: _Comparison, scored: Callable[[Iterable[_Piece]], tuple[ScoredClaim, ...]]
    ) -> Iterator[UnitRecord]:
        claims = self.claims.get(comparison.reference_id, [])
        if has_claims_as_units(claims):
            for claim in claims:
                yield self._unit(
                    (comparison.pk, None, claim.pk), claim.public_id, claim.weight, scored([claim])
                )
            return
        of_unit: dict[int | None, list[_Piece]] = defaultdict(list)
        for claim in claims:
            of_unit[claim.unit_id].append(claim)
        for unit in self.units.get(comparison.reference_id, ()):
            yield self._unit(
                (comparison.pk, unit.pk, None), unit.public_id, unit.weight, scored(of_unit.get(unit.pk, ()))
            )

    def _unit(self, key: UnitKey, unit_id: str, weight: float, claims: tuple[ScoredClaim, ...]) -> UnitRecord:
        said = self.said.get(key, _NOTHING)
        value = ScoredUnit(
            unit_id=unit_id,
            weight=weight,
            percents=tuple(said.people.values()),
            adjudicated_percent=said.decision,
            claims=claims,
        )
        return UnitRecord(key=key, value=value)

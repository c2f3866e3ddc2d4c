"""Level `nested`: one line per document set, target length and references of its summaries, in the nested layout.

`claims` beside `systems` belong to the references or documents; `claims` in a system belong to its summary. Imports
read neither `judge_verdicts` nor `percents`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch

from annotation.core.paging import batches
from annotation.core.tables.columns import Level, TableRow, columns
from annotation.exports.answers import percents, rater, ratings
from annotation.models import (
    Check,
    Claim,
    ClaimOrigin,
    ClaimSet,
    Comparison,
    CoverageJudgment,
    DocumentSet,
    Summary,
    Verdict,
)

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

SETS_AT_ONCE = 200
COLUMNS = columns(
    "doc_id source_text:json reference_text:json reference_id:json target_words:integer group language "
    "metadata:json questions:json systems:json claims:json"
)
Fields = dict[str, Any]
_OF_VERDICT = "check_row_id person_id person__username label votes reason"


def _rows(project: Project, people: People) -> Iterator[TableRow]:
    sets = DocumentSet.objects.filter(project=project).order_by().values_list("external_id", "pk")
    keys = sorted(sets, key=lambda each: each[0].encode())
    claims = Prefetch("claims", Claim.objects.select_related("unit").order_by("position"))
    active = ClaimSet.objects.filter(is_active=True).order_by("pk").prefetch_related(claims)
    whole = DocumentSet.objects.prefetch_related(
        "documents",
        Prefetch("claim_sets", active, "of_documents"),
        Prefetch("summaries", Summary.objects.select_related("system")),
        Prefetch("summaries__claim_sets", active, "active"),
    )
    for batch in batches(keys, SETS_AT_ONCE):
        found = whole.in_bulk([pk for _, pk in batch])
        summaries = [text.pk for each in found.values() for text in each.summaries.all() if text.is_summary]
        said = _Said(summaries, people)
        for _, pk in batch:
            yield from _lines(found[pk], said)


def _lines(document_set: Any, said: _Said) -> Iterator[TableRow]:
    texts = document_set.summaries.all()
    documents = [document.text for document in document_set.documents.all()]
    asked = [each for each in document_set.of_documents if each.kind == ClaimSet.Kind.QUESTIONS]
    every = [each for each in texts if each.is_summary]
    # Imports compare the summaries of a line with its references.
    of_line = {each: (each.target_words or 0, said.references[each.pk]) for each in every}
    every.sort(key=lambda summary: (of_line[summary], summary.system.name.encode()))
    for (_, names), some in groupby(every, key=of_line.__getitem__):
        summaries = list(some)
        references = [each for each in texts if each.is_reference and each.external_id in names]
        references.sort(key=lambda each: _natural(each.external_id))
        of_sets = [each for each in document_set.of_documents if each.kind == ClaimSet.Kind.CLAIMS]
        claims = [said.of_claim(claim, summaries) for claim in said.claims_of(of_sets)]
        for each in references:
            named = {"reference_id": each.external_id} if len(references) > 1 else {}
            claims += [named | said.of_claim(claim, summaries) for claim in said.claims_of(each.active)]
        yield (
            document_set.external_id,
            _only(documents),
            _only([each.text for each in references]),
            _only([each.external_id for each in references]) or None,
            summaries[0].target_words,
            document_set.group or None,
            document_set.language,
            document_set.metadata or None,
            [claim.text for each in asked for claim in each.claims.all()] or None,
            [said.of_summary(summary, said.claims_of(summary.active)) for summary in summaries],
            claims or None,
        )


def _only(values: Sequence[str]) -> Sequence[str] | None:
    return values[0] if len(values) == 1 else values or None


def _natural(name: str) -> tuple[bool, int, bytes]:
    is_number = name.isdecimal()
    return not is_number, int(name) if is_number else 0, name.encode()


class _Said:
    """Verdicts, ratings and percents of some summaries."""

    def __init__(self, summaries: Sequence[int], people: People) -> None:
        self.references: dict[int, list[str]] = defaultdict(list)
        pairs = Comparison.objects.filter(summary_id__in=summaries)
        for summary_id, name in sorted(pairs.values_list("summary_id", "reference__external_id")):
            self.references[summary_id].append(name)
        current = Check.objects.filter(summary_id__in=summaries, is_current=True).order_by()
        columns = ("pk", "claim_id", "summary_id", "human_label", "judge_label")
        checks = current.values_list(*columns, named=True)
        self._checks = {(row.claim_id, row.summary_id): row for row in checks}
        self._answered = {row.claim_id for row in self._checks.values() if row.human_label}
        self._votes: dict[int, dict[str, str]] = defaultdict(dict)
        self._reasons: dict[int, str] = {}
        verdicts = Verdict.objects.filter(check_row__summary_id__in=summaries, judge=None, withdrawn_at=None)
        for row in verdicts.order_by("pk").values_list(*_OF_VERDICT.split(), named=True):
            votes = {people.rater(name): vote for name, vote in row.votes}
            if row.person_id is not None:
                votes[rater(people, row)] = row.label
            self._votes[row.check_row_id].update(votes)
            self._reasons[row.check_row_id] = row.reason
        self._ratings: dict[int, dict[tuple[str, str], Fields]] = defaultdict(dict)
        counting = {"judge": None, "withdrawn_at": None, "criterion__retired_at": None}
        for row, answer in ratings(people, summary_id__in=summaries, **counting):
            criterion, who = answer["claim_id"], answer["rater"]
            rating = {"criterion": criterion, "rater": who, "value": row.given, "reason": answer["reason"]}
            self._ratings[row.summary_id][criterion, who] = rating
        self._percents: dict[int, list[Fields]] = defaultdict(list)
        for row, answer in percents(people, summaries):
            if row.counts and row.role == CoverageJudgment.Role.ASSESSOR:
                place = {name: answer[name] for name in ("reference_id", "unit", "rater")}
                self._percents[row.summary_id].append(place | {"percent": row.given, "marks": row.evidence})

    def claims_of(self, sets: Sequence[Any]) -> list[Any]:
        """Return the claims of claim sets. A judge's set is omitted if none of its claims has a human label."""
        found = ((one.origin != ClaimOrigin.JUDGE, [*one.claims.all()]) for one in sets)
        kept = (some for keep, some in found if keep or {each.pk for each in some} & self._answered)
        return [each for some in kept for each in some]

    def of_summary(self, summary: Any, claims: Sequence[Any]) -> Fields:
        """Return a summary with its ratings, percents and own claims. Empty fields except the text are left out."""
        ratings = self._ratings.get(summary.pk, {})
        told: Fields = {
            "system": summary.system.name,
            "summary_text": summary.text,
            "ratings": [ratings[key] for key in sorted(ratings) if ratings[key]["value"] is not None],
            "percents": self._percents.get(summary.pk),
            "claims": [self.of_claim(claim, [summary]) for claim in claims],
        }
        return {name: value for name, value in told.items() if value or name == "summary_text"}

    def of_claim(self, claim: Any, summaries: Sequence[Any]) -> Fields:
        """Return a claim with its answers by system."""
        checks = {summary.system.name: self._checks.get((claim.pk, summary.pk)) for summary in summaries}
        answered = {system: check for system, check in checks.items() if check and check.human_label}
        told: Fields = {
            "unit": claim.unit.position if claim.unit else None,
            "raw_votes": _filled(answered, lambda check: dict(sorted(self._votes[check.pk].items()))),
            "reasons": _filled(answered, lambda check: self._reasons.get(check.pk)),
            "judge_verdicts": _filled(checks, lambda check: check and check.judge_label),
        }
        return {
            "claim_text": claim.text,
            "weight": claim.weight,
            "verdicts": {system: check and check.human_label for system, check in checks.items()},
            **{name: value for name, value in told.items() if value},
        }


def _filled(checks: Mapping[str, Any], value: Callable[[Any], Any]) -> Fields:
    return {system: one for system, check in checks.items() if (one := value(check))}


LEVEL = Level("nested", COLUMNS, _rows)

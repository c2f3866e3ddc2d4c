"""Level `units`: one row per comparison and unit of its one list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from annotation.core.tables.columns import HEAD, Cell, Column, ColumnKind, Level, TableRow, number
from annotation.exports.peers import Peer, peer_batches
from annotation.exports.statements import RULE, CheckStatements, statements
from annotation.models import (
    Claim,
    Comparison,
    CoverageJudgment,
    Summary,
    Unit,
)
from annotation.models.answer import STANDING_DECISION
from annotation.models.judgment import COUNTING
from annotation.scoring.records import SummaryRecord, score_rules, summary_records
from evaluation.blend import ScoredUnit, score

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project
    from evaluation.blend import ScoreRules, UnitCoverage

COLUMNS = (
    *HEAD,
    Column("reference_id"),
    Column("unit", ColumnKind.INTEGER),
    Column("claim_id"),
    Column("weight", ColumnKind.NUMBER),
    Column("text"),
    Column("judge_share", ColumnKind.NUMBER),
    Column("assessor_percents", ColumnKind.INTEGERS),
    Column("adjudicated_percent", ColumnKind.INTEGER),
    Column("unit_coverage", ColumnKind.NUMBER),
    Column("source"),
    Column("decided_by", ColumnKind.TEXTS),
)


def rows(project: Project, people: People) -> Iterator[TableRow]:
    """Units of a comparison in their order; the claims of the documents where there is no reference.

    `assessor_percents` and the assessors in `decided_by` stand in the same order.
    """
    rules = score_rules(project)
    for batch in peer_batches(project):
        around = _Around.load(project, [peer.pk for peer in batch], people)
        for peer in batch:
            yield from _rows_of(project, peer, around, rules)


UnitPlace = tuple[str, str]
"""Public ids of a comparison and of a unit, or of the claim that stands in for one."""


class _Passage(NamedTuple):
    """A unit of a list; `claim_id` where a claim stands in for it."""

    number: int
    claim_id: str | None
    text: str


@dataclass(slots=True)
class _Around:
    """What the rows of some summaries need beside the values that are scored."""

    records: dict[int, SummaryRecord]
    references: dict[str, str]
    passages: dict[str, _Passage]
    people: dict[tuple[str, UnitPlace], list[str]]
    said: dict[int, CheckStatements]

    @classmethod
    def load(cls, project: Project, peer_ids: Sequence[int], people: People) -> _Around:
        records = {record.summary.pk: record for record in summary_records(project, peer_ids)}
        comparisons = list(
            Comparison.objects.filter(peer_id__in=peer_ids).values_list(
                "public_id", "model_id", "model__external_id"
            )
        )
        set_ids = {record.summary.document_set_id for record in records.values()}
        return cls(
            records=records,
            references={public_id: name for public_id, _, name in comparisons},
            passages=_passages({model_id for _, model_id, _ in comparisons}, set_ids),
            people=_people(peer_ids, people),
            said=statements(project, peer_ids, people),
        )


def _rows_of(project: Project, peer: Peer, around: _Around, rules: ScoreRules) -> Iterator[TableRow]:
    record = around.records[peer.pk]
    deciders = _deciders(record, around.said)
    given = {
        (comparison.comparison_id, unit.unit_id): unit
        for comparison in record.value.comparisons
        for unit in comparison.units
    }
    # Sorting is stable: references without a name of their own stay in the order of their rows.
    comparisons = sorted(
        score(record.value, rules).comparisons,
        key=lambda comparison: around.references.get(comparison.comparison_id, ""),
    )
    for comparison in comparisons:
        reference_id = around.references.get(comparison.comparison_id) or None
        for unit in comparison.units:
            place = (comparison.comparison_id, unit.unit_id)
            # The documents' own claims have been judged by nobody but the checks themselves.
            statement = given.get(place, ScoredUnit(unit_id=unit.unit_id))
            claims = [claim.claim_id for claim in statement.claims] or [unit.unit_id]
            passage = around.passages[unit.unit_id]
            yield (
                *peer.head(project),
                reference_id,
                passage.number,
                passage.claim_id,
                number(unit.weight),
                passage.text,
                *_figures(statement, unit),
                _decided_by(unit, place, around, [deciders[c] for c in claims if c in deciders]),
            )


def _figures(given: ScoredUnit, unit: UnitCoverage) -> tuple[Cell, ...]:
    adjudicated = given.adjudicated_percent
    return (
        number(unit.judge_share),
        [int(percent) for percent in given.percents] or None,
        None if adjudicated is None else int(adjudicated),
        number(unit.value),
        unit.source,
    )


def _decided_by(
    unit: UnitCoverage, place: UnitPlace, around: _Around, deciders: Sequence[str]
) -> list[str] | None:
    """Who gave what the unit's coverage is made of, each once, in the order of the columns."""
    assessors = around.people.get(("assessor", place), [])
    of_claims = list(dict.fromkeys(deciders))
    match unit.source:
        case "adjudicated":
            return around.people["adjudicator", place][-1:]
        case "assessors":
            return assessors
        case "blend":
            return [*assessors, *of_claims]
        case "claims":
            return of_claims
        case "rule":
            return [RULE]
    return None


def _deciders(record: SummaryRecord, said: dict[int, CheckStatements]) -> dict[str, str]:
    """Who gave the final verdict on each claim that has one."""
    found: dict[str, str] = {}
    for row in record.checks:
        source = row.answers.scored(row.claim_id).final_source
        deciding = said.get(row.check.pk, CheckStatements()).deciding(source)
        if deciding is not None:
            found[row.claim_id] = deciding.by
    return found


def _passages(model_ids: set[int], document_set_ids: set[int]) -> dict[str, _Passage]:
    """Number and text of each unit of the references, and of each claim that may stand for one."""
    texts = dict(Summary.objects.filter(pk__in=model_ids).values_list("pk", "text"))
    units = Unit.objects.filter(summary_id__in=model_ids)
    passages = {
        public_id: _Passage(position, None, texts[summary_id][start:end])
        for public_id, summary_id, position, start, end in units.values_list(
            "public_id", "summary__pk", "position", "start", "end"
        )
    }
    # Two queries: with both conditions in one, databases look through all claims there are.
    active = Claim.objects.filter(claim_set__is_active=True)
    for claims in (
        active.filter(claim_set__summary_id__in=model_ids),
        active.filter(claim_set__document_set_id__in=document_set_ids),
    ):
        for public_id, position, text in claims.values_list("public_id", "position", "text"):
            passages[public_id] = _Passage(position, public_id, text)
    return passages


def _people(peer_ids: Sequence[int], people: People) -> dict[tuple[str, UnitPlace], list[str]]:
    """By role and place who gave the percents that count, in the order in which the records hold them."""
    found: dict[tuple[str, UnitPlace], list[str]] = defaultdict(list)
    judgments = CoverageJudgment.objects.filter(
        COUNTING | STANDING_DECISION, comparison__peer_id__in=peer_ids
    )
    for role, comparison_id, unit_id, claim_id, user_id, username in judgments.order_by("pk").values_list(
        "role",
        "comparison__public_id",
        "unit__public_id",
        "claim__public_id",
        "person_id",
        "person__username",
    ):
        found[role, (comparison_id, unit_id or claim_id)].append(people.name(user_id, username))
    return found


LEVEL = Level("units", COLUMNS, rows)

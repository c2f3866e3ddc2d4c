"""Level `units`: scored units of references, and claims instead of units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from django.db.models import F
from django.db.models.functions import Substr

from annotation.core.tables.columns import columns, number
from annotation.exports.summaries import PlacedRow, summary_level
from annotation.models import Claim, Comparison, Unit
from annotation.scoring.records import score_rules, summary_records
from evaluation.blend import ScoredUnit, score

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project


COLUMNS = columns(
    "reference_id unit:integer claim_id weight:number text judge_share:number assessor_percents:integers "
    "adjudicated_percent:integer unit_coverage:number source"
)
_Passage = tuple[int, str | None, str]
"""The number, the id of a claim (None for a unit), and the text."""


def _rows(project: Project, people: People, summary_ids: Sequence[int]) -> Iterator[PlacedRow]:
    rules, records = score_rules(project), list(summary_records(project, summary_ids))
    comparisons = Comparison.objects.filter(summary_id__in=summary_ids)
    rows = list(comparisons.values_list("public_id", "reference_id", "reference__external_id"))
    references = {public_id: name for public_id, _, name in rows}
    sets = {record.summary.document_set_id for record in records}
    passages = _passages({reference for _, reference, _ in rows}, sets)
    for record in records:
        compared = record.value.comparisons
        given = {(each.comparison_id, unit.unit_id): unit for each in compared for unit in each.units}
        # The sort is stable, so references without a name keep their order.
        found = score(record.value, rules).comparisons
        for scored in sorted(found, key=lambda each: references.get(each.comparison_id, "")):
            for unit in scored.units:
                # Claims of documents have no comparison, so they have no percents.
                said = given.get((scored.comparison_id, unit.unit_id), ScoredUnit(unit.unit_id))
                percents = [int(percent) for percent in said.percents] or None
                adjudicated = None if said.adjudicated_percent is None else int(said.adjudicated_percent)
                place, claim_id, text = passages[unit.unit_id]
                named = (references.get(scored.comparison_id) or None, place, claim_id)
                judged = (number(unit.weight), text, number(unit.judge_share), percents, adjudicated)
                yield record.summary.pk, (*named, *judged, number(unit.value), unit.source)


def _passages(reference_ids: set[int], document_set_ids: set[int]) -> dict[str, _Passage]:
    cut = Substr("summary__text", F("start") + 1, F("end") - F("start"))
    units = Unit.objects.filter(summary_id__in=reference_ids).values_list("public_id", "position", cut)
    passages: dict[str, _Passage] = {public_id: (place, None, words) for public_id, place, words in units}
    # Use two queries, because one with OR may scan all claims.
    active = Claim.objects.filter(claim_set__is_active=True).values_list("public_id", "position", "text")
    of_references = active.filter(claim_set__summary_id__in=reference_ids)
    of_documents = active.filter(claim_set__document_set_id__in=document_set_ids)
    for public_id, position, text in chain(of_references, of_documents):
        passages[public_id] = (position, public_id, text)
    return passages


LEVEL = summary_level("units", COLUMNS, _rows)

"""A score taken apart: weights, claims in the place of units, documents without a model summary, people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Check, Claim, ClaimSet, Comparison, Summary
from annotation.queries.explanation import Explanation, coverage_formula, explain, summary_of
from annotation.records import score_rules, summary_records
from annotation.refusals import NotFound
from annotation.services.adjudicate import decide_check, decide_unit
from annotation.services.assign import assign
from annotation.services.save_acts import judge_unit
from evaluation import ScoredComparison, ScoredSummary, ScoredUnit, score
from tests.annotation.cast import finish

if TYPE_CHECKING:
    from tests.annotation.cast import World


def explanation(world: World, peer: Summary) -> Explanation:
    summary = summary_of(world.project, peer.public_id)
    record = next(summary_records(world.project, [summary.pk]))
    return explain(world.project, summary, record.value, score(record.value, score_rules(world.project)))


def formula(*units: ScoredUnit) -> str:
    summary = ScoredSummary("s", comparisons=(ScoredComparison("c", units),))
    return coverage_formula(score(summary).comparisons[0])


def unit(name: str, percent: float | None, weight: float = 1.0) -> ScoredUnit:
    return ScoredUnit(name, weight=weight, percents=() if percent is None else (percent,))


def test_a_plain_mean() -> None:
    assert formula(unit("a", 100), unit("b", 60)) == "(1.00 + 0.60) / 2"


def test_weights_are_named_where_they_differ_from_1() -> None:
    assert formula(unit("a", 100, 2.0), unit("b", 60)) == "(2·1.00 + 1·0.60) / 3"


def test_units_without_a_value_are_not_in_it() -> None:
    assert formula(unit("a", 100), unit("b", None)) == "(1.00) / 1"


def test_no_value_no_formula() -> None:
    assert formula(unit("a", None)) == ""


def test_a_long_mean_is_cut_in_the_middle() -> None:
    units = [unit(str(number), 100 if number == 11 else 0) for number in range(12)]
    assert formula(*units).endswith("+ … + 1.00) / 12")


def test_percents_name_their_assessor_and_marks(world: World) -> None:
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    for assignment in sitting.assignments.select_related(
        "sitting__document_set__project", "comparison__peer", "comparison__model"
    ):
        for place in world.units("port"):
            judge_unit(assignment=assignment, by=world.ana, unit_id=place.public_id, percent=40, marks=[1])
    finish(sitting)
    first = explanation(world, world.peers["port", "alder"]).comparisons[0].units[0]
    assert [(said.who, said.percent, said.marks) for said in first.percents] == [("ana", 40, (1,))]
    assert (first.source, first.coverage.value) == ("assessors' percents", 0.4)


def test_adjudications_name_who_settled_and_why(world: World) -> None:
    place = world.units("port")[0]
    comparison = world.comparison("port", "alder")
    decide_unit(comparison=comparison, unit=place, by=world.cleo, percent=80, reason="most of it")
    decide_check(check=world.check("alder", 3), by=world.cleo, label="unsure", reason="another quay")
    made = explanation(world, world.peers["port", "alder"]).comparisons[0]
    (settled,) = made.units[0].percents
    assert (settled.who, settled.percent, settled.reason, settled.is_adjudicated) == (
        "cleo",
        80,
        "most of it",
        True,
    )
    last = made.units[1].claims[0].answers[-1]
    assert (last.who, last.kind, last.label, last.reason) == ("cleo", "adjudicator", "unsure", "another quay")


def test_claims_that_stand_for_units_are_shown_as_units(world: World) -> None:
    Claim.objects.update(unit=None)
    made = explanation(world, world.peers["port", "alder"]).comparisons[0]
    assert [unit.text for unit in made.units] == [
        "The harbour closes in April",
        "its wall is weak",
        "Ferries move to the southern quay",
    ]


def test_without_a_model_summary_the_documents_claims_are_shown(world: World) -> None:
    Comparison.objects.all().delete()
    claim_set = ClaimSet.objects.create(
        document_set=world.sets["bridge"], origin="judge", origin_name="lexical"
    )
    for position, text in enumerate(("asked", "not asked yet"), start=1):
        Claim.objects.create(claim_set=claim_set, position=position, text=text, origin="judge")
    peer = world.peers["bridge", "alder"]
    Check.objects.create(
        project=world.project, claim=claim_set.claims.earliest("position"), peer=peer, side="reference"
    )
    made = explanation(world, peer)
    assert [(claim.text, claim.final) for claim in made.document_claims] == [
        ("asked", None),
        ("not asked yet", None),
    ]
    assert any("no model summary" in flag for flag in made.flags)


def test_a_summary_of_another_project_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        summary_of(world.other_project, world.peers["port", "alder"].public_id)


def test_every_claim_says_who_decided(world: World) -> None:
    made = explanation(world, world.peers["port", "alder"]).comparisons[0]
    claims = [claim for unit in made.units for claim in unit.claims]
    assert {claim.source for claim in claims} == {"judge"}

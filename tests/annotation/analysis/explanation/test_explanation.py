from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.template.loader import render_to_string

from annotation.adjudicating.services.adjudicate import decide_check, decide_unit
from annotation.analysis.explanation.explanation import Explanation, explain, summary_of
from annotation.analysis.explanation.formulas import coverage_formula
from annotation.assessing.services.assign import assign
from annotation.models import Check, Claim, ClaimSet, Comparison, Summary
from annotation.reviewing.services.review import override, withdraw_answer
from annotation.scoring.records import score_rules, summary_records
from evaluation.blend import ScoredComparison, ScoredSummary, ScoredUnit, score
from tests.annotation.cast import add_imported_verdict
from tests.annotation.laying import judge_and_close

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.analysis.explanation.explanation import ExplainedClaim
    from tests.annotation.cast import World


def claims_of_alder(world: World) -> list[ExplainedClaim]:
    made = explanation(world, world.summaries["port", "alder"]).comparisons[0]
    return [claim for unit in made.units for claim in unit.claims]


def judge_port(world: World, person: User, percent: int) -> None:
    judge_and_close(assign(document_set=world.sets["port"], assessor=person, by=None), percent, marks=[1])


def explanation(world: World, summary: Summary) -> Explanation:
    row = summary_of(world.project, summary.public_id)
    record = next(summary_records(world.project, [row.pk]))
    return explain(world.project, row, record.value, score(record.value, score_rules(world.project)))


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
    judge_port(world, world.ana, 40)
    first = explanation(world, world.summaries["port", "alder"]).comparisons[0].units[0]
    assert [(said.who, said.percent, said.marks) for said in first.percents] == [("ana", 40, (1,))]
    assert (first.source, first.coverage.value) == ("assessors' percents", 0.4)


def test_claims_that_stand_for_units_are_shown_as_units(world: World) -> None:
    Claim.objects.update(unit=None)
    made = explanation(world, world.summaries["port", "alder"]).comparisons[0]
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
    summary = world.summaries["bridge", "alder"]
    Check.objects.create(
        project=world.project,
        claim=claim_set.claims.earliest("position"),
        summary=summary,
        document_set=world.sets["bridge"],
        side="reference",
    )
    made = explanation(world, summary)
    assert [(claim.text, claim.final) for claim in made.document_claims] == [
        ("asked", None),
        ("not asked yet", None),
    ]
    assert "no_model_summary" in made.flags


@pytest.mark.parametrize(
    "name",
    [
        "no_model_summary",
        "no_claims",
        "few_claims",
        "mostly_unscored",
        "unscored",
        "empty_summary",
        "no_word_breaks",
        "over_length",
        "partial",
        "comparisons_left_out",
    ],
)
def test_every_flag_of_a_score_has_a_sentence(name: str) -> None:
    said = render_to_string("analysis/explanation/flag.html", {"name": name, "count": "3"}).strip()
    assert said.endswith(".")
    assert ("3." in said) is (name in {"unscored", "partial", "comparisons_left_out"})


def test_verdicts_come_in_order_with_what_their_author_knew(world: World) -> None:
    check = world.check("alder", 2)
    first = override(check=check, by=world.rex, label="yes", reason="it leans", confidence=0.8).verdict
    override(check=check, by=world.rex, label="no", error_type="hallucination", evidence=[2])
    withdraw_answer(answer=first, by=world.rex)
    add_imported_verdict(check, "yes")
    judge, blind, seen, imported = claims_of_alder(world)[1].answers
    assert (judge.who, judge.kind, judge.label, judge.had_seen) == ("lexical", "judge", "no", None)
    assert (blind.label, blind.had_seen, blind.confidence, blind.is_withdrawn) == ("yes", False, 0.8, True)
    assert (seen.label, seen.had_seen, seen.error, seen.evidence) == ("no", True, "Hallucination", (2,))
    # An imported verdict does not tell which answers its author had seen.
    assert (imported.who, imported.kind, imported.had_seen) == ("gold.jsonl", "import", None)


def test_decisions_taken_back_stay_in_sight(world: World) -> None:
    decision = decide_check(check=world.check("alder", 1), by=world.cleo, label="no", reason="It does not.")
    withdraw_answer(answer=decision, by=world.cleo)
    last = claims_of_alder(world)[0].answers[-1]
    assert (last.kind, last.label, last.is_withdrawn) == ("adjudicator", "no", True)
    place, comparison = world.units("port")[0], world.comparison("port", "alder")
    settled = decide_unit(comparison=comparison, unit=place, by=world.cleo, percent=80, reason="most of it")
    withdraw_answer(answer=settled, by=world.cleo)
    [percent] = explanation(world, world.summaries["port", "alder"]).comparisons[0].units[0].percents
    assert (percent.percent, percent.is_withdrawn) == (80, True)


def test_an_adjudicated_percent_stands_beside_the_assessors_and_the_dispute(world: World) -> None:
    judge_port(world, world.ana, 20)
    judge_port(world, world.ben, 80)
    place, comparison = world.units("port")[0], world.comparison("port", "alder")
    unit = explanation(world, world.summaries["port", "alder"]).comparisons[0].units[0]
    assert (unit.formula, unit.coverage.value) == ("mean of 20 and 80 %", 0.5)
    assert (unit.dispute.state, unit.dispute.answers) == ("open", 2)
    assert unit.dispute.spread == pytest.approx(0.6)
    decide_unit(comparison=comparison, unit=place, by=world.cleo, percent=80)
    unit = explanation(world, world.summaries["port", "alder"]).comparisons[0].units[0]
    assert [(said.who, said.kind, said.percent) for said in unit.percents] == [
        ("ana", "assessor", 20),
        ("ben", "assessor", 80),
        ("cleo", "adjudicator", 80),
    ]
    assert (unit.source, unit.formula, unit.coverage.value) == ("resolved by an adjudicator", "", 0.8)


def test_a_blended_unit_shows_both_parts(world: World) -> None:
    world.project.blend, world.project.blend_human_weight = "weighted", 0.75
    world.project.save()
    judge_port(world, world.ana, 40)
    # People's 40 % weighs .75, and the claims' share of yes, 1/2, weighs .25: .75 * .4 + .25 * .5 = .425.
    unit = explanation(world, world.summaries["port", "alder"]).comparisons[0].units[0]
    assert unit.formula == "0.75·(40 %) + 0.25·(1 yes / 2 scored)"
    assert unit.coverage.value == pytest.approx(0.425)


def test_people_and_the_judge_have_formulas_of_their_own(world: World) -> None:
    judge_port(world, world.ana, 40)
    made = explanation(world, world.summaries["port", "alder"])
    formulas = {formula.column: (formula.text, formula.value) for formula in made.formulas}
    assert formulas["coverage_human"] == ("(0.40 + 0.40) / 2", 0.4)
    assert formulas["coverage_judge"] == ("(0.50 + 1.00) / 2", 0.75)
    assert formulas["human_share"] == ("(1.00 + 1.00) / 2", 1.0)

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import Claim, Judge, Verdict
from annotation.reviewing.services.review import override
from annotation.scoring.judge_percents import judge_percents

if TYPE_CHECKING:
    from tests.annotation.cast import World


def said(world: World, system: str = "alder") -> list[tuple[str, int, float, tuple[int, ...]]]:
    found = judge_percents([world.summaries["port", system].pk])
    return [(each.judge, each.number, each.percent, each.marks) for each in found]


def test_a_unit_s_percent_is_its_share_of_yes_and_its_marks_the_evidence(world: World) -> None:
    # Claims 1 and 2 belong to unit 1, claim 3 to unit 2; the judge says yes, no, yes with evidence 1.
    assert said(world) == [("lexical", 1, 50.0, (1,)), ("lexical", 2, 100.0, (1,))]


def test_people_s_verdicts_do_not_change_what_the_judge_says(world: World) -> None:
    before = said(world)
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    assert said(world) == before


def test_unsure_is_not_yes_and_an_unscored_claim_leaves_the_denominator(world: World) -> None:
    Verdict.objects.filter(check_row=world.check("alder", 1)).update(label="unsure")
    Verdict.objects.filter(check_row=world.check("alder", 3)).update(label=None)
    assert said(world) == [("lexical", 1, 0.0, ())]


def test_every_judge_has_its_own(world: World) -> None:
    other = Judge.objects.create(name="other", kind="lexical")
    check = world.check("alder", 3)
    Verdict.objects.create(check_row=check, role="judge", judge=other, label="no", origin_name="x")
    assert ("other", 2, 0.0, ()) in said(world)
    assert ("lexical", 2, 100.0, (1,)) in said(world)


def test_where_claims_stand_in_for_units_each_is_one(world: World) -> None:
    Claim.objects.filter(claim_set__summary=world.references["port"]).update(unit=None)
    found = judge_percents([world.summaries["port", "alder"].pk])
    assert [(each.number, each.percent) for each in found] == [(1, 100.0), (2, 0.0), (3, 100.0)]
    assert [each.claim_id for each in found] == [each.unit_id for each in found]

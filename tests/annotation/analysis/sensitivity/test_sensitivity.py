"""How the order of systems hangs on choices, from values by hand."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.analysis.sensitivity.sensitivity import OtherJudge, Scored, Variant, WhatIf, sensitivity
from annotation.analysis.sensitivity.words import told
from annotation.models import Judge, Project

NOTHING: tuple[dict[int, float | None], dict[int, float | None]] = ({}, {})


def scored(
    summary: int, system: str, coverage: float | None, brevity: float | None = 0.0, judge: float | None = None
) -> Scored:
    return Scored(
        summary,
        20,
        system,
        f"set {summary % 10}",
        "",
        coverage,
        coverage if judge is None else judge,
        brevity,
    )


ALDER = [scored(1, "alder", 0.8, 0.0), scored(2, "alder", 0.6, 0.2)]
BIRCH = [scored(11, "birch", 0.5, 0.5), scored(12, "birch", 0.3, 0.7)]
CEDAR = [scored(21, "cedar", 0.1, 0.1), scored(22, "cedar", 0.3, 0.1)]
ROWS = [*ALDER, *BIRCH, *CEDAR]


def found(
    rows: list[Scored] = ROWS,
    *,
    blend: tuple[dict[int, float | None], dict[int, float | None]] = NOTHING,
    judges: list[OtherJudge] | None = None,
    people: list[Variant] | None = None,
    **rules: Any,
) -> dict[str, Any]:
    project = Project(deciding_judge=Judge(name="lexical"), **rules)
    what_if = WhatIf(blend, judges or [], people or [], incomplete=[("half", 3)], checks=6)
    (table,) = told(sensitivity(project, rows, what_if))["targets"]
    at_target: dict[str, Any] = table
    return at_target


def test_the_present_order_is_by_mean_coverage() -> None:
    present = found()["present"]
    assert present["means"] == pytest.approx({"alder": 0.7, "birch": 0.4, "cedar": 0.2})
    assert (present["ranks"], present["ahead"]) == ({"alder": 1, "birch": 2, "cedar": 3}, ("alder",))


def test_the_composite_turns_the_order_where_the_lines_cross() -> None:
    # Brevity .1, .6, .1: alder and birch differ by -.5 at 0 and .3 at 1, so they cross at .5 / .8; alder and cedar meet
    # at 0 alone.
    length = found()["length"]
    assert [(turn["before"], turn["after"], turn["weight"]) for turn in length["crossings"]] == [
        ("birch", "alder", pytest.approx(0.625))
    ]
    assert [lead["systems"] for lead in length["leads"]] == [("birch",), ("alder",)]
    assert length["pairs"] == 3


def test_the_projects_own_weight_is_among_those_shown() -> None:
    length = found(composite_weight=0.6)["length"]
    assert length["weights"] == (0.0, 0.25, 0.5, 0.6, pytest.approx(2 / 3), 0.75, 1.0)
    own = length["orders"][3]
    # .6 * .7 + .4 * .1 and .6 * .4 + .4 * .6.
    assert (own["name"], length["own_name"]) == ("0.6", "0.6")
    assert own["means"]["alder"] == pytest.approx(0.46)
    assert own["means"]["birch"] == pytest.approx(0.48)
    assert own["moved"] == ("alder", "birch")


def test_orders_are_held_against_the_present_one() -> None:
    orders = found()["length"]["orders"]
    # At a = 0 birch is first, alder and cedar tie behind: of the two untied pairs one is as now.
    assert orders[0]["ranks"] == {"birch": 1, "alder": 2, "cedar": 2}
    assert orders[0]["tau"] == pytest.approx(0.0)
    assert orders[-1]["tau"] == pytest.approx(1.0)


def test_summaries_without_brevity_stay_out_of_the_composite() -> None:
    table = found([*ROWS, scored(3, "alder", 0.1, None)])
    assert table["length"]["left_out"] == 1
    assert table["length"]["at_one"]["alder"] == pytest.approx(0.7)
    assert table["sentences"]["length"].endswith("1 summary without brevity left out.")


def test_without_any_brevity_there_is_no_composite() -> None:
    table = found([row._replace(brevity=None) for row in ROWS])
    assert table["length"] is None
    assert (
        table["sentences"]["length"] == "No summary has both coverage and brevity, so there is no composite."
    )


def test_the_blends_weight_moves_the_summaries_that_have_both() -> None:
    # By the judge birch's first summary would have 1, so a mean of .65; by people it has .5.
    blend = found(blend=({11: 1.0}, {11: 0.5}))["blend"]
    assert blend["at_zero"]["birch"] == pytest.approx(0.65)
    assert blend["at_one"]["birch"] == pytest.approx(0.4)
    assert (blend["own"], blend["weights"]) == (1.0, (0.0, 0.25, 0.5, 0.75, 1.0))


def test_a_weighted_blend_stands_at_its_own_weight() -> None:
    project = Project(blend="weighted", blend_human_weight=0.4)
    what_if = WhatIf(({11: 1.0}, {11: 0.5}), [], [], [], 6)
    (table,) = told(sensitivity(project, ROWS, what_if))["targets"]
    assert table["blend"]["own"] == 0.4
    assert "This project's weight of people is w = 0.4." in table["sentences"]["blend"]


def test_where_percents_and_claims_agree_the_blend_changes_nothing() -> None:
    table = found(blend=({11: 0.5}, {11: 0.5}))
    assert table["blend"] is None
    assert "changes nothing" in table["sentences"]["blend"]


def test_another_judge_and_the_one_without_people_are_other_orders() -> None:
    rows = [row._replace(coverage_judge=0.9) if row.system == "cedar" else row for row in ROWS]
    # By the other judge alder has nothing; where people answered birch they gave .4, of which it would give 0.
    kept = {1: 0.0, 2: 0.0, 11: 0.5, 12: 0.3}
    table = found(rows, judges=[OtherJudge("other", kept, kept | {11: 0.0, 12: 0.0})])
    alone, other, other_alone = table["judges"]
    assert (alone["name"], alone["ahead"]) == ("lexical alone, without people", ("cedar",))
    in_place = "other in lexical's place, keeping people's answers"
    assert (other["name"], other["means"]["alder"], other["ahead"]) == (in_place, 0.0, ("birch",))
    assert f"With {in_place}, birch would lead instead of alder (tau" in table["sentences"]["judges"]
    assert (other_alone["name"], other_alone["means"]["birch"]) == ("other alone, without people", 0.0)
    assert "With other alone, without people, cedar would lead" in table["sentences"]["judges"]


def test_where_people_decide_everything_another_judge_is_shown_alone_only() -> None:
    rows = [row._replace(human_share=1.0) for row in ROWS]
    same = {row.summary: row.coverage for row in ROWS}
    table = found(rows, judges=[OtherJudge("other", same, dict.fromkeys(same, 0.5))])
    assert [order["name"] for order in table["judges"]] == ["other alone, without people"]
    assert table["sentences"]["judges"].startswith(
        "People decided everything, so another judge changes nothing. With other alone, without people, "
        "alder, birch and cedar would be tied for first instead of alder"
    )


def test_what_people_did_not_touch_is_no_other_order() -> None:
    table = found()
    assert table["judges"] == []
    assert "people have not changed any of lexical's answers" in table["sentences"]["judges"]


def test_without_any_judge_there_is_no_order_by_one() -> None:
    table = found([row._replace(coverage_judge=None) for row in ROWS])
    assert table["sentences"]["judges"].startswith("No judge's answers affect these scores")


def test_leaving_somebody_out_changes_what_they_touched() -> None:
    table = found(
        people=[Variant("ana", {1: 0.0, 2: 0.1}), Variant("ben", {21: None}), Variant("far", {99: 1.0})]
    )
    ana, ben = table["people"]
    assert (ana["ahead"], ana["ranks"]["alder"]) == (("birch",), 3)
    # One of cedar's two summaries has no coverage without ben: its mean is that of the other.
    assert ben["means"]["cedar"] == pytest.approx(0.3)
    assert table["sentences"]["people"].startswith("Without ana, birch would lead instead of alder.")


def test_target_lengths_never_mix() -> None:
    longer = [row._replace(summary=row.summary + 100, target_words=50) for row in ALDER]
    project = Project()
    told = sensitivity(project, [*ROWS, *longer], WhatIf(NOTHING, [], [], [], 0))
    assert [(table["target_words"], len(table["present"]["means"])) for table in told["targets"]] == [
        (20, 3),
        (50, 1),
    ]
    assert told["incomplete"] == []

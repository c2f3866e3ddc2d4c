"""What each picture shows, and what it says of it in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from annotation.analysis.pictures.charts import (
    CalibrationPoint,
    ClaimLine,
    ClaimMark,
    CompositeLine,
    JudgedSystem,
    LengthPoint,
    Picture,
    RankedSystem,
    Work,
    burn_up,
    calibration,
    composite_lines,
    coverage_against_length,
    heat_map,
    judge_against_people,
    ranking,
)

if TYPE_CHECKING:
    from annotation.analysis.pictures.charts.kit import Shape


def shapes(picture: Picture, paint: str) -> list[Shape]:
    return [shape for shape in picture.drawing.shapes if shape.paint == paint]


def texts(picture: Picture) -> list[str]:
    return [shape.text for shape in picture.drawing.shapes if shape.tag == "text"]


def ranked(rank: int, name: str, mean: float, groups: tuple[bool, ...] = ()) -> RankedSystem:
    return RankedSystem(rank, name, mean, mean - 0.1, mean + 0.1, 12, groups)


def test_a_ranking_has_a_dot_and_an_interval_for_each_system() -> None:
    drawn = ranking([ranked(1, "alder", 0.6), ranked(2, "birch", 0.4)], score="Coverage", caption="")
    first, second = shapes(drawn, "mark")
    # From .3 to .7 the axis is 380 wide: .2 are half of it.
    assert float(first.at["cx"]) - float(second.at["cx"]) == pytest.approx(190)
    assert len(shapes(drawn, "span")) == 2
    assert "alder is first with 0.600" in drawn.description


def test_a_ranking_joins_systems_that_cannot_be_told_apart() -> None:
    systems = [
        ranked(1, "alder", 0.6, (True, False)),
        ranked(2, "birch", 0.5, (True, True)),
        ranked(3, "cedar", 0.4, (False, True)),
    ]
    drawn = ranking(systems, score="Coverage", caption="")
    assert len(shapes(drawn, "group")) == 2
    assert "are not significantly different" in drawn.description


def test_without_groups_a_ranking_says_nothing_of_them() -> None:
    drawn = ranking([ranked(1, "alder", 0.6)], score="Coverage", caption="")
    assert "significantly different" not in drawn.description
    assert not shapes(drawn, "group")


def test_the_scatter_counts_the_systems_of_which_the_judge_says_yes_more_often() -> None:
    systems = [JudgedSystem("alder", 9, 0.5, 0.6, -0.1, 0.3), JudgedSystem("birch", 9, 0.5, 0.5, None, None)]
    drawn = judge_against_people(systems, judge="lexical")
    assert "more often than people: 1." in drawn.description
    assert len(shapes(drawn, "span-thin")) == 1


def test_a_system_on_the_diagonal_is_as_far_right_as_up() -> None:
    drawn = judge_against_people(
        [JudgedSystem("alder", 9, 0.5, 0.5, None, None), JudgedSystem("birch", 9, 0.2, 0.8, None, None)],
        judge="lexical",
    )
    [guide] = shapes(drawn, "guide")
    [dot, _] = shapes(drawn, "mark")
    x1, y1, x2, y2 = (float(guide.at[name]) for name in ("x1", "y1", "x2", "y2"))
    share = (float(dot.at["cx"]) - x1) / (x2 - x1)
    assert (float(dot.at["cy"]) - y1) / (y2 - y1) == pytest.approx(share)


def test_among_many_systems_names_go_before_bars() -> None:
    many = [JudgedSystem(f"system-{number}", 9, 0.5, number / 20, -0.1, 0.1) for number in range(16)]
    drawn = judge_against_people(many, judge="lexical")
    assert not shapes(drawn, "span-thin")
    assert len(shapes(drawn, "name")) == 16
    assert "the numbers have them" in drawn.caption


def point(count: int, predicted: float = 0.5) -> CalibrationPoint:
    return CalibrationPoint(predicted - 0.1, predicted + 0.1, count, predicted, 0.4, 0.2, 0.6)


def test_a_calibration_curve_on_enough_answers_is_joined_by_a_line() -> None:
    drawn = calibration([point(10, 0.3), point(12, 0.7)], judge="lexical")
    assert len(shapes(drawn, "line-thin")) == 1
    assert "fewer than" not in drawn.caption


def test_groups_on_few_answers_are_hollow_and_no_curve() -> None:
    drawn = calibration([point(2, 0.3), point(12, 0.7)], judge="lexical")
    assert len(shapes(drawn, "hollow")) == 1
    assert not shapes(drawn, "line-thin")
    assert "1 of 2" in drawn.caption
    assert "too few for a curve" in calibration([point(2)], judge="lexical").caption


def test_a_group_of_equal_answers_has_its_interval_by_another_rule_and_says_so() -> None:
    alike = CalibrationPoint(0.8, 1.0, 12, 0.9, 1.0, 0.7, 1.0)
    said = calibration([point(12, 0.3), alike], judge="lexical").caption
    assert "Where all answers of a group are the same (1 of 2)" in said
    assert "exact binomial one (Clopper and Pearson), each document set" in said
    assert "binomial" not in calibration([point(12, 0.3)], judge="lexical").caption


def test_a_group_of_equal_answers_without_an_interval_has_none_to_explain() -> None:
    alone = CalibrationPoint(0.8, 1.0, 12, 0.9, 1.0, None, None)
    assert "binomial" not in calibration([alone], judge="lexical").caption


def test_lines_of_equal_composite_run_through_systems_of_that_composite() -> None:
    # With a = ½ and a target of 50: coverage .4 in 50 words and .2 in 40 (brevity .2) both give .2.
    points = [LengthPoint("alder", 50, 0.4, None, None, 0.2), LengthPoint("birch", 40, 0.2, None, None, 0.2)]
    drawn = coverage_against_length(points, target=50, a=0.5, unit="words", covers="")
    [line] = [shape for shape in shapes(drawn, "guide") if _runs_through(shape, shapes(drawn, "mark"))]
    assert "X 0.20" in texts(drawn)
    assert line.tag == "path"


@pytest.mark.parametrize(("target", "a"), [(None, 0.5), (50, 1.0)])
def test_without_a_target_or_a_weight_of_length_there_are_no_such_lines(target: int | None, a: float) -> None:
    drawn = coverage_against_length(
        [LengthPoint("alder", 40, 0.4, 0.3, 0.5, None)], target=target, a=a, unit="words", covers=""
    )
    assert not shapes(drawn, "guide")
    assert "composite" not in drawn.caption


def test_each_answer_has_a_shape_of_its_own() -> None:
    labels = ("yes", "no", "unsure", None)
    marks = {str(label): ClaimMark(label, by_person=label == "no", href=f"/{label}") for label in labels}
    drawn = heat_map([ClaimLine("port", "It closes.", marks)], list(marks), caption="")
    # One of each in the row and one in the key, where a fifth cell, a yes, tells of a person.
    counts = {paint: len(shapes(drawn, paint)) for paint in ("yes", "no", "unsure", "unscored", "person")}
    assert counts == {"yes": 3, "no": 4, "unsure": 2, "unscored": 2, "person": 2}
    assert drawn.rows == (("port", "It closes.", "yes", "no, by a person", "unsure", "unscored"),)
    assert drawn.links[0, 3] == "/no"


def test_a_system_without_a_summary_of_the_set_has_no_cell() -> None:
    drawn = heat_map([ClaimLine("port", "It closes.", {})], ["alder"], caption="")
    assert drawn.rows == (("port", "It closes.", None),)
    assert not shapes(drawn, "touch")


def test_names_that_differ_at_their_ends_stay_apart_in_a_narrow_head() -> None:
    names = [
        "a summariser of a very long name indeed, first",
        "a summariser of a very long name indeed, other",
    ]
    heads = [text for text in texts(heat_map([], names, caption="")) if text.startswith("a summ")]
    assert len(set(heads)) == 2
    assert all("…" in head for head in heads)


def test_a_page_of_claims_tells_of_how_many() -> None:
    line = ClaimLine("port", "It closes.", {})
    page = heat_map([line] * 30, ["alder"], caption="", of_claims=1300)
    assert page.title == "30 of 1,300 claims in the summaries of 1 system"
    assert heat_map([line], ["alder", "birch"], caption="", of_claims=1).title.startswith("1 claim in the")


def test_a_map_of_many_systems_keeps_its_size() -> None:
    line = ClaimLine("port", "It closes.", {})
    narrow, wide = (heat_map([line], [f"s{n}" for n in range(count)], caption="") for count in (20, 400))
    assert 'class="picture"' in narrow.svg
    assert 'class="picture at-size"' in wide.svg


def test_all_who_are_level_in_front_are_named() -> None:
    drawn = ranking(
        [ranked(1, "alder", 0.6), ranked(1, "birch", 0.6), ranked(3, "cedar", 0.4)],
        score="Coverage",
        caption="",
    )
    assert "2 systems are tied for first with 0.600: alder, birch." in drawn.description
    assert ranking([ranked(1, "alder", 0.6)], score="Coverage", caption="").title.startswith(
        "Coverage of 1 system, with"
    )


def test_where_there_is_no_interval_nobody_is_sent_to_look_for_one() -> None:
    points = [LengthPoint(f"s{number}", 40 + number, 0.4, None, None, None) for number in range(16)]
    drawn = coverage_against_length(points, target=None, a=1.0, unit="words", covers="")
    assert "No intervals: too few document sets" in drawn.caption
    assert "Intervals of so many" not in drawn.caption


def test_systems_keep_their_names_in_the_table() -> None:
    drawn = heat_map([ClaimLine("port", "It closes.", {})], ["abs_bart_out"], caption="")
    assert [name for name, _ in drawn.heads] == ["document set", "claim", "abs_bart_out"]


def test_a_burn_up_rises_from_nothing_and_counts_days_without_work() -> None:
    work = Work("units judged", "judged", 10, {date(2026, 3, 1): 2, date(2026, 3, 3): 3})
    drawn = burn_up([work], caption="")
    assert drawn.columns == ("day", "judged", "judged_so_far")
    assert drawn.rows == (("2026-03-01", 2, 2), ("2026-03-02", 0, 2), ("2026-03-03", 3, 5))
    assert "5 of 10 units judged" in drawn.description


def test_the_composite_over_its_weight_says_who_leads_at_the_weight_in_force() -> None:
    systems = [CompositeLine("alder", 0.1, 0.8), CompositeLine("birch", 0.6, 0.4)]
    # At a = .2: alder .24, birch .56.
    drawn = composite_lines(systems, chosen=0.2, crossings=[5 / 9])
    assert "birch is highest, with 0.560" in drawn.description
    assert len(shapes(drawn, "mark-2")) == 1


def test_systems_that_end_at_one_point_are_told_apart_without_colour() -> None:
    systems = [CompositeLine("alder", 0.1, 0.8), CompositeLine("birch", 0.6, 0.8)]
    drawn = composite_lines(systems, chosen=0.5)
    # One solid line and one dashed; circles for alder and squares for birch: three on the line and one at each name.
    assert (len(shapes(drawn, "line-thin")), len(shapes(drawn, "line-dashed"))) == (1, 1)
    assert [shape.tag for shape in shapes(drawn, "mark")].count("circle") == 5
    assert [shape.tag for shape in shapes(drawn, "mark")].count("rect") == 5


def test_every_system_of_a_few_is_named_at_both_ends_of_its_line() -> None:
    systems = [CompositeLine(f"system-{number}", 0.5, 0.5) for number in range(8)]
    drawn = composite_lines(systems, chosen=0.5)
    names = shapes(drawn, "name")
    for is_end in (True, False):
        places = sorted(
            float(each.at["y"]) for each in names if (each.at.get("text-anchor") == "end") == is_end
        )
        assert len(places) == 8
        # Names stand 14 apart, those of 11 pixels in a column.
        assert min(after - before for before, after in pairwise(places)) >= 14 - 1e-6
    assert max(float(each.at["y"]) for each in names) < drawn.drawing.height


def test_of_the_named_systems_no_two_have_both_line_and_sign_alike() -> None:
    drawn = composite_lines([CompositeLine(f"s{number}", 0.2, 0.6) for number in range(8)], chosen=0.5)
    lines = [shape for shape in drawn.drawing.shapes if shape.paint.startswith("line-")]
    signs = [
        after
        for before, after in pairwise(drawn.drawing.shapes)
        if before.paint == "leader" and float(before.at["x2"]) > float(before.at["x1"])
    ]
    looks = {
        (line.paint, sign.tag, sign.paint, "v" if _hangs(sign) else "")
        for line, sign in zip(lines, signs, strict=True)
    }
    assert len(looks) == 8


def test_of_many_systems_the_five_highest_are_named_and_the_others_grey() -> None:
    # At a = .5 the composite is half the coverage: the last five have the most.
    systems = [CompositeLine(f"system-{number:02}", 0.0, number / 25) for number in range(25)]
    drawn = composite_lines(systems, chosen=0.5)
    assert {shape.text for shape in shapes(drawn, "name")} == {f"system-{number}" for number in range(20, 25)}
    grey = shapes(drawn, "line-rest")
    assert [shape.hint for shape in grey] == [f"system-{number:02}" for number in range(20)]
    assert "the other 20 systems" in drawn.caption
    assert len(drawn.rows) == 25


def test_of_one_system_nothing_is_said_of_who_is_highest() -> None:
    drawn = composite_lines([CompositeLine("alder", 0.1, 0.8)], chosen=0.2)
    assert "highest" not in drawn.description


EMPTY = {
    "ranking": ranking([], score="Coverage", caption=""),
    "scatter": judge_against_people([], judge="lexical"),
    "calibration": calibration([], judge="lexical"),
    "length": coverage_against_length([], target=None, a=1, unit="words", covers=""),
    "claims": heat_map([], [], caption=""),
    "burn-up": burn_up([], caption=""),
    "composite": composite_lines([], chosen=0.5),
}


@pytest.mark.parametrize("name", EMPTY)
def test_of_nothing_there_is_an_empty_picture_and_no_error(name: str) -> None:
    assert EMPTY[name].is_empty
    assert EMPTY[name].svg


def _hangs(sign: Shape) -> bool:
    """Whether a triangle, whose first point is its tip, points down."""
    if sign.tag != "polygon":
        return False
    tip, side, _ = (float(each.split(",")[1]) for each in str(sign.at["points"]).split())
    return tip > side


def _runs_through(line: Shape, dots: list[Shape]) -> bool:
    (x1, y1), (x2, y2) = ((float(each) for each in end.split()) for end in str(line.at["d"])[1:].split(" L"))
    heights = [y1 + (float(dot.at["cx"]) - x1) * (y2 - y1) / (x2 - x1) for dot in dots]
    return all(abs(height - float(dot.at["cy"])) < 0.5 for height, dot in zip(heights, dots, strict=True))


def test_a_ranking_without_intervals_says_why() -> None:
    systems = [RankedSystem(1, "alder", 0.8, None, None, n=3), RankedSystem(2, "birch", 0.5, None, None, n=3)]
    drawn = ranking(systems, score="Coverage", caption="")
    assert drawn.title == "Coverage of 2 systems, without intervals"
    assert (
        "a dot at its mean; no interval: 3 document sets, 5 needed. alder is first with 0.800."
        in drawn.description
    )
    held = [replace(of, low=of.mean - 0.1, high=of.mean + 0.1, n=30) for of in systems]
    assert "and a bar over its interval. alder" in ranking(held, score="Coverage", caption="").description

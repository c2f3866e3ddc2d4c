"""What the plan foretells: what it goes by, what it asks of whom, and what it says of what is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm
from scipy.stats import t as student

from annotation.analysis.estimates.forecasts import DESIGNS, doubt, forecasts, planned_chances
from annotation.analysis.estimates.plan import ladder, plan, worth_of_second
from annotation.analysis.estimates.words import told
from annotation.analysis.leaderboard.leaderboard import means_at
from annotation.models import Check, Draw, Verdict
from annotation.reviewing.services.review import override
from annotation.sampling.queries.pace import seconds_per_check
from annotation.sampling.queries.sampled_items import framed_now
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from evaluation.statistics import documents_for_all, median_widest
from tests.annotation.planning import answer_draw, lay_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def table_of(world: World) -> dict[str, Any]:
    (table,) = told(plan(world.project))["targets"]
    found: dict[str, Any] = table
    return found


def pilot(world: World, share: float = 0.5, *, ms: int = 0) -> Draw:
    draw = sample_checks(project=world.project, by=world.mona, method="uniform", share=share, seed=3)
    answer_draw(world, draw, ms=ms)
    return draw


@pytest.mark.parametrize(
    ("probability", "stratum"),
    [
        (0.0, "sure"),
        (0.95, "sure"),
        (0.1, "sure"),
        (0.2, "fairly sure"),
        (0.8, "fairly sure"),
        (0.25, "doubtful"),
        (0.5, "doubtful"),
        (None, "doubtful"),
    ],
)
def test_doubt_goes_by_the_distance_to_a_half(probability: float | None, stratum: str) -> None:
    assert doubt(probability) == stratum


def test_sizes_are_round_and_end_with_all() -> None:
    assert ladder(120) == [10, 15, 20, 30, 50, 70, 100, 120]
    assert ladder(10) == [10]
    assert ladder(0) == []


@given(st.integers(min_value=1, max_value=2_000_000))
def test_sizes_rise_and_none_is_more_than_can_be_drawn(checks: int) -> None:
    sizes = ladder(checks)
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (min(10, checks), checks)


def test_the_frame_of_now_is_what_a_draw_would_find(world: World) -> None:
    draw = sample_checks(project=world.project, by=world.mona, method="uniform", share=0.5, seed=1)
    ids = {name for of_system in framed_now(world.project).ids[20].values() for name in of_system}
    assert ids == {name for name, _ in draw.frame}


def test_without_a_draw_the_judges_word_is_taken(world: World) -> None:
    lay_sets(world, 3)
    found = told(plan(world.project))
    assert (found["basis"], found["pilot"]) == ("judge", None)
    assert "assumes that the judge's probabilities are calibrated" in found["basis_in_words"]
    (table,) = found["targets"]
    # Three sets of four claims and the port's three, for two systems.
    assert (found["checks"], table["documents"]) == (30, 4)
    (alder, _) = table["systems"]
    assert (alder["system"], alder["estimate"], alder["judge"]["n"]) == ("alder", None, 4)


def test_an_answered_draw_is_gone_by(world: World) -> None:
    lay_sets(world, 4)
    draw = pilot(world)
    found = told(plan(world.project))
    assert (found["basis"], found["pilot"], found["drawn_before"]) == ("pilot", draw.public_id, 19)
    assert "its 19 answered checks" in found["basis_in_words"]


def test_a_draw_that_is_still_answered_is_not(world: World) -> None:
    lay_sets(world, 2)
    sample_checks(project=world.project, by=world.mona, method="uniform", share=0.5, seed=3)
    assert told(plan(world.project))["basis"] == "judge"


def test_a_draw_with_one_set_of_answers_foretells_nothing_and_it_is_said(world: World) -> None:
    pilot(world, 1.0)
    lay_sets(world, 2)
    found = told(plan(world.project))
    assert found["basis"] == "pilot_too_small"
    assert "some system has answers in fewer than two document sets" in found["basis_in_words"]
    assert found["targets"][0]["outlooks"]


def test_without_probabilities_nothing_is_foretold(world: World) -> None:
    lay_sets(world, 2)
    Check.objects.update(judge_probability=None, final_source="reviewer")
    found = told(plan(world.project))
    assert found["basis"] == "nothing"
    assert found["targets"][0]["outlooks"] == {}


def test_of_one_document_set_nothing_is_foretold(world: World) -> None:
    assert told(plan(world.project))["basis"] == "too_few_sets"


def test_with_all_answered_every_design_gives_the_least_width(world: World) -> None:
    lay_sets(world, 14)
    table = table_of(world)
    outlooks = table["outlooks"]["118"]
    least = {system["system"]: system["least"] for system in table["systems"]}
    assert all(outlooks[design]["systems"] == pytest.approx(least) for design in DESIGNS)
    # 15 sets with answers: the judge counts from here on.
    assert outlooks["uniform"]["documents"] == pytest.approx(15)


def test_below_fifteen_sets_people_alone_are_foretold(world: World) -> None:
    lay_sets(world, 13)
    table = table_of(world)
    outlooks = table["outlooks"]["110"]
    assert [outlooks[design]["widest"] is None for design in DESIGNS] == [False, True, True, True]
    assert outlooks["active"]["is_few"]
    assert "There are 14 document sets here. Below 15," in table["warning"]


def test_every_system_gets_its_share_of_a_draw(world: World) -> None:
    lay_sets(world, 6)
    for design in ("uniform", "stratified", "active"):
        strata = table_of(world)["outlooks"]["30"][design]["strata"]
        # 27 checks each of 54.
        assert [sum(of_system.values()) for of_system in strata.values()] == pytest.approx([15, 15], abs=0.2)


def test_active_draws_ask_more_of_what_the_judge_doubts(world: World) -> None:
    lay_sets(world, 6)
    outlooks = table_of(world)["outlooks"]["30"]
    lot, active = (outlooks[design]["strata"]["alder"] for design in ("uniform", "active"))
    assert active["doubtful"] > lot["doubtful"]
    assert active["sure"] < lot["sure"]


def test_chances_of_a_planned_draw_add_up_to_its_size(world: World) -> None:
    lay_sets(world, 6)
    for design in ("uniform", "stratified", "active"):
        chances = planned_chances(world.project, size=30, design=design)
        assert sum(chance for chance, _ in chances.values()) == pytest.approx(30)
        assert len(chances) == 54


def test_what_came_after_the_answered_draw_is_drawn_by_lot(world: World) -> None:
    lay_sets(world, 4)
    draw = pilot(world)
    known = {name for name, _ in draw.frame}
    lay_sets(world, 1, first=4)
    chances = planned_chances(world.project, size=23, design="active")
    # Half of the 46 checks that there are now.
    assert {chance for name, chance in chances.items() if name not in known} == {(0.5, "came after")}
    assert len({chance for name, chance in chances.items() if name in known}) > 2


def test_the_widest_is_what_half_of_draws_exceed_and_not_the_largest_that_is_expected(world: World) -> None:
    lay_sets(world, 20)
    found = forecasts(world.project).of.values()
    outlook = table_of(world)["outlooks"]["100"]["uniform"]
    widths = [outlook["systems"][name] for name in ("alder", "birch")]
    # 83 checks of each of two systems, of which 50 are drawn.
    documents = [each.answered_documents(50, "uniform").expected for each in found]
    assert outlook["widest"] == pytest.approx(median_widest(widths, documents))
    assert outlook["widest"] > max(widths)
    assert outlook["mean"] == pytest.approx(sum(widths) / 2)


def test_what_no_answers_reach_for_all_systems_takes_more_document_sets(world: World) -> None:
    lay_sets(world, 20)
    found = list(forecasts(world.project).of.values())
    table = table_of(world)
    out_of_reach = [each for each in table["wanted"] if not any(each["sizes"].values())]
    wanted = next(each for each in out_of_reach if each["short"])
    needed = {each["system"]: each["needed"] for each in wanted["short"]}
    assert needed == {
        name: each.documents_for(wanted["width"])
        for (_, name), each in forecasts(world.project).of.items()
        if name in needed
    }
    assert (documents_for_all(found, wanted["width"]) or 0) >= max(needed.values())


def test_without_a_pilot_sentences_begin_with_what_they_rest_on(world: World) -> None:
    lay_sets(world, 20)
    table = table_of(world)
    assert all(
        each["sentence"].startswith("If the judge's probabilities are calibrated") for each in table["wanted"]
    )
    assert table["least_in_words"].endswith("otherwise, intervals are wider.")
    pilot(world, 0.9)
    table = table_of(world)
    open_widths = [each for each in table["wanted"] if not each["is_reached"]]
    assert open_widths
    assert not any("If the judge" in each["sentence"] for each in open_widths)
    (alder, birch) = (system["least"] for system in table["systems"])
    # One variance for both, and as many sets: one least width, which the wider of the two is expected to exceed.
    assert alder == pytest.approx(birch)
    assert (
        f"The widest of 2 is probably about {median_widest([alder, birch], [21, 21]):.2f}."
        in table["least_in_words"]
    )


def test_a_wished_width_names_the_smallest_size_that_reaches_it(world: World) -> None:
    lay_sets(world, 20)
    table = table_of(world)
    for wanted in table["wanted"]:
        for design, size in wanted["sizes"].items():
            fitting = [
                int(each)
                for each, by_design in table["outlooks"].items()
                if by_design[design]["widest"] is not None and by_design[design]["widest"] <= wanted["width"]
            ]
            assert size == min(fitting, default=None)


def test_a_width_that_no_answers_reach_takes_document_sets(world: World) -> None:
    lay_sets(world, 4)
    place = (20, "alder")
    forecast = forecasts(world.project).of[place]
    narrowest = table_of(world)["wanted"][-1]
    assert set(narrowest["sizes"].values()) == {None}
    (alder,) = [each for each in narrowest["short"] if each["system"] == "alder"]
    assert (alder["held"], alder["needed"]) == (5, forecast.documents_for(0.02))
    assert "more answers are not enough; it needs more document sets" in narrowest["sentence"]


def test_hours_go_by_the_median_time_of_answers(world: World) -> None:
    assert seconds_per_check(world.project) == (None, 0)
    for ms in (4_000, 10_000, 90_000):
        Verdict.objects.create(
            check_row=world.check("alder", 1), source="reviewer", person=world.rex, label="no", active_ms=ms
        )
    assert seconds_per_check(world.project) == (10.0, 3)
    lay_sets(world, 2)
    found = told(plan(world.project))
    assert found["sizes"][0] == {"size": 10, "hours": pytest.approx(10 * 10 / 3600)}
    assert "10 s per check, the median of the 3 newest timed answers" in found["pace_in_words"]


def test_the_estimate_stands_beside_the_judge_once_a_draw_is_answered(world: World) -> None:
    lay_sets(world, 4)
    pilot(world)
    table = table_of(world)
    assert table["known"]["state"] == "people"
    assert all(system["estimate"]["mean"] is not None for system in table["systems"])


def test_a_second_rating_is_worth_its_part_of_the_error_of_a_check(world: World) -> None:
    lay_sets(world, 6)
    pilot(world)
    assert (table_of(world)["second_rating"], table_of(world)["second_in_words"]) == (None, "")
    items, of = framed_now(world.project).items[20], forecasts(world.project).of
    alder = {"alder": replace(of[20, "alder"], errors=np.array([0.03, 0.02]))}
    halves = {"alder": [replace(item, share=0.5) for item in items["alder"][:2]]}
    # Two checks of half a share each err by .05 together: .05 / (.25 + .25) a check, .1. Half of a noise of .1 is .05.
    assert worth_of_second(0.1, halves, alder) == pytest.approx(0.5)
    assert worth_of_second(0.04, halves, alder) == pytest.approx(0.2)
    assert worth_of_second(0.1, halves, {}) is None


def test_what_a_second_rating_is_worth_is_told_once_some_checks_have_two(world: World) -> None:
    lay_sets(world, 6)
    draw = pilot(world)
    drawn = draw.drawn_checks.filter(check_row__side="reference").order_by("pk")
    for place, row in enumerate(drawn[:6]):
        override(check=row.check_row, by=world.cleo, label="no" if place % 2 else "yes")
    table = table_of(world)
    assert 0 < table["second_rating"] <= 0.5
    percent = f"{100 * table['second_rating']:.0f} %"
    assert (
        f"narrows intervals about {percent} as much as an answer to a new check" in table["second_in_words"]
    )


def test_of_systems_together_the_variance_of_document_sets_is_one(world: World) -> None:
    lay_sets(world, 6)
    pilot(world)
    found = forecasts(world.project).of
    assert len({each.variance_of_documents for each in found.values()}) == 1


def test_where_everything_is_answered_the_least_width_is_that_of_peoples_scores(world: World) -> None:
    # Six sets of four claims beside the port. People say yes to 4, 4, 2, 2, 0 and 0 of the four, as one: within a set
    # answers hang together. Of the port's three claims the third gets a no.
    lay_sets(world, 6)
    yes = {"set-00": 4, "set-01": 4, "set-02": 2, "set-03": 2, "set-04": 0, "set-05": 0}
    for check in Check.objects.select_related("claim", "peer__document_set"):
        wanted = yes.get(check.peer.document_set.external_id, 2)
        Verdict.objects.create(
            check_row=check,
            source="reviewer",
            person=world.rex,
            label="yes" if check.claim.position <= wanted else "no",
        )
    rescore(project=world.project)
    found = told(plan(world.project))
    (table,) = found["targets"]
    assert found["complete"]
    assert (table["outlooks"], table["wanted"]) == ({}, [])
    own = means_at(world.project, 20).of("coverage")["alder"]
    assert sorted(own.values())[:2] == [0.0, 0.0]
    # 1, 1, .5, .5, 0, 0 and the port's .5 (of its two units one is wholly covered, one not at all): the squares add up
    # to 4 * .25 = 1, so the variance of the mean is 1 / 6 / 7, worth .25 * 42 = 10.5 answers. Fewer than ten of either
    # kind: the exact interval of 10.5 (1.96 / 2.4469)^2 = 6.737 answers, half of them yes.
    count = 10.5 * (norm.ppf(0.975) / student.ppf(0.975, 6)) ** 2
    low = beta.ppf(0.025, count / 2, count / 2 + 1)
    least = {system["system"]: system["least"] for system in table["systems"]}
    assert least["alder"] == pytest.approx(1 - 2 * low)
    assert least["alder"] == pytest.approx(0.7327, abs=1e-4)


def test_where_answers_show_no_difference_between_sets_no_width_is_foretold(world: World) -> None:
    # Whatever is drawn is answered no: nothing tells how far the sets differ.
    lay_sets(world, 6)
    draw = sample_checks(project=world.project, by=world.mona, method="uniform", share=0.9, seed=3)
    answer_draw(world, draw, label="no")
    table = table_of(world)
    assert "too few answers to separate differences between document sets from noise" in table["unknown"]
    assert {system["least"] for system in table["systems"]} == {None}
    assert table["outlooks"]["54"]["people"]["widest"] is None
    assert table["wanted"][-1]["sentence"] == table["unknown"]

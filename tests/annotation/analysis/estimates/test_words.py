"""The plan's sentences say what its numbers say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.estimates.estimates import Estimated, EstimateState, EstimateTable
from annotation.analysis.estimates.forecasts import ForecastBasis
from annotation.analysis.estimates.plan import ShortSystem
from annotation.analysis.estimates.words import (
    Clusters,
    basis_in_words,
    complete_in_words,
    documents_in_words,
    duration_in_words,
    effort_in_words,
    hours_in_words,
    leader_in_words,
    least_in_words,
    new_sample_in_words,
    reached_in_words,
    replacing_in_words,
    wanted_in_words,
    width_in_words,
)
from annotation.analysis.leaderboard.averages import Average
from evaluation.statistics import PairComparison

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.statistics import Design

LADDER = (200, 300, 500, 700, 1500)
SETS = Clusters(groups=20, sets=20)
GROUPED = Clusters(groups=11, sets=12)


def wanted(
    sizes: Mapping[Design, int | None],
    short: list[ShortSystem],
    systems: int,
    *,
    clusters: Clusters = SETS,
    basis: ForecastBasis = ForecastBasis.PILOT,
    enough: int | None = None,
) -> str:
    return wanted_in_words(
        0.1, sizes, short, systems, ladder=LADDER, clusters=clusters, basis=basis, enough=enough
    )


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        (
            {"people": 500, "uniform": 300, "stratified": 200, "active": 200},
            "at most 200 answers are enough in more than half of such samples (design: stratified by judge "
            "uncertainty or active). People alone need more than 300 and at most 500.",
        ),
        (
            {"people": None, "uniform": 300, "stratified": 300, "active": 300},
            "more than 200 and at most 300 answers are enough in more than half of such samples (design: "
            "uniform, stratified by judge uncertainty or active). With people alone, no planned size is "
            "enough.",
        ),
        (
            {"people": 300, "uniform": 300, "stratified": 300, "active": 500},
            "more than 200 and at most 300 answers are enough in more than half of such samples (design: "
            "uniform or stratified by judge uncertainty). People alone need no larger planned size.",
        ),
        # Fewer than it takes to lean on the judge: every such draw is people alone, so there is one number.
        (
            {"people": 300, "uniform": 500, "stratified": 500, "active": 500},
            "more than 200 and at most 300 answers are enough in more than half of such samples, using "
            "people alone.",
        ),
        (
            {"people": 1500, "uniform": None, "stratified": None, "active": None},
            "more than 700 and at most 1,500 answers are enough in more than half of such samples, using "
            "people alone.",
        ),
        (
            dict.fromkeys(("people", "uniform", "stratified", "active")),
            "no planned sample size is enough in more than half of such samples.",
        ),
    ],
)
def test_the_cheapest_designs_are_named_no_finer_than_the_sizes(
    sizes: dict[Design, int | None], words: str
) -> None:
    assert wanted(sizes, [], 2) == f"No interval wider than 0.1: {words}"


def test_of_one_system_there_is_one_interval() -> None:
    sizes: dict[Design, int | None] = {"people": 300, "uniform": None, "stratified": None, "active": None}
    assert wanted(sizes, [], 1) == (
        "An interval no wider than 0.1: more than 200 and at most 300 answers are enough on average, using "
        "people alone."
    )
    assert "on average (design: active). With" in wanted({"people": None, "active": 200}, [], 1)
    assert reached_in_words(0.4, 0.32, 1) == "The interval is 0.32 wide now, so 0.40 is already reached."
    assert wanted({}, [ShortSystem("birch", held=3, needed=9)], 1).endswith(
        "birch needs about 9 instead of 3 on average, if every check in them is answered."
    )


@pytest.mark.parametrize("basis", [ForecastBasis.JUDGE, ForecastBasis.PILOT_TOO_SMALL])
def test_without_a_pilot_the_premise_comes_first(basis: ForecastBasis) -> None:
    told = wanted({"people": 300, "uniform": 300}, [], 2, basis=basis)
    assert told == (
        "If the judge's probabilities are calibrated and answers within a document are independent, no "
        "interval wider than 0.1: more than 200 and at most 300 answers are enough in more than half of such "
        "samples (design: uniform). People alone need no larger planned size."
    )
    assert "independent, an interval no wider than 0.1" in wanted({"people": 300}, [], 1, basis=basis)
    assert wanted({}, [ShortSystem("birch", 3, 9)], 2, basis=basis).startswith("If the judge's probabilities")


def test_one_figure_for_all_systems_names_none_of_them() -> None:
    alike = [ShortSystem("birch", held=30, needed=36), ShortSystem("alder", held=30, needed=36)]
    assert wanted({}, alike, 2, enough=53).endswith(
        "it needs more document sets. About 36 instead of 30 are enough on average, if every check in them "
        "is answered; individual systems may need more, and about 53 are enough for all of them in half of "
        "cases."
    )
    held = [ShortSystem("birch", held=20, needed=36), ShortSystem("alder", held=30, needed=36)]
    assert wanted({}, held, 5).endswith(
        "2 of 5 systems need more: about 36 instead of 20 to 30 are enough on average, if every check in "
        "them is answered; individual systems may need more."
    )


def test_of_several_that_need_most_none_is_named() -> None:
    tied = [ShortSystem("alder", 3, 9), ShortSystem("birch", 3, 12), ShortSystem("cedar", 3, 12)]
    assert wanted({}, tied, 3).endswith(
        "Every system needs more, up to about 12 document sets on average, if every check in them is "
        "answered."
    )


def test_what_is_reached_on_average_alone_takes_more_document_sets() -> None:
    sizes: dict[Design, int | None] = dict.fromkeys(("people", "uniform"))
    assert wanted(sizes, [], 2, enough=26) == (
        "No interval wider than 0.1: no planned sample size is enough in more than half of such samples. "
        "About 26 document sets instead of 20 are enough, if every check in them is answered."
    )
    # Already as many, so too few answers are what lacks.
    assert wanted(sizes, [], 2, enough=20).endswith("in more than half of such samples.")


def test_the_least_widths_say_what_they_rest_on() -> None:
    assert least_in_words(ForecastBasis.JUDGE, [0.1, 0.1], 0.13, is_complete=False) == (
        "Even if people answered every check, intervals would be about 0.10 wide because document sets "
        "differ. This assumes calibrated judge probabilities and independent answers within a document; "
        "otherwise, intervals are wider."
    )
    assert least_in_words(ForecastBasis.PILOT, [0.165] * 25, 0.2074, is_complete=False).endswith(
        "so a system's own interval may be narrower or wider. The widest of 25 is probably about 0.21."
    )
    assert "0.12 to 0.17 wide" in least_in_words(ForecastBasis.PILOT, [0.12, 0.165], 0.2, is_complete=False)
    assert least_in_words(ForecastBasis.PILOT, [0.165], 0.165, is_complete=False).endswith("sets differ.")
    assert least_in_words(ForecastBasis.JUDGE, [], None, is_complete=False) == ""
    assert "Intervals for people alone are final" in least_in_words(
        ForecastBasis.JUDGE, [0.1, 0.2], None, is_complete=True
    )


def test_who_lacks_document_sets_is_named_with_how_many() -> None:
    one = [ShortSystem("birch", held=3, needed=9)]
    assert wanted({}, one, 2) == (
        "birch is the only system whose interval stays wider than 0.1. More answers do not help; it needs "
        "more document sets: about 9 instead of 3 on average, if every check in them is answered."
    )
    assert wanted({}, one, 1) == (
        "An interval no wider than 0.1: more answers are not enough; it needs more document sets. birch "
        "needs about 9 instead of 3 on average, if every check in them is answered."
    )
    both = [*one, ShortSystem("alder", held=11, needed=1200)]
    assert "Every system needs more, alder most: about 1,200 instead of 11" in wanted({}, both, 2)
    assert "2 of 5 systems need more" in wanted({}, both, 5)
    assert "it needs more document sets. " in wanted({}, both, 2)
    assert "it needs more groups: " in wanted({}, one, 2, clusters=GROUPED)


def test_a_width_that_is_reached_already_is_told_with_the_number_upwards() -> None:
    # .3201 is not at most .32.
    assert reached_in_words(0.4, 0.3201, 2) == (
        "No interval is wider than 0.33 now, so 0.40 is already reached."
    )
    assert "wider than 0.32 now" in reached_in_words(0.4, 0.32, 2)


def test_all_answered_needs_no_draw() -> None:
    assert complete_in_words(7500, "coverage") == (
        "No sample is needed: people have answered all 7,500 checks, so coverage on the leaderboard rests "
        "on people alone."
    )
    assert complete_in_words(1, "alignment").startswith(
        "No sample is needed: people have answered the only check,"
    )


def test_a_draw_that_is_no_larger_than_the_answered_one_is_warned_of() -> None:
    assert replacing_in_words(101, 100, is_narrower=False) == ""
    assert "same size and would replace it" in replacing_in_words(100, 100, is_narrower=False)
    assert replacing_in_words(70, 1000, is_narrower=False) == (
        "The latest answered sample has 1,000 checks. This smaller one would replace it and make intervals wider."
    )
    # A better design may make up for the size: then widths are not said to grow.
    assert replacing_in_words(70, 100, is_narrower=True).endswith("estimates would use fewer answers.")


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        (1, "There is 1 document set here (no interval: 1 document set, 5 needed). Below 15, an"),
        (14, "Below 15"),
        (15, "Below 20"),
        (19, "Below 20, an"),
    ],
)
def test_few_document_sets_are_warned_of(documents: int, words: str) -> None:
    assert words in documents_in_words(Clusters(groups=documents, sets=documents))


def test_grouped_document_sets_are_counted_and_the_rule_goes_by_groups() -> None:
    assert documents_in_words(GROUPED).startswith(
        "There are 12 document sets in 11 groups here. Below 15 groups, an estimate"
    )
    assert documents_in_words(Clusters(groups=1, sets=3)).startswith(
        "There are 3 document sets in 1 group here (no interval: 1 group, 5 needed)."
    )
    # 25 sets are enough by themselves, in 16 groups they are not.
    assert "Below 20 groups" in documents_in_words(Clusters(groups=16, sets=25))


def test_enough_document_sets_are_no_reason_to_warn() -> None:
    assert documents_in_words(SETS) == ""


def test_no_time_no_hours() -> None:
    assert "30 s per check is assumed" in hours_in_words(None, 0)
    assert (
        hours_in_words(12.4, 1)
        == "Times assume 12 s per check, the median of the 1 timed answer in this project."
    )


def test_a_width_that_nobody_asked_for_says_so() -> None:
    assert width_in_words(0.2) == (
        "No width chosen. 0.2 is the narrowest that a sample of half of all checks reaches."
    )
    assert width_in_words(None).endswith("half of all checks reaches none of these, so the widest is shown.")


def test_a_size_is_that_of_a_new_draw_and_says_what_earlier_answers_count() -> None:
    told = new_sample_in_words(50, checks=200, answered=0, is_by_lot=True)
    assert told == ("This is a new random sample of 50. Once it is complete, the estimate uses it alone.")
    # 60 of 200 are answered: of 50 by lot 15.
    assert new_sample_in_words(50, checks=200, answered=60, is_by_lot=True) == (
        f"{told} 60 checks have a blind answer already. If sampled, "
        "they keep that answer and nobody is asked again (about 15 of "
        "these 50). Checks outside a sample do not enter the estimate."
    )
    assert "about" not in new_sample_in_words(50, checks=200, answered=60, is_by_lot=False)


def test_below_five_sets_there_is_no_interval_and_it_is_said() -> None:
    assert documents_in_words(Clusters(groups=3, sets=3)).startswith(
        "There are 3 document sets here (no interval: 3 document sets, 5 needed). Below 15, an estimate"
    )
    assert "(no interval: 4 groups, 5 needed). Below 15 groups" in documents_in_words(Clusters(4, 9))
    assert "no interval" not in documents_in_words(Clusters(5, 5))


def test_the_judges_word_is_said_to_be_taken_for_independent_answers() -> None:
    assert (
        "It also assumes that answers within a document are independent. Intervals come out wider if the "
        "judge is overconfident or answers are correlated."
    ) in basis_in_words(ForecastBasis.JUDGE, None, "coverage")


def test_answers_are_asked_for_what_they_bring() -> None:
    work = "10 claims (about 1 minute)"
    # What is expected is within the wish: the wish is what is named.
    assert effort_in_words(work, 0.4, 0.352, systems=5) == (
        "Answering 10 claims (about 1 minute) should make every interval at most 0.40 wide."
    )
    assert effort_in_words(work, 0.2, 0.2312, systems=1) == (
        "Answering 10 claims (about 1 minute) should make the interval at most 0.24 wide."
    )
    assert effort_in_words(work, 0.2, None, systems=5) == (
        "No interval width can be forecast yet. Start with 10 claims (about 1 minute)."
    )


def test_times_under_an_hour_are_in_minutes() -> None:
    assert [duration_in_words(hours) for hours in (0.001, 0.25, 1.0, 1234.5, None)] == [
        "1 min",
        "15 min",
        "1.0 h",
        "1,234.5 h",
        "",
    ]


@pytest.mark.parametrize(
    ("p", "words"), [(0.01, "The estimate already shows which system is best: a."), (0.2, "")]
)
def test_the_leader_is_named_where_the_estimate_settles_it(p: float, words: str) -> None:
    shown = {name: Average(mean, None, None, n=30, left_out=0) for name, mean in (("a", 0.8), ("b", 0.5))}
    known = EstimateTable(
        state=EstimateState.FINE,
        systems={name: Estimated(each, each, tuning=0.0, labels_saved=None) for name, each in shown.items()},
        compared=(PairComparison("a", "b", 0.3, 30, p, p, is_exact=False),),
    )
    assert leader_in_words(known) == words

"""Sentences about a judge are true of their numbers, and none is said that the numbers leave open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotation.analysis.agreement.ratings import CheckFacts
from annotation.analysis.intervals import shown
from annotation.analysis.judge.judge_answers import AnswerBasis
from annotation.analysis.judge.judge_splits import SplitChecks, splits_of
from annotation.analysis.judge.words import (
    basis_in_words,
    commonest_share,
    favour_in_words,
    trust_in_words,
)
from evaluation.judging import Label
from evaluation.statistics import Estimate, JudgeReport, judge_report

YES: list[Label | None] = ["yes"]
NO: list[Label | None] = ["no"]
ALL = AnswerBasis(kind="all", frame=2400, sides=("reference",))
DRAWN = AnswerBasis(
    kind="drawn", frame=2400, sides=("reference",), method="simple random sample", drawn=240, answered=240
)
CHOSEN = AnswerBasis(kind="chosen", frame=2400)
UNKNOWN = Estimate(value=None, low=None, high=None, clusters=0, draws=0, seed=0)


def of(value: float, low: float, high: float, clusters: int = 30) -> Estimate:
    return Estimate(value=value, low=low, high=high, clusters=clusters, draws=2000, seed=0)


def report(wrong_yes: int, wrong_no: int, *, sets: int = 40, yes: int = 30, no: int = 30) -> JudgeReport:
    """In each set the judge says yes to so many of people's no, and no to so many of their yes."""
    judge: list[Label | None] = []
    people: list[Label | None] = []
    for _ in range(sets):
        people += [*YES * yes, *NO * no]
        judge += [*NO * wrong_no, *YES * (yes - wrong_no), *YES * wrong_yes, *NO * (no - wrong_yes)]
    documents = [place // (yes + no) for place in range(len(people))]
    return judge_report(judge, people, documents, draws=100)


def trust(of_judge: JudgeReport, basis: AnswerBasis = ALL) -> tuple[str, bool | None]:
    return trust_in_words(of_judge, basis=basis, people=UNKNOWN, compared=0)


def test_a_good_judge_is_trusted() -> None:
    said, is_trusted = trust(report(1, 1))
    assert is_trusted is True
    assert said == (
        "Yes for coverage: it meets the threshold of 90 % accuracy and 5 points of bias. Accuracy is 97 % (97 % to "
        "97 %) on 2,400 checks in 40 document sets; the majority baseline is 50 %. It says yes as often as people "
        "(+0.0 to +0.0)."
    )


def test_a_judge_that_is_wrong_too_often_is_not() -> None:
    said, is_trusted = trust(report(6, 6))
    assert is_trusted is False
    assert said.startswith("No for coverage: its accuracy is below 90 %. ")


@pytest.mark.parametrize(
    ("wrong_yes", "wrong_no", "words"),
    [
        (5, 0, "says yes over 5 points more often than people"),
        (0, 5, "says yes over 5 points less often than people"),
    ],
)
def test_a_judge_that_leans_is_not(wrong_yes: int, wrong_no: int, words: str) -> None:
    said, is_trusted = trust(report(wrong_yes, wrong_no))
    assert (is_trusted, words in said) == (False, True)


def test_always_giving_the_commonest_answer_is_no_merit() -> None:
    # Right on 56 of 60, where saying yes to all would be right on 57.
    said, is_trusted = trust(report(2, 2, yes=57, no=3))
    assert (is_trusted, "the majority baseline is more accurate" in said) == (
        False,
        True,
    )


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        (DRAWN, "No for coverage: it gave no usable answer on 75 % of the sampled claims. Accuracy is 100 %"),
        (ALL, "No for coverage: it gave no usable answer on 75 % of the claims. Accuracy is 100 %"),
    ],
)
@pytest.mark.parametrize("sets", [4, 40])
def test_a_judge_that_leaves_claims_unscored_is_not(basis: AnswerBasis, words: str, sets: int) -> None:
    people: list[Label | None] = [*YES * 2, *NO * 2] * sets
    judge: list[Label | None] = [*YES, None, None, None] * sets
    documents = [place // 4 for place in range(len(people))]
    said, is_trusted = trust(judge_report(judge, people, documents, draws=100), basis)
    assert (is_trusted, said[: len(words)]) == (False, words)


def test_a_tenth_left_unscored_is_borne() -> None:
    people: list[Label | None] = [*YES * 5, *NO * 5] * 40
    judge: list[Label | None] = [*YES * 5, *NO * 4, None] * 40
    documents = [place // 10 for place in range(len(people))]
    assert trust(judge_report(judge, people, documents, draws=100))[1] is True


def test_few_document_sets_settle_nothing() -> None:
    said, is_trusted = trust(report(0, 0, sets=19))
    assert is_trusted is None
    assert said.startswith(
        "Not known yet for coverage: this needs 20 answered document sets, and there are 19. "
    )
    assert trust(report(0, 0, sets=1))[0].startswith("Not known yet for coverage: 1 document set, 5 needed. ")


def test_an_interval_on_both_sides_of_the_bar_settles_nothing() -> None:
    # Half of the sets 80 %, the other half all right: 90 % with an interval around it.
    people: list[Label | None] = [*YES * 5, *NO * 5] * 40
    judge: list[Label | None] = [*YES * 4, *NO * 5, *YES, *YES * 5, *NO * 5] * 20
    documents = [place // 10 for place in range(400)]
    said, is_trusted = trust(judge_report(judge, people, documents, draws=200))
    assert is_trusted is None
    assert said.startswith(
        "Not known yet for coverage: the intervals do not show whether it meets the threshold of 90 % accuracy"
    )


def test_no_better_than_the_commonest_answer_settles_nothing() -> None:
    # Right on 57 of 60 in every set, as saying yes to all would be.
    said, is_trusted = trust(report(1, 2, yes=57, no=3))
    assert is_trusted is None
    assert said.startswith("Not known yet for coverage: the majority baseline may be as accurate. ")


def test_a_volunteered_sample_is_named_in_the_answer() -> None:
    said, _ = trust(report(1, 1), replace(CHOSEN, sides=("peer",)))
    assert said.startswith(
        "Yes for the alignment checks that people answered, which are not a random sample: it meets the threshold of "
    )


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        (
            AnswerBasis(kind="uneven", frame=2400, drawn=240, answered=240),
            "Yes for the checks sampled with unequal probabilities: it meets the threshold of ",
        ),
        (
            AnswerBasis(kind="uneven", frame=2400, drawn=240, answered=240, others=3),
            "Yes for the checks sampled with unequal probabilities or chosen by people: it meets the threshold of ",
        ),
        (
            AnswerBasis(kind="open", frame=2400, drawn=240, answered=100),
            "Yes for the checks answered so far: it meets the threshold of ",
        ),
    ],
)
def test_drawn_checks_are_not_called_chosen(basis: AnswerBasis, words: str) -> None:
    assert trust(report(1, 1), basis)[0].startswith(words)


def test_a_judge_that_leans_nowhere_has_no_interval_of_its_bias_and_that_is_said() -> None:
    said, is_trusted = trust(shown(report(0, 0)))
    assert is_trusted is None
    assert said.startswith(
        "Not known yet for coverage: bias is the same in all document sets, so it has no interval. Accuracy is 100 %"
    )


def test_people_among_themselves_stand_beside() -> None:
    said, _ = trust_in_words(report(1, 1), basis=ALL, people=of(0.86, 0.8, 0.9), compared=120)
    assert said.endswith(
        " Two people agree in 86 % (80 % to 90 %) of pairs of answers over 120 checks, counting unsure as no."
    )


def test_a_judge_without_answers_is_nobodys() -> None:
    assert trust(judge_report([None], ["yes"], ["a"]))[1] is None


def test_unscored_checks_are_not_in_the_commonest_share() -> None:
    # Of the two that it answered one is yes; the three others would make no the commonest by far.
    assert (
        commonest_share(judge_report(["yes", "no", None, None, None], ["yes", "no", "no", "no", "no"])) == 0.5
    )


def test_divided_checks_are_no_part_of_all() -> None:
    assert basis_in_words(ALL, 2390).endswith("describe the 2,390 on which they are not evenly divided.")


def test_drawn_claims_that_were_changed_since_are_said_to_be_left_out() -> None:
    assert basis_in_words(replace(DRAWN, changed=2), 238) == (
        "Of 2,400 checks of coverage, 240 were sampled (simple random sample) and all are answered: 2 whose claims "
        "were changed since are left out, so the figures represent the "
        "unchanged claims."
    )


def test_a_draw_is_named_by_how_it_was_drawn() -> None:
    assert basis_in_words(DRAWN, 240) == (
        "Of 2,400 checks of coverage, 240 were sampled (simple random sample) and all are answered: the figures "
        "represent all 2,400."
    )


def test_pooled_samples_are_counted_and_what_came_after_is_named() -> None:
    assert basis_in_words(replace(DRAWN, samples=3, others=1, came_after=2), 240) == (
        "Of 2,400 checks of coverage, 240 were sampled (3 random samples, pooled) and all are answered: the figures "
        "represent all 2,400. 1 check that people answered outside the samples is left out. 2 checks that could not "
        "be sampled then are not covered."
    )


def held(sets: int, lenient: int) -> SplitChecks:
    """In each set two checks of each of two systems, of people's no: the judge says yes to so many of a's."""
    facts = [
        CheckFacts(
            key=0,
            side="reference",
            has_number=False,
            claim="",
            judge_label=None,
            judge_probability=None,
            system=system,
            target_words=None,
            peer_words=None,
            external_id=str(place),
            group="",
        )
        for place in range(sets)
        for system in "aabb"
    ]
    labels: list[Label | None] = [*YES * lenient, *NO * (4 - lenient)] * sets
    return SplitChecks(facts, labels, NO * 4 * sets, [""] * 4 * sets)


def test_a_judge_that_favours_a_system_is_told_by_whole_documents() -> None:
    # In each set a has 1 of 2 errors and b none: mean 1/4. a's checks add 1 - 1/4 - 1/4, less half of the set's
    # 1 - 4/4: 1/2 in every set. All signs alike: 2 of 2^8 flips go as far.
    [split] = [each for each in splits_of(held(8, 1)) if each.key == "system"]
    assert {part.name: part.bias_p for part in split.parts} == {"a": 2 / 256, "b": 2 / 256}
    assert favour_in_words(split.parts) == (
        "Its bias differs between systems and can change their order: “a” (+50.0 points, p = 0.008), “b” (+0.0 "
        "points, p = 0.008)."
    )


def test_a_judge_as_generous_to_all_systems_favours_none() -> None:
    # It says yes to one check of each in every set.
    facts, _, people, errors = held(8, 0)
    labels: list[Label | None] = [*YES, *NO, *YES, *NO] * 8
    [split] = [each for each in splits_of(SplitChecks(facts, labels, people, errors)) if each.key == "system"]
    assert {part.name: part.bias_p for part in split.parts} == {"a": 1.0, "b": 1.0}
    assert "no system differs significantly" in favour_in_words(split.parts)


def test_few_sets_do_not_tell_whether_a_system_is_favoured() -> None:
    # With 5 sets no p can be below 2/32.
    [split] = [each for each in splits_of(held(5, 1)) if each.key == "system"]
    assert favour_in_words(split.parts) == (
        "Whether it favours a system cannot be told: 5 document sets are too few."
    )

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import Label
from evaluation.errors import InvalidLabel, LengthMismatch
from evaluation.statistics import self_agreement
from evaluation.statistics._judge import judge_report, judge_reports

LABELS = st.sampled_from(["yes", "no", "unsure", None])

# Pairs of judge and person: yes/yes 3, yes/no 1, no/yes 1, no/no 2, unsure/yes 1, no/unsure 1, unscored/no 1, one
# unanswered.
JUDGE: list[Label | None] = ["yes", "yes", "yes", "yes", "no", "no", "no", "unsure", "no", None, "yes"]
HUMAN: list[Label | None] = ["yes", "yes", "yes", "no", "yes", "no", "no", "yes", "unsure", "no", None]


def test_the_confusion_keeps_every_answer() -> None:
    report = judge_report(JUDGE, HUMAN)
    counts = {
        (said, by): count for said, row in report.confusion.items() for by, count in row.items() if count
    }
    assert counts == {
        ("yes", "yes"): 3,
        ("yes", "no"): 1,
        ("no", "yes"): 1,
        ("no", "no"): 2,
        ("no", "unsure"): 1,
        ("unsure", "yes"): 1,
        ("unscored", "no"): 1,
    }
    assert (report.checks, report.scored, report.left_out) == (10, 9, 1)


def test_every_figure_worked_out() -> None:
    # Of nine scored checks, both say yes to 3, only the judge to 1, only the person to 2, and neither to 3.
    report = judge_report(JUDGE, HUMAN)
    assert report.answered.value == pytest.approx(9 / 10)
    assert report.accuracy.value == pytest.approx(6 / 9)
    assert report.sensitivity.value == pytest.approx(3 / 5)
    assert report.specificity.value == pytest.approx(3 / 4)
    assert report.precision.value == pytest.approx(3 / 4)
    assert report.bias.value == pytest.approx(4 / 9 - 5 / 9)
    # Agreement by chance is 4/9 * 5/9 + 5/9 * 4/9 = 40/81, so kappa is (54/81 - 40/81) / (41/81).
    assert report.kappa.value == pytest.approx(14 / 41)


def test_what_has_no_denominator_is_none() -> None:
    report = judge_report(["no", "no"], ["no", "unsure"])
    assert (report.sensitivity.value, report.precision.value, report.kappa.value) == (None, None, None)
    assert report.specificity.value == 1
    empty = judge_report([], [])
    assert (empty.accuracy.value, empty.answered.value, empty.checks, empty.documents) == (None, None, 0, 0)


def test_documents_are_drawn_whole() -> None:
    # The judge is always right in a and always wrong in b, so resamples have an accuracy of 1, .5, .5 and 0.
    report = judge_report(["yes", "no"] * 4, ["yes", "no"] * 2 + ["no", "yes"] * 2, list("aaaabbbb"))
    assert (report.accuracy.value, report.accuracy.low, report.accuracy.high) == (0.5, 0, 1)
    assert report.documents == 2


def test_clusters_widen_the_interval_as_far_as_they_agree() -> None:
    # 100 checks are in ten documents that are right or wrong as a whole: the error is .5 / sqrt(10) instead of .5 /
    # 10.
    judge: list[Label] = ["yes"] * 100
    human: list[Label] = (["yes"] * 10 + ["no"] * 10) * 5
    alone = judge_report(judge, human).accuracy
    together = judge_report(judge, human, [number // 10 for number in range(100)]).accuracy
    assert alone.low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.015)
    assert together.low < 0.3


def test_few_checks_without_an_error_are_no_certainty() -> None:
    report = judge_report(["yes"] * 5, ["yes"] * 5)
    assert report.accuracy.low == pytest.approx(0.025 ** (1 / 5))


def test_parts_are_reported_by_themselves() -> None:
    parts = ["short", "long"] * 5 + ["short"]
    reports = judge_reports(JUDGE, HUMAN, parts)
    assert list(reports) == ["short", "long"]
    assert reports["long"] == judge_report(JUDGE[1::2], HUMAN[1::2], range(1, 11, 2))
    assert sum(report.checks for report in reports.values()) == 10


@given(st.lists(st.tuples(LABELS, LABELS), max_size=20))
def test_figures_are_bounded_and_counts_add_up(pairs: list[tuple[Label | None, Label | None]]) -> None:
    report = judge_report([one for one, _ in pairs], [other for _, other in pairs], draws=5)
    assert sum(sum(row.values()) for row in report.confusion.values()) == report.checks
    assert report.checks + report.left_out == len(pairs)
    for share in (report.answered, report.accuracy, report.sensitivity, report.specificity, report.precision):
        assert share.value is None or 0 <= share.value <= 1
    assert report.kappa.value is None or -1 <= report.kappa.value <= 1


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidLabel, match="'maybe'"):
        judge_report(["maybe"], ["yes"])  # type: ignore[list-item]
    with pytest.raises(LengthMismatch, match="documents"):
        judge_report(["yes"], ["yes"], [])
    with pytest.raises(LengthMismatch, match="parts"):
        judge_reports(["yes"], ["yes"], [])


def test_flips_by_label_and_length() -> None:
    found = self_agreement(
        ["yes", "yes", "no", "no"], ["yes", "no", "no", "no"], [5, 20, 5, 9], ["a", "a", "b", "b"]
    )
    assert (found.checks, found.flips.value) == (4, 0.25)
    assert found.flips.low is not None
    assert {name: part.value for name, part in found.by_label.items()} == {"yes": 0.5, "no": 0.0}
    assert {name: part.value for name, part in found.by_length.items()} == {
        "up to 8 words": 0.0,
        "9 to 16 words": 0.0,
        "more than 16 words": 1.0,
    }
    # Observed agreement is 3/4, by chance 1/2 x 1/4 + 1/2 x 3/4 = 1/2, so kappa is 1/2.
    assert found.kappa_ceiling == pytest.approx(0.5**0.5)


def test_a_judge_that_never_says_anything_else_has_no_ceiling() -> None:
    found = self_agreement(["yes", "yes"], ["yes", "yes"], [3, 3], ["a", "b"])
    assert (found.flips.value, found.kappa_ceiling) == (0.0, None)


def test_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(LengthMismatch):
        self_agreement(["yes"], ["yes", "no"], [1], ["a"])

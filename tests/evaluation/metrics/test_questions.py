import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation._labels import Label
from evaluation.errors import LengthMismatch
from evaluation.metrics._questions import question_coverage, question_coverage_or_none

Answers = list[Label | None]
ANSWERS: list[Label | None] = ["yes", "no", "unsure", None]
PAIRS = st.lists(st.tuples(st.sampled_from(ANSWERS), st.sampled_from(ANSWERS)), max_size=8)


@pytest.mark.parametrize(
    ("source", "summary", "library", "row"),
    [
        (["yes", "yes", "no"], ["yes", "no", "no"], 0.5, 0.5),
        (["yes", "yes", "yes", "yes"], ["yes", "yes", "yes", "no"], 0.75, 0.75),
        (["yes", "yes"], ["yes", None], 1.0, 1.0),  # a pair with an unscored answer is ignored
        ([None, "yes"], ["yes", "no"], 0.0, 0.0),
        (["yes"], ["unsure"], 0.0, 0.0),
        (["no"], ["yes"], 0.0, None),  # the source answers no question with yes
        ([], [], 0.0, None),
        (["no"], [None], 0.0, None),
        (["yes"], [None], None, None),  # a missing answer is not 0
        ([None], ["yes"], None, None),
    ],
)
def test_question_coverage(
    source: Answers, summary: Answers, library: float | None, row: float | None
) -> None:
    assert question_coverage(source, summary) == library
    assert question_coverage_or_none(source, summary) == row


def test_unequal_numbers_of_answers_are_refused() -> None:
    with pytest.raises(LengthMismatch, match="there are 2 and 1"):
        question_coverage(["yes", "no"], ["yes"])


@given(PAIRS)
def test_bounded_and_independent_of_the_order(pairs: list[tuple[Label | None, Label | None]]) -> None:
    value = question_coverage([source for source, _ in pairs], [summary for _, summary in pairs])
    assert value is None or 0 <= value <= 1
    turned = pairs[::-1]
    assert question_coverage([source for source, _ in turned], [summary for _, summary in turned]) == value

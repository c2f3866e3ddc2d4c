"""Question sets as data, and a project's own questions."""

import pytest

from evaluation.errors import InvalidQuestion
from evaluation.metrics import QUESTION_SETS, own_questions, quality_questions

CLEAR = {"id": "clear", "text": "Is it clear?", "answers": ["no", "yes"]}


@pytest.mark.parametrize(
    ("name", "questions", "values"),
    [
        ("none", 0, range(0)),
        ("duc2002", 12, range(0, 4)),  # 0, 1-5, 6-10, >10 are published as 0 to 3
        ("duc2004", 7, range(1, 6)),  # A to E
        ("duc2006", 5, range(1, 6)),
        ("summeval", 4, range(1, 6)),
    ],
)
def test_the_published_sets(name: str, questions: int, values: range) -> None:
    asked = quality_questions(name)
    assert len(asked) == questions
    assert {question.values for question in asked} <= {values}
    assert len({question.id for question in asked}) == questions


def test_the_counts_of_2002_are_ids_1_to_12() -> None:
    assert [question.id for question in QUESTION_SETS["duc2002"]] == [str(n) for n in range(1, 13)]
    assert QUESTION_SETS["duc2002"][0].choices == (
        (0, "none"),
        (1, "1 to 5"),
        (2, "6 to 10"),
        (3, "more than 10"),
    )


def test_every_published_set_could_be_somebodys_own() -> None:
    for questions in QUESTION_SETS.values():
        entries = [
            {"id": each.id, "text": each.text, "answers": list(each.answers), "first": each.first}
            for each in questions
        ]
        assert own_questions(entries) == questions


def test_own_answers_count_from_0_or_from_first() -> None:
    one, two = own_questions([CLEAR, {**CLEAR, "id": "2", "first": 1}])
    assert (one.choices, two.choices) == (((0, "no"), (1, "yes")), ((1, "no"), (2, "yes")))
    assert quality_questions("own", [CLEAR]) == (one,)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"id": "1"}, "a list such as"),
        ("questions", "a list such as"),
        (["Is it clear?"], "Question 1 is not an object"),
        ([CLEAR, CLEAR], 'the id "clear"'),
        ([{**CLEAR, "id": "two words"}], 'Question 1 needs an "id"'),
        ([{**CLEAR, "id": 1}], 'Question 1 needs an "id"'),
        ([CLEAR, {**CLEAR, "id": "2", "text": " "}], 'Question 2 needs a "text"'),
        ([{**CLEAR, "answers": ["yes"]}], "2 to 11"),
        ([{**CLEAR, "answers": "yes"}], "2 to 11"),
        ([{**CLEAR, "answers": ["yes", "yes "]}], "the same answer twice"),
        ([{**CLEAR, "answers": ["yes", 1]}], "Every answer of question 1"),
        ([{**CLEAR, "first": True}], '"first" of question 1'),
        ([{**CLEAR, "first": -1}], '"first" of question 1'),
        ([{**CLEAR, "weight": 2}], '"weight"'),
        ([{**CLEAR, "id": str(n)} for n in range(41)], "at most 40"),
    ],
)
def test_faults_are_named_with_their_place(entries: object, said: str) -> None:
    with pytest.raises(InvalidQuestion, match=said):
        own_questions(entries)


def test_an_unknown_set_is_refused() -> None:
    with pytest.raises(InvalidQuestion, match="duc1999"):
        quality_questions("duc1999")

"""Quality questions as lines: written and read back without loss."""

import pytest
from django.core.exceptions import ValidationError

from annotation.projects.question_lines import as_lines, from_lines

QUESTIONS = [
    {"id": "clear", "text": "Is it clear?", "answers": ["no", "yes"]},
    {"id": "q-2", "text": "How well: overall? (1 is bad)", "answers": ["a|b", "c: d", "e"], "first": 1},
]


def test_lines_are_read_back_as_they_were() -> None:
    assert from_lines(as_lines(QUESTIONS)) == QUESTIONS


def test_one_question_a_line_and_empty_lines_between() -> None:
    assert as_lines(QUESTIONS[:1]) == "clear: Is it clear? | no | yes"
    assert from_lines("\n clear :  Is it clear? |no| yes \n\n") == QUESTIONS[:1]


def test_a_line_without_a_name_is_told_by_its_number() -> None:
    with pytest.raises(ValidationError, match="Line 2 has no name"):
        from_lines("clear: Is it clear? | no | yes\nIs it good? | no | yes")

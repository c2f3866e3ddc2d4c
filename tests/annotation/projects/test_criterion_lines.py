"""Criteria as lines: written and read back without loss."""

import pytest
from django.core.exceptions import ValidationError

from annotation.projects.criterion_lines import as_lines, from_lines
from evaluation.metrics import PACKS, UNMARKED, Criterion

CRITERIA = [
    Criterion("clear", "Is it clear?", points=((0, "no"), (1, "partly"), (2, "yes"))),
    Criterion("q-2", "How well: overall? (1 is bad)", points=((1, "a|b"), (2, "c: d")), reads="source"),
    Criterion("neutral", "Is it neutral?", "yes_no", higher_is_better=False),
    Criterion("told", "How much is told?", "percent", reads="reference", asked="after"),
    UNMARKED,
]


def test_lines_are_read_back_as_they_were() -> None:
    assert from_lines(as_lines(CRITERIA)) == CRITERIA
    for pack in PACKS.values():
        assert from_lines(as_lines(pack)) == list(pack)


def test_one_criterion_a_line_and_empty_lines_between() -> None:
    assert as_lines(CRITERIA[:1]) == "clear: Is it clear? | no | partly | yes"
    assert as_lines(CRITERIA[3:4]) == "told (after, with reference): How much is told? | percent"
    assert from_lines("\n clear :  Is it clear? |no| partly |yes \n\n") == CRITERIA[:1]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Is it good? | no | yes", "Line 2 has no name"),
        ("good (often): Is it? | no | yes", "Line 2: “often”"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(line: str, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        from_lines(f"clear: Is it clear? | no | yes\n{line}")

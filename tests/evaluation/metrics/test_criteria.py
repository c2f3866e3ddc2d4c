import pytest

from evaluation.metrics import PACKS, UNMARKED, Criterion


@pytest.mark.parametrize(
    ("name", "questions", "values"),
    [
        ("DUC 2002", 12, (0, 1, 2, 3)),  # 0, 1-5, 6-10, >10 are published as 0 to 3
        ("DUC 2004", 7, (1, 2, 3, 4, 5)),  # A to E
        ("DUC 2006", 5, (1, 2, 3, 4, 5)),
        ("SummEval", 4, (1, 2, 3, 4, 5)),
    ],
)
def test_the_published_packs(name: str, questions: int, values: tuple[int, ...]) -> None:
    asked = PACKS[name]
    assert len({criterion.name for criterion in asked}) == len(asked) == questions
    assert {criterion.values for criterion in asked} == {values}


@pytest.mark.parametrize(
    ("criterion", "values", "choices"),
    [
        (Criterion("a", "?", points=((1, "no"), (2, "yes"))), (1, 2), ((1, "no"), (2, "yes"))),
        (Criterion("a", "?", "yes_no"), (0, 1), ((0, "no"), (1, "yes"))),
        (Criterion("a", "?", "percent"), tuple(range(101)), ()),
        (Criterion("a", "?", "share"), (), ()),
        (UNMARKED, (0, 20, 40, 60, 80, 100), tuple((n, f"{n} %") for n in (0, 20, 40, 60, 80, 100))),
    ],
)
def test_every_scale_names_its_values(
    criterion: Criterion, values: tuple[int, ...], choices: tuple[tuple[int, str], ...]
) -> None:
    assert (criterion.values, criterion.choices) == (values, choices)

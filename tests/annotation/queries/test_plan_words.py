"""The plan's sentences say what its numbers say."""

from __future__ import annotations

import pytest

from annotation.queries.plan_words import (
    Short,
    documents_in_words,
    hours_in_words,
    wanted_in_words,
)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        (
            {"people": 500, "uniform": 300, "stratified": 200, "active": 200},
            "No interval wider than 0.1: 200 answers do it in a draw that is stratified or active; with people alone "
            "it takes 500.",
        ),
        (
            {"people": None, "uniform": 300, "stratified": 300, "active": 300},
            "No interval wider than 0.1: 300 answers do it in a draw that is uniform, stratified or active; with "
            "people alone no size does.",
        ),
        (
            {"people": 1500, "uniform": None, "stratified": None, "active": None},
            "No interval wider than 0.1: 1,500 answers do it, with people alone.",
        ),
    ],
)
def test_the_cheapest_designs_are_named(sizes: dict[str, int | None], words: str) -> None:
    assert wanted_in_words(0.1, sizes, [], 2) == words  # type: ignore[arg-type]


def test_who_lacks_document_sets_is_named_with_how_many() -> None:
    one = [Short("birch", held=3, needed=9)]
    assert wanted_in_words(0.1, {}, one, 2).endswith(
        "birch would need about 9 instead of 3, every check in them answered; the others have enough."
    )
    both = [*one, Short("alder", held=11, needed=1200)]
    assert "Every system would need more, most of all alder: about 1,200 instead of 11" in wanted_in_words(
        0.1, {}, both, 2
    )
    assert "2 of 5 systems would need more" in wanted_in_words(0.1, {}, both, 5)


@pytest.mark.parametrize(
    ("documents", "words"),
    [(1, "There is 1 document set here. Below 15"), (14, "Below 15"), (15, "Below 20"), (19, "Below 20")],
)
def test_few_document_sets_are_warned_of(documents: int, words: str) -> None:
    assert words in documents_in_words(documents)


def test_enough_document_sets_are_no_reason_to_warn() -> None:
    assert documents_in_words(20) == ""


def test_no_time_no_hours() -> None:
    assert "no hours are told" in hours_in_words(None, 0)
    assert (
        hours_in_words(12.4, 1)
        == "Hours are at 12 s a check, the median of the 1 timed answer in this project."
    )

"""Sentences about agreement say what their numbers say, and no more."""

from __future__ import annotations

import pytest

from annotation.analysis.agreement.words import between, drift_in_words, in_percent, scale_in_words
from evaluation.statistics import Estimate


def of(
    value: float | None, low: float | None = None, high: float | None = None, clusters: int = 30
) -> Estimate:
    return Estimate(value=value, low=low, high=high, clusters=clusters, draws=2000, seed=0)


def told(alpha: Estimate, items: int = 40) -> str:
    return scale_in_words(alpha, of(0.9), items=items, noun="checks")


@pytest.mark.parametrize(
    ("alpha", "words"),
    [
        (of(0.85, 0.81, 0.9), "reliable data is 0.8; the whole interval reaches it."),
        (of(0.85, 0.7, 0.9), "reliable data is 0.8; the value reaches it, the whole interval does not."),
        (of(1.0), "Alpha is 1.00 (no interval: all document sets give the same value) over 40 checks"),
        (of(1.0), "reliable data is 0.8; the value reaches it, but there is no interval."),
        (of(0.7, 0.6, 0.8), "tentative conclusions (0.667), not the one for reliable data (0.8)."),
        (of(0.5, 0.4, 0.6), "below Krippendorff's threshold for tentative conclusions (0.667)."),
        (of(-0.1, -0.2, 0.0), "no better than chance."),
    ],
)
def test_what_alpha_is_good_for(alpha: Estimate, words: str) -> None:
    assert words in told(alpha)


def test_the_numbers_stand_in_the_sentence() -> None:
    assert told(of(0.85, 0.81, 0.9)) == (
        "Two people gave the same answer on 90 % of the checks that both answered. Alpha is 0.85 (0.81 to 0.90) "
        "over 40 checks in 30 document sets. Krippendorff's threshold for reliable data is 0.8; the whole interval "
        "reaches it."
    )


def test_few_shared_items_tell_nothing() -> None:
    said = told(of(-0.1, clusters=1), items=6)
    assert "6 checks in 1 document set are too few to tell how well people agree." in said
    assert "chance" not in said
    assert "1 check in 1 document set is too few" in told(of(0.5, clusters=1), items=1)
    assert "too few to tell" in told(of(None), items=6)
    assert "better than chance." in told(of(-0.1, -0.3, 0.2))


def test_few_document_sets_are_said_to_be_few() -> None:
    assert told(of(0.5, 0.4, 0.6, clusters=9)).endswith(
        "The interval is rough because it rests on 9 document sets."
    )
    assert "rough" not in told(of(0.5, 0.4, 0.6, clusters=10))
    assert "is 0.50 (no interval: 1 document set, 5 needed) over 40 checks" in told(of(0.5, clusters=1))


def test_nothing_and_no_difference() -> None:
    assert told(of(None), items=0) == ("No agreement yet: no two people have answered the same checks.")
    assert (
        "People gave the same answer to all 40 checks that two or more answered. Alpha is undefined"
        in told(of(None))
    )


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (of(0.8, 0.7, 0.9), of(0.5, 0.4, 0.6), "Agreement fell: alpha is 0.80 (0.70 to 0.90)"),
        (of(0.5, 0.4, 0.6), of(0.8, 0.7, 0.9), "Agreement rose: "),
        (of(0.5, 0.4, 0.7), of(0.8, 0.7, 0.9), "Over time, "),
        (of(0.5), of(0.8, 0.7, 0.9), "is unknown"),
        (
            of(0.5, clusters=3),
            of(0.8, clusters=4),
            "a third of the work is too small (no interval: 3 document sets, 5 needed).",
        ),
        (of(None), of(None), "is unknown"),
    ],
)
def test_drift_is_said_where_the_intervals_part(first: Estimate, last: Estimate, words: str) -> None:
    assert words in drift_in_words(first, last)


def test_a_share_is_never_rounded_to_all_or_nothing() -> None:
    assert [in_percent(share) for share in (0.0, 0.001, 0.5, 0.999, 1.0, None)] == [
        "0 %",
        "under 1 %",
        "50 %",
        "over 99 %",
        "100 %",
        "not known",
    ]
    assert [between(of(0.5, 0.4, 0.6)), between(of(0.5)), between(of(None))] == [
        "0.50 (0.40 to 0.60)",
        "0.50 (no interval: all document sets give the same value)",
        "not known",
    ]

"""Percents as dots: where they stand, and that equal ones do not hide each other."""

from __future__ import annotations

from annotation.adjudicating.queries.voices import NamelessVoice
from annotation.adjudicating.web.dots import dot_axis


def voice(letter: str, percent: int | None) -> NamelessVoice:
    return NamelessVoice(
        token=letter,
        letter=letter,
        value=(percent or 0) / 100,
        label=None if percent is not None else "yes",
        percent=percent,
        reason="",
        error_type="",
        evidence=(),
        is_own=False,
    )


def test_dots_stand_at_their_percents() -> None:
    axis = dot_axis([voice("A", 0), voice("B", 25), voice("C", 100)])
    assert axis is not None
    # 18 + p * 444 / 100.
    assert [dot.x for dot in axis.dots] == ["18.0", "129.0", "462.0"]
    assert (axis.low, axis.high) == ("18.0", "462.0")
    assert axis.words == "A 0 %, B 25 %, C 100 %"


def test_equal_percents_stand_on_each_other() -> None:
    axis = dot_axis([voice("A", 40), voice("B", 40), voice("C", 60)])
    assert axis is not None
    heights = {dot.text: float(dot.y) for dot in axis.dots}
    # 23 higher, for dots of 20 across.
    assert heights["A"] - heights["B"] == 23
    assert heights["A"] == heights["C"]
    assert min(heights.values()) >= 10


def test_labels_have_no_axis() -> None:
    assert dot_axis([voice("A", None)]) is None

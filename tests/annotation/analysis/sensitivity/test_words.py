"""Sentences on the order say what its numbers say."""

from __future__ import annotations

import pytest

from annotation.analysis.sensitivity.sensitivity import SystemOrder, Turning
from annotation.analysis.sensitivity.words import (
    COMPOSITE,
    ONE_SYSTEM,
    judges_in_words,
    length_in_words,
    people_in_words,
    weight_in_words,
)
from evaluation.statistics import crossings, leads


def turning(at_zero: dict[str, float], at_one: dict[str, float], *, own: float = 0.5) -> Turning:
    count = len(at_zero)
    return Turning(
        own=own,
        at_zero=at_zero,
        at_one=at_one,
        orders=(),
        weights=(),
        crossings=crossings(at_zero, at_one),
        leads=leads(at_zero, at_one),
        pairs=count * (count - 1) // 2,
        left_out=0,
    )


def say(at_zero: dict[str, float], at_one: dict[str, float], *, own: float = 0.5) -> str:
    return length_in_words(turning(at_zero, at_one, own=own), has_target=True)


def order(name: str, *ahead: str, tau: float | None = 1.0) -> SystemOrder:
    return SystemOrder(name=name, means={}, ranks={}, tau=tau, ahead=ahead, moved=())


def test_a_leader_at_every_weight_is_said_to_be_one() -> None:
    assert say({"a": 0.6, "b": 0.2}, {"a": 0.7, "b": 0.5}) == (
        "The composite is a × coverage + (1 − a) × brevity. a leads at every a from 0 to 1."
    )
    three = say({"a": 0.6, "b": 0.2, "c": 0.1}, {"a": 0.7, "b": 0.5, "c": 0.1})
    assert three.endswith("No systems change places.")


def test_every_change_of_the_leader_is_told_with_its_weight() -> None:
    said = say({"x": 1.0, "y": 0.6, "z": 0.0}, {"x": 0.0, "y": 0.6, "z": 1.0}, own=0.45)
    assert said == (
        f"{COMPOSITE} x leads up to a = 0.4, then y up to 0.6, then z. 3 of 3 pairs of systems change "
        "places; closest to the current a = 0.45, y overtakes x at a = 0.4."
    )


def test_of_many_changes_only_the_one_in_force_is_named() -> None:
    # Tangents of a parabola: each leads on its own stretch of a fifth or so.
    slopes = [-0.8, -0.4, 0.0, 0.4, 0.8, 1.2]
    zero = {f"s{place}": 0.5 - slope**2 / 4 - slope / 10 for place, slope in enumerate(slopes)}
    one = {name: zero[name] + slope for name, slope in zip(zero, slopes, strict=True)}
    lines = turning(zero, one)
    assert len(lines.leads) > 4
    (now,) = [lead for lead in lines.leads if lead.low <= 0.45 <= lead.high]
    said = length_in_words(turning(zero, one, own=0.45), has_target=True)
    assert f"At the current a = 0.45, {now.systems[0]} leads" in said


def test_without_a_target_brevity_is_unknown() -> None:
    assert length_in_words(None, has_target=False).startswith("Without a target length there is no brevity")


@pytest.mark.parametrize(
    ("weight", "words"),
    [(0.0, "0"), (1.0, "1"), (2 / 3, "0.667"), (0.5, "0.5"), (0.00001, "0.001"), (0.99999, "0.999")],
)
def test_a_weight_between_the_ends_is_never_told_as_one(weight: float, words: str) -> None:
    assert weight_in_words(weight) == words


def test_nobody_on_whom_the_first_place_hangs() -> None:
    orders = [order("ana", "x", tau=0.8), order("ben", "x")]
    assert people_in_words(orders, ["x"], systems=2) == (
        "Without any one of the 2 people, x would still lead. The lowest Kendall's tau with the ranking by "
        "coverage is 0.80."
    )
    assert people_in_words(orders[:1], ["x"], systems=2).startswith(
        "Only one person's answers count. Without ana, x would"
    )


def test_somebody_on_whom_the_first_place_hangs() -> None:
    orders = [order("ana", "y", tau=None), order("ben", "x", "y", tau=None)]
    assert people_in_words(orders, ["x"], systems=2) == (
        "Without ana, y would lead instead of x. Without ben, x and y would be tied for first instead of x."
    )


def test_nobody_to_leave_out() -> None:
    assert people_in_words([], ["x"], systems=2).startswith("No person's answers affect these scores")


def test_of_one_system_nothing_is_said_of_a_lead_or_an_order() -> None:
    alone = [order("ana", "x", tau=None)]
    assert people_in_words(alone, ["x"], systems=1) == ONE_SYSTEM
    assert judges_in_words(alone, ["x"], judge="lexical", systems=1) == ONE_SYSTEM
    assert judges_in_words([], ["x"], judge="", systems=1) == ONE_SYSTEM
    assert say({"x": 0.6}, {"x": 0.7}) == "Only x has a mean, so there is nothing to compare."
    assert not {"lead", "order"} & set(ONE_SYSTEM.split())

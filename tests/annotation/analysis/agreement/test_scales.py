from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.analysis.agreement.agreement import _judge_pairs
from annotation.analysis.agreement.ratings import RatedItem, Scale
from annotation.analysis.agreement.scales import scales_of
from evaluation.metrics import Criterion
from tests.annotation.answering import answer_fourteen
from tests.annotation.rated import ask

if TYPE_CHECKING:
    from tests.annotation.cast import World


def test_every_scale_is_there_before_anybody_answers(world: World) -> None:
    scales = scales_of(world.project)
    assert [scale.key for scale in scales] == [
        "verdicts-reference",
        "verdicts-summary",
        "percents",
        "rating-unmarked",
    ]
    assert not any(scale.ratings for scale in scales)


def test_criteria_are_scales_of_their_own(world: World) -> None:
    ask(
        world.project,
        Criterion("clear", "Is it clear?", points=((1, "no"), (2, "partly"), (3, "yes"))),
        Criterion("neutral", "Is it neutral?", "yes_no"),
    )
    assert [
        (scale.key, scale.level, scale.weights, scale.categories) for scale in scales_of(world.project)[3:]
    ] == [
        ("rating-clear", "ordinal", "quadratic", (1, 2, 3)),
        ("rating-neutral", "nominal", None, (0, 1)),
        ("rating-unmarked", "interval", "quadratic", (0, 20, 40, 60, 80, 100)),
    ]


def test_answers_stand_on_their_side_with_the_judges_beside_them(world: World) -> None:
    answer_fourteen(world)
    reference, summary, *_ = scales_of(world.project)
    # Rex answered all 14 checks and Cleo 12 of them; the judge answered each.
    assert (len(reference.ratings), len(reference.judge), summary.ratings) == (26, 14, ())
    assert set(reference.judge.values()) == {"no"}


def test_kappa_with_the_judge_counts_the_answers_of_the_scale() -> None:
    people, judge = (0, 1, 9, 9), (0, 9, 1, 9)
    rated = tuple(RatedItem(f"{n}", "rex", value, f"{n}", None) for n, value in enumerate(people))
    said = {f"{n}": value for n, value in enumerate(judge)}
    scale = Scale("rating-tone", "Tone", "?", "ordinal", (0, 1, 9), "quadratic", rated, said)
    [pair] = _judge_pairs(scale, "lexical")
    # From 1 to 9 is one answer, as from 0 to 1.
    assert pair.kappa.value == pytest.approx(cohen_kappa_score(people, judge, weights="quadratic"), abs=1e-9)

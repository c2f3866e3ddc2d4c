"""The scales of a project and what stands on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.analysis.agreement.scales import scales_of
from tests.annotation.answering import answer_fourteen

if TYPE_CHECKING:
    from tests.annotation.cast import World


def test_every_scale_is_there_before_anybody_answers(world: World) -> None:
    scales = scales_of(world.project)
    assert [scale.key for scale in scales] == [
        "verdicts-reference",
        "verdicts-peer",
        "percents",
        "unmarked",
    ]
    assert not any(scale.ratings for scale in scales)


def test_questions_of_quality_are_scales_of_their_own(world: World) -> None:
    world.project.question_set = "duc2006"
    # Five questions, between percents and the unmarked peer units.
    keys = [scale.key for scale in scales_of(world.project)]
    assert (keys[2], len(keys[3:-1]), keys[-1]) == ("percents", 5, "unmarked")
    assert all(key.startswith("quality-") for key in keys[3:-1])


def test_answers_stand_on_their_side_with_the_judges_beside_them(world: World) -> None:
    answer_fourteen(world)
    reference, peer, *_ = scales_of(world.project)
    # Rex answered all 14, Cleo 12 of them; the judge has answered each.
    assert (len(reference.ratings), len(reference.judge), peer.ratings) == (26, 14, ())
    assert set(reference.judge.values()) == {"no"}

"""Summarization scores that use questions for one summary and claims for another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import Score

if TYPE_CHECKING:
    from tests.annotation.cast import World


def mix_summarization(world: World) -> None:
    scores = Score.objects.filter(summary__document_set=world.sets["port"])
    scores.filter(summary__system__name="alder").update(
        alignment=0.9, question_coverage=0.5, claim_coverage=0.7, summarization=0.5
    )
    scores.filter(summary__system__name="birch").update(alignment=0.9, claim_coverage=0.6, summarization=0.6)

"""How long each system's summaries are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Avg

from annotation.models import Score

if TYPE_CHECKING:
    from annotation.models import Project


def mean_lengths(project: Project, *, target_words: int | None) -> dict[str, float]:
    """The mean length of each system's summaries at one target length, in the project's unit. One query.

    A system has one summary of a document set at most there, so that this is the mean over document sets as well.
    """
    scores = Score.objects.filter(
        project=project, summary__is_peer=True, summary__target_words=target_words
    ).order_by()
    return dict(scores.values_list("summary__system__name").annotate(Avg("peer_words")))

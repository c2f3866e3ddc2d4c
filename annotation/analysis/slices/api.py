"""The slices of the leaderboard in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.leaderboard import leaderboards
from annotation.analysis.leaderboard.leaderboard import ALL, RANKABLE, RANKED
from annotation.analysis.slices.slices import Slices, slices
from annotation.analysis.slices.split import chosen_split, splits
from annotation.api.access import ApiView
from annotation.api.fields import MOST_WORDS, SliceKey, WordChoice
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid, NotFound


class SlicesQuery(serializers.Serializer[Any]):
    key = SliceKey(
        help_text="A metadata key of document sets, or `group`. Default: the first key that splits them."
    )
    score = WordChoice(choices=RANKABLE, default=RANKED, help_text="The score that is averaged.")
    target_words = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_WORDS,
        help_text="Only summaries of this target length. Default: the length with the most summaries.",
    )
    count_by = SliceKey(
        help_text="A numeric metadata key. Its sum over the document sets of a slice is the weight of the slice."
    )


class SlicesView(ApiView):
    tag = "scores"

    @operation("get_slices", parameters=[SlicesQuery], responses=Slices, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show the slices of the leaderboard: every system's averages by the values of a metadata key or group, and the
        slices in which a system is worse than elsewhere.
        """
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(SlicesQuery)
        target = query.get("target_words", ALL)
        board, _ = leaderboards.board(project, score=query["score"], target_words=target)
        if board is None or (table := board.foremost) is None:
            raise NotFound("No summary has this target length.")
        offered = splits(project)
        split = chosen_split(offered, query["key"] or next(iter(offered), ""))
        if split is None:
            raise Invalid("No metadata key or group splits the document sets.", field="key")
        found = slices(project, split, table, score=query["score"], count_by=query["count_by"])
        return Response(plain(found))

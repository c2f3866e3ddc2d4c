"""Scores: of every peer summary, and of the systems side by side."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery
from annotation.api.schema import operation
from annotation.api.summaries import MOST_WORDS
from annotation.models import SCORES, Score, System
from annotation.permissions import Verb
from annotation.queries.leaderboard import (
    ALL,
    RANKED,
    Average,
    Leaderboard,
    SystemRow,
    TargetTable,
    leaderboard,
)


def _score() -> Any:
    return serializers.FloatField(allow_null=True)


class ScoreRow(serializers.Serializer[Score]):
    """All scores of one peer summary, in [0, 1]; null where nothing can be said, never 0."""

    summary = serializers.CharField(source="summary.public_id")
    document_set = serializers.CharField(source="summary.document_set.public_id")
    document_id = serializers.CharField(source="summary.document_set.external_id")
    system = serializers.CharField(source="summary.system.name")
    target_words = serializers.IntegerField(source="summary.target_words", allow_null=True)
    peer_words = serializers.IntegerField(help_text="Length of the delivered text, in the length unit.")
    coverage = _score()
    coverage_judge = _score()
    coverage_human = _score()
    human_share = _score()
    claim_coverage = _score()
    alignment = _score()
    factual_alignment = _score()
    question_coverage = _score()
    summarization = _score()
    completeness = _score()
    conciseness = _score()
    brevity = _score()
    composite_1 = _score()
    composite_2_3 = _score()
    composite_custom = _score()
    claims = serializers.IntegerField()
    claims_unscored = serializers.IntegerField()
    flags = serializers.ListField(child=serializers.CharField())
    signature = serializers.CharField(help_text="Names the rules that made the scores.")
    computed_at = serializers.DateTimeField()


class ScoreQuery(serializers.Serializer[Any]):
    system = serializers.CharField(required=False, help_text="Scores of the system of that name.")
    document_set = serializers.CharField(required=False, help_text="Scores in the set of that id.")
    target_words = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_WORDS, help_text="Scores at that target length."
    )


class AverageRow(serializers.Serializer[Average]):
    """A macro mean over document sets with its bootstrap interval."""

    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Document sets with a value.")
    left_out = serializers.IntegerField(help_text="Summaries without a value.")


class SystemScores(serializers.Serializer[SystemRow]):
    rank = serializers.IntegerField(
        allow_null=True, help_text="By the score of the leaderboard; equal means share a rank."
    )
    system = serializers.CharField()
    kind = serializers.ChoiceField(choices=System.Kind.choices)
    n = serializers.IntegerField(help_text="Document sets behind the mean that it is ranked by.")
    summaries = serializers.IntegerField(help_text="Peer summaries, with a value or without.")
    document_sets = serializers.IntegerField(help_text="Document sets that hold any of them.")
    claims = serializers.IntegerField()
    claims_unscored = serializers.IntegerField()
    flags = serializers.DictField(child=serializers.IntegerField(), help_text="Summaries by flag.")
    scores = serializers.DictField(child=AverageRow(), help_text="By the name of the score.")


class TargetScores(serializers.Serializer[TargetTable]):
    target_words = serializers.IntegerField(allow_null=True)
    systems = SystemScores(many=True, source="rows")
    mixed = serializers.DictField(
        child=serializers.CharField(),
        help_text="By the name of the score: that its values do not all mean the same, and what they mean.",
    )


class LeaderboardTables(serializers.Serializer[Leaderboard]):
    """One table per target length, since means never cross target lengths."""

    project = serializers.CharField()
    score = serializers.CharField(help_text="What the systems are ranked by.")
    signature = serializers.CharField()
    confidence = serializers.FloatField()
    draws = serializers.IntegerField(help_text="Bootstrap draws behind each interval.")
    seed = serializers.IntegerField()
    captions = serializers.DictField(
        child=serializers.CharField(), help_text="What the interval of each score covers."
    )
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="What the averages rest on and a reader should know."
    )
    tables = TargetScores(many=True)


class LeaderboardQuery(serializers.Serializer[Any]):
    target_words = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_WORDS, help_text="The table of that target length alone."
    )
    score = serializers.ChoiceField(choices=SCORES, default=RANKED, help_text="What to rank systems by.")


class Scores(ApiView):
    tag = "scores"

    @operation("list_scores", parameters=[ScoreQuery, PageQuery], responses=ScoreRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the scores of a project's peer summaries."""
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(ScoreQuery, PageQuery)
        scope = project.scores.all()
        columns = {
            "system": "summary__system__name",
            "document_set": "summary__document_set__public_id",
            "target_words": "summary__target_words",
        }
        wanted = {column: query[name] for name, column in columns.items() if name in query}
        rows = scope.filter(**wanted).select_related("summary__system", "summary__document_set")
        return self.page(
            rows.defer("summary__text", "summary__metadata"),
            ScoreRow,
            query=query,
            scope=scope,
            id_path="summary__public_id",
        )


class LeaderboardView(ApiView):
    tag = "scores"

    @operation("get_leaderboard", parameters=[LeaderboardQuery], responses=LeaderboardTables)
    def get(self, request: Request, slug: str) -> Response:
        """Show every system's averages with their intervals."""
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(LeaderboardQuery)
        target = query.get("target_words", ALL)
        board = leaderboard(project, target_words=target, score=query["score"])
        return Response(LeaderboardTables(board).data)

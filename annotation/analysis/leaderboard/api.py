"""Scores: of every peer summary, and of the systems side by side."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.leaderboard import leaderboards
from annotation.analysis.leaderboard.differences import Differences
from annotation.analysis.leaderboard.leaderboard import ALL, RANKABLE, RANKED, Leaderboard
from annotation.analysis.leaderboard.quality import QualityTable, quality_tables
from annotation.analysis.leaderboard.words import captioned
from annotation.api.access import ApiView, PageQuery
from annotation.api.fields import MOST_WORDS, WordChoice
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.models import SCORES, Score


class ScoreRow(serializers.Serializer[Score]):
    """All scores of one peer summary, in [0, 1]; null where nothing can be said, never 0."""

    summary = serializers.CharField(source="summary.public_id")
    document_set = serializers.CharField(source="summary.document_set.public_id")
    document_id = serializers.CharField(source="summary.document_set.external_id")
    system = serializers.CharField(source="summary.system.name")
    target_words = serializers.IntegerField(source="summary.target_words", allow_null=True)
    peer_words = serializers.IntegerField(help_text="Length of the delivered text, in the length unit.")
    claims = serializers.IntegerField()
    claims_unscored = serializers.IntegerField()
    flags = serializers.ListField(child=serializers.CharField())
    signature = serializers.CharField(help_text="Identifies the scoring rules.")
    computed_at = serializers.DateTimeField()

    def get_fields(self) -> dict[str, Any]:
        """The scores stand after the length, as in the export."""
        named = list(super().get_fields().items())
        first = [name for name, _ in named].index("claims")
        scores = {name: serializers.FloatField(allow_null=True) for name in SCORES}
        return dict(named[:first]) | scores | dict(named[first:])


class ScoreQuery(serializers.Serializer[Any]):
    system = serializers.CharField(required=False, help_text="Scores of this system.")
    document_set = serializers.CharField(required=False, help_text="Scores in the set of that id.")
    target_words = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_WORDS, help_text="Scores at that target length."
    )


class LeaderboardQuery(serializers.Serializer[Any]):
    target_words = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_WORDS, help_text="Only the table of this target length."
    )
    score = WordChoice(
        choices=RANKABLE,
        required=False,
        help_text="What to rank systems by. Default: the estimate if every system has one, otherwise "
        "coverage, as on the page. `score` in the reply says which.",
    )


class DifferencesQuery(serializers.Serializer[Any]):
    target_words = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_WORDS,
        help_text="The target length; if omitted, summaries without one.",
    )
    score = WordChoice(choices=RANKABLE, default=RANKED, help_text="What to compare systems by.")


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

    @operation("get_leaderboard", parameters=[LeaderboardQuery], responses=Leaderboard, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show every system's averages with their intervals."""
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(LeaderboardQuery)
        target = query.get("target_words", ALL)
        if "score" in query:
            found, _ = leaderboards.board(project, score=query["score"], target_words=target, wait=True)
        else:
            found, _ = leaderboards.opening_board(project, target_words=target, wait=True)
        return Response(plain(captioned(found)))


class DifferencesView(ApiView):
    tag = "scores"

    @operation("get_differences", parameters=[DifferencesQuery], responses=Differences, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show every pair of systems compared."""
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(DifferencesQuery)
        found, _ = leaderboards.differences(
            project, score=query["score"], target_words=query.get("target_words"), wait=True
        )
        return Response(plain(found))


class Quality(ApiView):
    tag = "scores"
    pagination_class = None

    @operation("list_quality", parameters=[LeaderboardQuery], responses=list[QualityTable])
    def get(self, request: Request, slug: str) -> Response:
        """List the mean answers to the quality questions by system, one table per target length.

        Of closed assignments.
        """
        project = self.enter(Verb.VIEW_SCORES)
        target = self.query(LeaderboardQuery).get("target_words", ALL)
        return Response(plain(quality_tables(project, target_words=target)))

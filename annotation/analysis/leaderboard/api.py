"""Scores: of every peer summary, and of the systems side by side."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.estimates.estimates import EstimateState
from annotation.analysis.leaderboard import leaderboards
from annotation.analysis.leaderboard.differences import Differences, SystemPair
from annotation.analysis.leaderboard.leaderboard import ALL, RANKABLE, RANKED
from annotation.analysis.leaderboard.quality import QualityMean, QualityRow, QualityTable, quality_tables
from annotation.analysis.leaderboard.words import told
from annotation.analysis.make_analysis import StoredStatistics
from annotation.api.access import ApiView
from annotation.api.fields import MOST_WORDS, WordChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.rows import ChoiceRow
from annotation.api.schema import operation
from annotation.core.lists import Column, Filter, Kind, List
from annotation.core.permissions import Verb
from annotation.models import SCORES, System
from evaluation.metrics import QualityQuestion

SCORE_ROWS = List(
    name="scores",
    verbs=(Verb.VIEW_SCORES,),
    rows=lambda viewer: viewer.project.scores.select_related(
        "summary__system", "summary__document_set"
    ).defer("summary__text", "summary__metadata"),
    order=("pk",),
    key="summary__public_id",
    filters=(
        Filter("system", "summary__system__name", help="Scores of this system."),
        Filter("document_set", "summary__document_set__public_id", help="Scores in the set of that id."),
        Filter(
            "target_words", "summary__target_words", kind=Kind.COUNT, help="Scores at that target length."
        ),
    ),
    columns=(
        Column("summary", "summary.public_id"),
        Column("document_set", "summary.document_set.public_id"),
        Column("document_id", "summary.document_set.external_id", order=True),
        Column("system", "summary.system.name", order=True),
        Column("target_words", "summary.target_words", kind=Kind.COUNT, nullable=True),
        Column("peer_words", kind=Kind.COUNT, help="Length of the delivered text, in the length unit."),
        # As in the export; in [0, 1], null where nothing can be said, never 0.
        *(Column(name, kind=Kind.NUMBER, nullable=True) for name in SCORES),
        Column("claims", kind=Kind.COUNT),
        Column("claims_unscored", kind=Kind.COUNT),
        Column("flags", kind=Kind.TEXTS),
        Column("signature", help="Identifies the scoring rules."),
        Column("computed_at", kind=Kind.MOMENT),
    ),
)

ScoreRow = shape_of(SCORE_ROWS, "ScoreRow")


class AverageRow(serializers.Serializer[Any]):
    """A macro mean over document sets with its bootstrap interval."""

    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Document sets with a value.")
    left_out = serializers.IntegerField(help_text="Summaries without a value.")


class SystemScores(serializers.Serializer[Any]):
    rank = serializers.IntegerField(
        allow_null=True, help_text="By the score of the leaderboard; equal means share a rank."
    )
    system = serializers.CharField()
    kind = WordChoice(choices=System.Kind.choices)
    n = serializers.IntegerField(help_text="Document sets behind the mean that it is ranked by.")
    summaries = serializers.IntegerField(help_text="Peer summaries, with a value or without.")
    document_sets = serializers.IntegerField(help_text="Document sets that hold any of them.")
    claims = serializers.IntegerField()
    claims_unscored = serializers.IntegerField()
    flags = serializers.DictField(child=serializers.IntegerField(), help_text="Summaries by flag.")
    scores = serializers.DictField(child=AverageRow(), help_text="By the name of the score.")


class PlaceShape(serializers.Serializer[Any]):
    letters = serializers.CharField(help_text="Systems that share a letter are not significantly different.")


class RankingShape(serializers.Serializer[Any]):
    """Which differences hold: paired permutation of document sets, of estimates Student's t; Holm's correction over all
    pairs. Letters follow from it.
    """

    sentence = serializers.CharField()
    may_be_best = serializers.ListField(
        child=serializers.CharField(),
        help_text="Systems that may be best by comparisons with the best, with fewer tests than all pairs.",
    )
    pairs = serializers.IntegerField(help_text="Pairs of systems that were compared.")
    holding = serializers.IntegerField(help_text="Significantly different pairs.")
    level = serializers.FloatField()
    groups = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="The largest groups of systems that are not significantly different, best first.",
    )
    places = serializers.DictField(child=PlaceShape(), help_text="By system.")


class EstimatedShape(serializers.Serializer[Any]):
    shown = AverageRow()
    people = AverageRow(help_text="From people's sampled answers alone.")
    tuning = serializers.FloatField(help_text="The weight of the judge's answers; 0 if unused.")
    labels_saved = serializers.FloatField(
        allow_null=True,
        help_text="Additional answers that people alone would need for the same precision in a simple random "
        "sample.",
    )


class EstimateShape(serializers.Serializer[Any]):
    """What people would say of everything, from a random sample that they answered and the judge's answers."""

    state = WordChoice(choices=[state.value for state in EstimateState])
    sentence = serializers.CharField()
    caption = serializers.CharField(help_text="What the intervals cover.")
    draw = serializers.CharField(source="draw_id", allow_blank=True)
    answered = serializers.IntegerField(help_text="Answered items of the finished sample.")
    drawn = serializers.IntegerField(help_text="Items of the whole sample.")
    confidence = serializers.FloatField(help_text="Of each interval by itself.")
    documents = serializers.IntegerField()
    answered_documents = serializers.IntegerField(help_text="Of the system with the fewest.")
    systems = serializers.DictField(child=EstimatedShape(), allow_null=True, help_text="By system.")


class TargetScores(serializers.Serializer[Any]):
    target_words = serializers.IntegerField(allow_null=True)
    systems = SystemScores(many=True, source="rows")
    ranking = RankingShape(allow_null=True, help_text="Of the score that is ranked by.")
    estimate = EstimateShape(allow_null=True, help_text="Of coverage.")
    alignment_estimate = EstimateShape(allow_null=True, help_text="Of alignment.")
    mixed = serializers.DictField(
        child=serializers.CharField(), help_text="By score: a warning if its values mix several measures."
    )


class LeaderboardTables(serializers.Serializer[Any]):
    """One table per target length, since means never cross target lengths."""

    project = serializers.CharField()
    score = serializers.CharField(help_text="What the systems are ranked by.")
    signature = serializers.CharField()
    confidence = serializers.FloatField()
    draws = serializers.IntegerField(help_text="Bootstrap samples behind each interval.")
    seed = serializers.IntegerField()
    captions = serializers.DictField(
        child=serializers.CharField(), help_text="What the interval of each score covers."
    )
    tables = TargetScores(many=True)
    made_at = serializers.SerializerMethodField(help_text="When the figures were computed.")
    is_stale = serializers.SerializerMethodField(
        help_text="Scores have changed, and newer figures are being computed. Ask again."
    )

    def get_made_at(self, board: object) -> datetime | None:
        made: StoredStatistics = self.context["made"]
        return made.made_at

    def get_is_stale(self, board: object) -> bool:
        made: StoredStatistics = self.context["made"]
        return made.is_stale


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


class PairShape(serializers.Serializer[SystemPair]):
    first = serializers.CharField()
    second = serializers.CharField()
    sets = serializers.IntegerField(help_text="Document sets that both have.")
    difference = serializers.FloatField(allow_null=True, help_text="First minus second.")
    p = serializers.FloatField(
        allow_null=True, help_text="Two-sided paired permutation of document sets; Student's t for estimates."
    )
    adjusted_p = serializers.FloatField(allow_null=True, help_text="After Holm's correction over all pairs.")
    holds = serializers.BooleanField(
        help_text="By its own test, or implied by other significant differences."
    )


class DifferencesShape(serializers.Serializer[Differences]):
    """All pairs of systems by one score at one target length, the surest difference first."""

    score = serializers.CharField()
    target_words = serializers.IntegerField(allow_null=True)
    level = serializers.FloatField()
    confidence = serializers.FloatField()
    seed = serializers.IntegerField()
    is_exact = serializers.BooleanField(help_text="All sign flips were enumerated.")
    by_group = serializers.BooleanField(help_text="Groups of document sets are flipped together.")
    holding = serializers.IntegerField()
    pairs = PairShape(many=True)


class Scores(ApiView):
    tag = "scores"

    get = operation_of(SCORE_ROWS, ScoreRow, "List the scores of a project's peer summaries.")


class LeaderboardView(ApiView):
    tag = "scores"

    @operation(
        "get_leaderboard", parameters=[LeaderboardQuery], responses=LeaderboardTables, refusals=("503",)
    )
    def get(self, request: Request, slug: str) -> Response:
        """Show every system's averages with their intervals."""
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(LeaderboardQuery)
        target = query.get("target_words", ALL)
        if "score" in query:
            found, made = leaderboards.board(project, score=query["score"], target_words=target, wait=True)
        else:
            found, made = leaderboards.opening_board(project, target_words=target, wait=True)
        return Response(LeaderboardTables(told(found), context={"made": made}).data)


class DifferencesView(ApiView):
    tag = "scores"

    @operation(
        "get_differences", parameters=[DifferencesQuery], responses=DifferencesShape, refusals=("503",)
    )
    def get(self, request: Request, slug: str) -> Response:
        """Show every pair of systems compared."""
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(DifferencesQuery)
        found, _ = leaderboards.differences(
            project, score=query["score"], target_words=query.get("target_words"), wait=True
        )
        return Response(DifferencesShape(found).data)


class QualityQuestionRow(serializers.Serializer[QualityQuestion]):
    id = serializers.CharField()
    text = serializers.CharField()
    choices = serializers.SerializerMethodField()

    @extend_schema_field(ChoiceRow(many=True))
    def get_choices(self, question: QualityQuestion) -> list[dict[str, object]]:
        return [{"value": value, "text": text} for value, text in question.choices]


class QualityMeanRow(serializers.Serializer[QualityMean]):
    """A macro mean over document sets, in the values of the answers."""

    question = serializers.CharField()
    mean = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Document sets with an answer.")


class SystemQuality(serializers.Serializer[QualityRow]):
    system = serializers.CharField()
    summaries = serializers.IntegerField(help_text="Peer summaries with answers.")
    means = QualityMeanRow(many=True)


class TargetQuality(serializers.Serializer[QualityTable]):
    """The systems at one target length; means never cross target lengths."""

    target_words = serializers.IntegerField(allow_null=True)
    questions = QualityQuestionRow(many=True)
    systems = SystemQuality(many=True, source="rows")


class Quality(ApiView):
    tag = "scores"
    pagination_class = None

    @operation("list_quality", parameters=[LeaderboardQuery], responses=TargetQuality(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the mean answers to the quality questions by system, one table per target length.

        Of closed assignments.
        """
        project = self.enter(Verb.VIEW_SCORES)
        target = self.query(LeaderboardQuery).get("target_words", ALL)
        rows: Any = quality_tables(project, target_words=target)
        return Response(TargetQuality(rows, many=True).data)

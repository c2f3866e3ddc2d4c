from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.leaderboard import leaderboards
from annotation.analysis.leaderboard.leaderboard import ALL, Leaderboard
from annotation.api.access import ApiView
from annotation.api.fields import MOST_WORDS
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.lists import Column, Filter, Kind, List, Viewer
from annotation.core.permissions import Verb
from annotation.models import SCORES, Score
from annotation.scoring.own_scores import COMPOSITE, composites_of


def _with_composites(viewer: Viewer, rows: Sequence[Score]) -> None:
    own = composites_of(viewer.project, summary__in=[row.summary_id for row in rows])
    for row in rows:
        setattr(row, COMPOSITE, own.get(row.summary_id))


SCORE_ROWS = List(
    name="scores",
    verbs=(Verb.VIEW_SCORES,),
    rows=lambda viewer: viewer.project.scores.select_related(
        "summary__system", "summary__document_set"
    ).defer("summary__text", "summary__metadata"),
    order=("pk",),
    key="summary__public_id",
    prepare=_with_composites,
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
        Column("summary_words", kind=Kind.COUNT, help="Length of the delivered text, in the length unit."),
        # A missing value is null and never 0.
        *(Column(name, kind=Kind.NUMBER, nullable=True) for name in (*SCORES, COMPOSITE)),
        Column(
            "passed",
            kind=Kind.FLAG,
            nullable=True,
            help="True if summarization, before its scale, reaches its threshold.",
        ),
        Column("claims", kind=Kind.COUNT),
        Column("claims_unscored", kind=Kind.COUNT),
        Column("flags", kind=Kind.TEXTS),
        Column("signature", help="Identifies the scoring rules."),
        Column("computed_at", kind=Kind.MOMENT),
    ),
)

ScoreRow = shape_of(SCORE_ROWS, "ScoreRow")


class LeaderboardQuery(serializers.Serializer[Any]):
    target_words = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_WORDS, help_text="Only the table of this target length."
    )
    score = serializers.CharField(
        required=False,
        help_text="The score or own criterion that ranks the systems. Default: coverage, or the first other score with "
        "values, as on the page. `score` in the reply names it.",
    )
    these_documents = serializers.BooleanField(
        default=False,
        help_text="Estimates are about exactly these document sets; otherwise they are about document sets like these.",
    )


class Scores(ApiView):
    tag = "scores"

    get = operation_of(SCORE_ROWS, ScoreRow, "List the scores of a project's summaries.")


class LeaderboardView(ApiView):
    tag = "scores"

    @operation("get_leaderboard", parameters=[LeaderboardQuery], responses=Leaderboard, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show the leaderboard: every system's averages with their intervals, and the test of every pair.

        `bases` names the source of each score's values.
        """
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(LeaderboardQuery)
        target, these = query.get("target_words", ALL), query["these_documents"]
        if "score" in query:
            found, _ = leaderboards.board(
                project, score=query["score"], target_words=target, these_documents=these
            )
        else:
            found, _ = leaderboards.opening_board(project, target_words=target, these_documents=these)
        return Response(plain(found))

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.judge.judge_quality import JudgeFigures, judge_key, with_slices
from annotation.analysis.make_analysis import current_statistics
from annotation.analysis.slices.split import chosen_split, splits
from annotation.api.access import ApiView
from annotation.api.fields import NamedChoice, SliceKey
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.models import SCORE_SIDES, Analysis


class JudgeQualityQuery(serializers.Serializer[Any]):
    score = NamedChoice(
        "ClaimScore",
        [(score, score) for score in SCORE_SIDES],
        required=False,
        help_text="Score whose answers judges are compared with; by default coverage, unless only alignment has"
        " a finished random sample or answers.",
    )
    key = SliceKey(help_text="A metadata key, or `group`, for the reports by slice. Default: none.")


class JudgeQualityView(ApiView):
    tag = "scores"

    @operation("get_judge_quality", parameters=[JudgeQualityQuery], responses=JudgeFigures, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show the judges compared with people's blind answers, and their costs."""
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(JudgeQualityQuery)
        key = judge_key(project, query.get("score", ""))
        made = current_statistics(project=project, kind=Analysis.Kind.JUDGE, key=key, wait=True)
        found = made.facts(JudgeFigures)
        assert found is not None, "figures that are waited for exist"
        return Response(plain(with_slices(project, found, chosen_split(splits(project), query["key"]))))

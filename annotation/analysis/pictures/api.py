"""What pictures are drawn from and nothing else tells: claims against systems, and work by day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.pictures.heat_map import ClaimAnswer, HeatMap, HeatRow, checks_on, heat_map_page
from annotation.analysis.pictures.work_by_day import DayCounts, judged_by_day
from annotation.analysis.pictures.work_done import answered_so_far
from annotation.api.access import ApiView
from annotation.api.fields import MOST_WORDS, LabelField
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.reviewing.services.look_at_check import see_checks


class ClaimMapQuery(serializers.Serializer[Any]):
    target_words = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_WORDS,
        help_text="The target length; the summaries without one where it is left out.",
    )
    after = serializers.CharField(
        required=False, help_text="The claims after that one, as the page before said."
    )


class ClaimMapAnswer(serializers.Serializer[ClaimAnswer]):
    check = serializers.CharField(source="check_id")
    summary = serializers.CharField(source="summary_id")
    final_label = LabelField(
        source="label", allow_null=True, help_text="Null where there is no usable answer."
    )
    by_person = serializers.BooleanField(help_text="A reviewer or an adjudicator decided.")


class ClaimMapRow(serializers.Serializer[HeatRow]):
    id = serializers.CharField(source="claim_id")
    claim = serializers.CharField()
    document_id = serializers.CharField(source="document_set")
    answers = serializers.DictField(
        child=ClaimMapAnswer(), help_text="By system; one without a summary of the set is left out."
    )


class ClaimMap(serializers.Serializer[HeatMap]):
    """A page of claims of model summaries and sources, with the final answer of each system's summary."""

    systems = serializers.ListField(child=serializers.CharField())
    claims = ClaimMapRow(many=True, source="rows")
    after = serializers.CharField(help_text="What to ask the next page with; empty at the end.")


class DayCountsRow(serializers.Serializer[DayCounts]):
    scope = serializers.IntegerField(help_text="All there is to do.")
    done = serializers.IntegerField()
    by_day = serializers.SerializerMethodField()

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
    def get_by_day(self, counts: DayCounts) -> Mapping[str, int]:
        return _in_order(counts.by_day)


class WorkByDay(serializers.Serializer[Any]):
    """What was done on each day, by its date."""

    judged = DayCountsRow(help_text="Units that assessors judged; sets that you have open are left out.")
    answered = DayCountsRow(help_text="Claims that reviewers answered.")


class ClaimMapView(ApiView):
    tag = "scores"
    pagination_class = None

    @operation("get_claim_map", parameters=[ClaimMapQuery], responses=ClaimMap)
    def get(self, request: Request, slug: str) -> Response:
        """Show which claims each system's summaries say, some thirty claims at a time.

        Of a caller who may review it is kept that they have seen the answers: theirs count from now on as given
        after that.
        """
        project = self.enter(Verb.VIEW_SCORES)
        query = self.query(ClaimMapQuery)
        target = query.get("target_words")
        page = heat_map_page(project, target_words=target, after=query.get("after", ""))
        see_checks(project=project, checks=checks_on(page, target_words=target), by=self.person)
        return Response(ClaimMap(page).data)


class WorkByDayView(ApiView):
    tag = "assignment"
    pagination_class = None

    @operation("get_work_by_day", responses=WorkByDay, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show how much was judged and answered on each day."""
        project = self.enter(Verb.ASSIGN)
        answered, _ = answered_so_far(project, wait=True)
        done = {"judged": judged_by_day(project, viewer=self.person), "answered": answered}
        return Response(WorkByDay(done).data)


def _in_order(by_day: Mapping[date, int]) -> dict[str, int]:
    return {day.isoformat(): by_day[day] for day in sorted(by_day)}

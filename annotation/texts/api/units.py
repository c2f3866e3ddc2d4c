"""How summaries are cut into units. Open to the blind, who learn no system here."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Summary
from annotation.texts.queries.unit_texts import UNIT_TEXTS, Cut, CutUnit, cut_of, text_to_cut
from annotation.texts.services import change_units

LARGEST_OFFSET = 2_147_483_647
SEEN = "The `cut` that you saw: refused (`newer_cut`) with both versions if it has changed."


TextRow = shape_of(UNIT_TEXTS, "TextRow")


class CutUnitRow(serializers.Serializer[CutUnit]):
    id = serializers.CharField(source="unit_id")
    number = serializers.IntegerField()
    start = serializers.IntegerField(help_text="Offset of the first character (code points).")
    end = serializers.IntegerField(help_text="Offset after the last character.")
    text = serializers.CharField()
    weight = serializers.FloatField()


class CutRow(serializers.Serializer[Cut]):
    """The units of a summary as they stand."""

    id = serializers.CharField(source="summary_id")
    document_id = serializers.CharField(source="document_set")
    cut = serializers.CharField(
        source="token", help_text="Identifies this version of the units; send it with changes."
    )
    units = CutUnitRow(many=True)
    is_judged = serializers.BooleanField(help_text="Its units are locked.")
    is_running = serializers.BooleanField(help_text="A judge is running on the document set.")


class Joining(serializers.Serializer[Any]):
    unit = serializers.CharField(help_text="Id of the unit to join with the next one.")
    seen = serializers.CharField(help_text=SEEN)


class Splitting(serializers.Serializer[Any]):
    unit = serializers.CharField()
    at = serializers.IntegerField(
        min_value=0, max_value=LARGEST_OFFSET, help_text="Offset in the summary's text at which it is split."
    )
    seen = serializers.CharField(help_text=SEEN)


class Texts(ApiView):
    tag = "units"

    get = operation_of(
        UNIT_TEXTS,
        TextRow,
        """List the summaries of a project with how they are cut.

        Sets that one has open to judge are left out, and to the blind who wrote a summary.
        """,
    )


class _OfSummary(ApiView):
    tag = "units"

    def summary(self) -> Summary:
        return text_to_cut(self.enter(Verb.CHANGE_UNITS), self.person, self.kwargs["public_id"])

    def cut(self, summary: Summary) -> Response:
        return Response(CutRow(cut_of(summary, self.person)).data)


class Units(_OfSummary):
    @operation("get_units", responses=CutRow)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show how a summary is cut, and what may be done about it."""
        return self.cut(self.summary())


class UnitsJoin(_OfSummary):
    @operation("join_units", request=Joining, responses=CutRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Join a unit with the one after it.

        The new unit has their weight, the larger one where they differ, so a pyramid's sum of weights falls by the
        smaller. Refused where the summary is judged (`judged`) or a judge is running on the set (`running`).
        """
        summary, asked = self.summary(), self.body(Joining)
        change_units.join_units(summary=summary, by=self.person, unit_id=asked["unit"], seen=asked["seen"])
        return self.cut(summary)


class UnitsSplit(_OfSummary):
    @operation("split_unit", request=Splitting, responses=CutRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Split a unit in two at an offset.

        White space around it belongs to neither. Both halves have the unit's whole weight, so a pyramid's sum of
        weights grows by it. Refused as joining is.
        """
        summary, asked = self.summary(), self.body(Splitting)
        change_units.split_unit(
            summary=summary, by=self.person, unit_id=asked["unit"], at=asked["at"], seen=asked["seen"]
        )
        return self.cut(summary)

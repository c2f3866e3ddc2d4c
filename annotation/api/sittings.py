"""An assessor's own work. Blind: no system, no id of a summary or comparison, nobody else's word."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.schema import operation
from annotation.models import Project, UnitJudgment
from annotation.permissions import Verb
from annotation.queries.assessment import (
    JudgedUnit,
    PeerUnit,
    SeeForm,
    SetWork,
    SummaryWork,
    own_assignment,
    own_sitting,
    own_work,
    see_form,
)
from annotation.refusals import NotFound
from annotation.services.assess import close_sitting, judge_unit

LONGEST_NOTE = 4000
LARGEST_NUMBER = 2_147_483_647
MOST_MARKS = 2000


class AssignmentRow(serializers.Serializer[SummaryWork]):
    """One peer summary to judge. `number` is its place in the sitting, at random within a target length."""

    id = serializers.CharField(source="assignment_id")
    number = serializers.IntegerField()
    target_words = serializers.IntegerField(allow_null=True)
    judged = serializers.IntegerField(help_text="Model units with a percent.")
    total = serializers.IntegerField(help_text="Model units to judge.")


class SittingRow(serializers.Serializer[SetWork]):
    """One document set to judge."""

    id = serializers.CharField(source="sitting_id")
    number = serializers.IntegerField()
    document_id = serializers.CharField(source="name")
    closed_at = serializers.DateTimeField(allow_null=True)
    assignments = AssignmentRow(many=True, source="summaries")


class JudgedUnitRow(serializers.Serializer[JudgedUnit]):
    """A model unit, or a claim in its stead, with what the caller has said of it so far."""

    id = serializers.CharField(source="unit_id")
    number = serializers.IntegerField()
    text = serializers.CharField()
    percent = serializers.IntegerField(allow_null=True)
    marks = serializers.ListField(child=serializers.IntegerField(), help_text="Numbers of peer units.")
    note = serializers.CharField()


class PeerUnitRow(serializers.Serializer[PeerUnit]):
    number = serializers.IntegerField()
    text = serializers.CharField()


class AssignmentDetail(serializers.Serializer[SeeForm]):
    """One comparison: the units of the model summary, and those of the peer summary to mark."""

    id = serializers.CharField(source="assignment_id")
    sitting = serializers.CharField(source="here.sitting_id")
    document_id = serializers.CharField(source="here.name")
    number = serializers.IntegerField()
    target_words = serializers.IntegerField(allow_null=True)
    peer_length = serializers.IntegerField(help_text="In the project's length unit.")
    percents = serializers.ListField(
        child=serializers.IntegerField(),
        source="scale",
        help_text="Percents to choose from; empty where any whole percent may be given.",
    )
    model_units = JudgedUnitRow(many=True, source="units")
    peer_units = PeerUnitRow(many=True)
    is_closed = serializers.BooleanField()


class NewJudgment(serializers.Serializer[Any]):
    """One act of the SEE form. A draft may lack the percent."""

    unit = serializers.CharField(help_text="Id of the model unit.")
    percent = serializers.IntegerField(
        default=None, allow_null=True, help_text="How much of its meaning the marked peer units express."
    )
    marks = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST_NUMBER), default=list, max_length=MOST_MARKS
    )
    note = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_NOTE)
    client_id = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=36,
        help_text="With `seq`, names this act: sent again, it is saved once.",
    )
    seq = serializers.IntegerField(default=0, min_value=0, max_value=LARGEST_NUMBER)


class JudgmentRow(serializers.Serializer[UnitJudgment]):
    id = serializers.CharField(source="public_id")
    unit = serializers.SerializerMethodField()
    percent = serializers.IntegerField(allow_null=True)
    marks = serializers.ListField(child=serializers.IntegerField())
    note = serializers.CharField()
    client_id = serializers.CharField()
    seq = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    def get_unit(self, judgment: UnitJudgment) -> str:
        unit = judgment.unit or judgment.claim
        assert unit is not None, "the database holds a judgment to one of the two"
        return unit.public_id


class Sittings(ApiView):
    tag = "assessment"
    pagination_class = None

    @operation("list_sittings", responses=SittingRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the caller's own sittings, oldest first, with what there is to judge in each."""
        project = self.enter(Verb.ASSESS)
        sittings: Any = own_work(project, self.person)
        return Response(SittingRow(sittings, many=True).data)


class OneSitting(ApiView):
    tag = "assessment"

    @operation("get_sitting", responses=SittingRow)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show one of the caller's own sittings."""
        project = self.enter(Verb.ASSESS)
        return Response(_sitting(project, self.person, public_id))


class SittingClose(ApiView):
    tag = "assessment"

    @operation("close_sitting", responses=SittingRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Close a sitting: everything in it is submitted and counts from now on.

        Every model unit needs a percent first; `details.missing` counts those without, by
        assignment. Twice changes nothing.
        """
        project = self.enter(Verb.ASSESS)
        close_sitting(sitting=own_sitting(project, self.person, public_id), by=self.person)
        return Response(_sitting(project, self.person, public_id))


class OneAssignment(ApiView):
    tag = "assessment"

    @operation("get_assignment", responses=AssignmentDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show one comparison of the caller's own, as the SEE form does."""
        project = self.enter(Verb.ASSESS)
        assignment = own_assignment(project, self.person, public_id)
        return Response(AssignmentDetail(see_form(project, self.person, assignment)).data)


class AssignmentJudgments(ApiView):
    tag = "assessment"

    @operation("judge_unit", request=NewJudgment, responses={201: JudgmentRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Judge a model unit: its percent and its marks.

        A revision is a new row, and the last one counts. Nothing is scored before the sitting is
        closed.
        """
        project = self.enter(Verb.ASSESS)
        act = self.body(NewJudgment)
        act["unit_id"] = act.pop("unit")
        assignment = own_assignment(project, self.person, public_id)
        judgment = judge_unit(assignment=assignment, by=self.person, **act)
        return Response(JudgmentRow(judgment).data, status=status.HTTP_201_CREATED)


def _sitting(project: Project, person: User, public_id: str) -> dict[str, Any]:
    for work in own_work(project, person):
        if work.sitting_id == public_id:
            return dict(SittingRow(work).data)
    raise NotFound("There is no such sitting in this project.")

"""An assessor's own work."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.fields import NamedChoice
from annotation.api.rows import ChoiceRow
from annotation.api.schema import operation
from annotation.assessing.queries.assessment import (
    AskedCriterion,
    JudgedUnit,
    SeeForm,
    SetWork,
    SummaryUnit,
    SummaryWork,
    own_assignment,
    own_reading,
    own_work_in,
    see_form,
)
from annotation.assessing.queries.assignments import LapsedSet, QueueOffer
from annotation.assessing.queries.own_desk import OwnDesk, own_desk
from annotation.assessing.queries.progress import Gates
from annotation.assessing.services.acts import LARGEST_NUMBER, MOST_ACTS, MOST_MARKS, read_acts
from annotation.assessing.services.close_assignment import close_assignment
from annotation.assessing.services.open_assignment import open_assignment
from annotation.assessing.services.save_acts import LONGEST_UNIT_NOTE, save_acts
from annotation.core.permissions import Verb

STAGES = ("before", "units", "after", "done")
GATES = ("none", "shut", "open", "done", "rule")


class StageField(NamedChoice):
    """The stage of a comparison in which the assessor works next, or "done"."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("Stage", STAGES, **kwargs)


class GateField(NamedChoice):
    """The state of a stage or a question.

    "none": nothing is asked; "shut": another stage must be completed first; "open"; "done"; "rule": a rule gives the
    lowest answer.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("Gate", GATES, **kwargs)


class GatesRow(serializers.Serializer[Gates]):
    """The stages of a comparison: criteria before the reference, reference units, criteria after the reference."""

    before = GateField()
    units = GateField()
    after = GateField()


class ReadingRow(serializers.Serializer[SummaryWork]):
    """A comparison to judge."""

    id = serializers.CharField(source="reading_id")
    number = serializers.IntegerField(help_text="Place of the summary in the assignment.")
    part = serializers.IntegerField(help_text="Place of the comparison among those of the summary.")
    parts = serializers.IntegerField(help_text="Comparisons of the summary in this assignment.")
    target_words = serializers.IntegerField(allow_null=True)
    stage = StageField()
    judged = serializers.IntegerField(help_text="Reference units with a percent.")
    total = serializers.IntegerField(
        allow_null=True, help_text="Reference units to judge; null while criteria come first."
    )


class AssignmentRow(serializers.Serializer[SetWork]):
    """A document set to judge."""

    id = serializers.CharField(source="assignment_id")
    number = serializers.IntegerField()
    document_id = serializers.CharField(source="name")
    closed_at = serializers.DateTimeField(allow_null=True)
    lease_until = serializers.DateTimeField(
        allow_null=True, help_text="Time at which a set from the queue returns to it if inactive."
    )
    is_complete = serializers.BooleanField(help_text="True if it can be closed.")
    readings = ReadingRow(many=True, source="summaries")


class OfferRow(serializers.Serializer[QueueOffer]):
    sets = serializers.IntegerField(help_text="Sets in the queue that the caller can take.")
    in_hand = serializers.CharField(
        allow_null=True, help_text="The assignment from the queue to close or return first."
    )


class LapsedRow(serializers.Serializer[LapsedSet]):
    id = serializers.CharField(source="assignment_id")
    document_id = serializers.CharField(source="document_set")
    lapsed_at = serializers.DateTimeField()


class OwnDeskRow(serializers.Serializer[OwnDesk]):
    """The caller's work in the project."""

    drafts = AssignmentRow(many=True, help_text="Started and not closed.")
    open = AssignmentRow(many=True, help_text="Not started.")
    submitted = AssignmentRow(many=True)
    queue = OfferRow(source="offer")
    lapsed = LapsedRow(many=True, help_text="Sets returned to the queue that may be resumed.")


class JudgedUnitRow(serializers.Serializer[JudgedUnit]):
    """A reference unit, or a claim that replaces one, with the caller's answer."""

    id = serializers.CharField(source="unit_id")
    number = serializers.IntegerField()
    text = serializers.CharField()
    percent = serializers.IntegerField(allow_null=True)
    marks = serializers.ListField(child=serializers.IntegerField(), help_text="Numbers of summary units.")
    note = serializers.CharField()
    version = serializers.IntegerField()


class SummaryUnitRow(serializers.Serializer[SummaryUnit]):
    number = serializers.IntegerField()
    text = serializers.CharField()


class AskedCriterionRow(serializers.Serializer[AskedCriterion]):
    """A question about the summary, with the caller's answer."""

    id = serializers.CharField(source="criterion_id")
    question = serializers.CharField()
    asked = NamedChoice("Asked", ("before", "after"))
    choices = serializers.SerializerMethodField(help_text="Empty for a percent from 0 to 100.")
    value = serializers.IntegerField(allow_null=True)
    version = serializers.IntegerField()
    gate = GateField()

    @extend_schema_field(ChoiceRow(many=True))
    def get_choices(self, criterion: AskedCriterion) -> list[dict[str, object]]:
        return [{"value": value, "text": text} for value, text in criterion.choices]


class ReadingDetail(serializers.Serializer[SeeForm]):
    """A comparison with the units of the reference and of the summary.

    The reference units are missing until the criteria that come before them are answered.
    """

    id = serializers.CharField(source="reading_id")
    assignment = serializers.CharField(source="here.assignment_id")
    document_id = serializers.CharField(source="here.name")
    number = serializers.IntegerField()
    part = serializers.IntegerField()
    parts = serializers.IntegerField()
    target_words = serializers.IntegerField(allow_null=True)
    summary_length = serializers.IntegerField(help_text="In the project's length unit.")
    stage = StageField()
    gates = GatesRow()
    percents = serializers.ListField(
        child=serializers.IntegerField(),
        source="scale",
        help_text="Allowed percents; empty if any whole percent is allowed.",
    )
    criteria = AskedCriterionRow(many=True)
    reference_units = JudgedUnitRow(many=True, source="units")
    summary_units = SummaryUnitRow(many=True)
    unmarked = serializers.ListField(
        child=serializers.IntegerField(), help_text="Numbers of the summary units that are marked nowhere."
    )
    is_closed = serializers.BooleanField()


class ActRow(serializers.Serializer[Any]):
    """An act: a change of one answer. `follows` is the version that the act changes; 0 for a new answer.

    Kind `unit` takes `unit`, `percent` (null in a draft), `marks` and `note`; kind `rating` takes `criterion` and
    `value`.
    """

    kind = serializers.ChoiceField(choices=("unit", "rating"))
    reading = serializers.CharField()
    follows = serializers.IntegerField(min_value=0, max_value=LARGEST_NUMBER)
    unit = serializers.CharField(required=False)
    percent = serializers.IntegerField(required=False, allow_null=True)
    marks = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=LARGEST_NUMBER),
        required=False,
        max_length=MOST_MARKS,
    )
    note = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_UNIT_NOTE)
    criterion = serializers.CharField(required=False)
    value = serializers.IntegerField(required=False, allow_null=True)
    ms = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST_NUMBER,
        help_text="Active time spent.",
    )


class NewActs(serializers.Serializer[Any]):
    acts = serializers.ListField(child=serializers.DictField(), max_length=MOST_ACTS)


class ActsBody(NewActs):
    # This class only describes the acts in the schema; `read_acts` reads them.
    acts = ActRow(many=True)  # type: ignore[assignment]


class ActResultRow(serializers.Serializer[Any]):
    status = serializers.IntegerField(help_text="200, or 404, 409 or 422 for an act that was not saved.")
    version = serializers.IntegerField(help_text="The newest version of the answer that the act changes.")
    code = serializers.CharField(help_text="Reason for refusal; empty if saved.")
    message = serializers.CharField()
    yours = serializers.DictField(allow_null=True, help_text="With code `newer`: the sent answer.")
    theirs = serializers.DictField(allow_null=True, help_text="With code `newer`: the current answer.")


class SavedRow(serializers.Serializer[Any]):
    """The result of each act, possible mistakes, the stages of the named summaries' comparisons, and the end of the
    lease.
    """

    results = ActResultRow(many=True, help_text="In the order of the acts.")
    slips = serializers.DictField(
        child=serializers.CharField(), help_text="Possible mistakes by unit; empty if none."
    )
    gates = serializers.DictField(child=GatesRow(), help_text="By reading.")
    lease_until = serializers.DateTimeField(allow_null=True)


class OwnWork(ApiView):
    tag = "assessment"

    @operation("get_own_work", responses=OwnDeskRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show the caller's own work."""
        project = self.enter(Verb.ASSESS)
        return Response(OwnDeskRow(own_desk(project, self.person)).data)


class OneAssignment(ApiView):
    tag = "assessment"

    @operation("get_assignment", responses=AssignmentRow)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show one of the caller's own assignments."""
        project = self.enter(Verb.ASSESS)
        return Response(AssignmentRow(own_work_in(project, self.person, public_id)).data)


class AssignmentClose(ApiView):
    tag = "assessment"

    @operation("close_assignment", responses=AssignmentRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Close an assignment, so that its answers count.

        If answers are missing, it stays open: `details.missing` has the stage and the number of missing answers by
        reading, and `details.go_to` is the first reading with a missing answer. Closing a closed assignment changes
        nothing.
        """
        project = self.enter(Verb.ASSESS)
        close_assignment(assignment=own_assignment(project, self.person, public_id), by=self.person)
        return Response(AssignmentRow(own_work_in(project, self.person, public_id)).data)


class AssignmentActs(ApiView):
    tag = "assessment"

    @operation("save_acts", request=ActsBody, responses=SavedRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Save acts in order.

        An act that repeats the current value makes no new version. An act is refused if it is invalid, or if it follows
        an older version (409, code `newer`, with `yours` and `theirs`). The other acts are saved. If the assignment is
        closed or unassigned (409 `closed` or `unassigned`), nothing is saved.
        """
        project = self.enter(Verb.ASSESS)
        assignment = own_assignment(project, self.person, public_id)
        acts = read_acts(self.body(NewActs)["acts"])
        return Response(asdict(save_acts(assignment=assignment, by=self.person, acts=acts)))


class OneReading(ApiView):
    tag = "assessment"

    @operation("get_reading", responses=ReadingDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show one of the caller's comparisons, as in the SEE form."""
        project = self.enter(Verb.ASSESS)
        reading = own_reading(project, self.person, public_id)
        open_assignment(reading.assignment)
        return Response(ReadingDetail(see_form(project, self.person, reading)).data)

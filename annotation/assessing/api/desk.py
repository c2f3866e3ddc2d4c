"""An assessor's own work. Blind: no system, no id of a summary or comparison, nobody else's word."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.fields import NamedChoice
from annotation.api.rows import ChoiceRow
from annotation.api.schema import operation
from annotation.assessing.queries.assessment import (
    JudgedUnit,
    PeerUnit,
    QualityQuestionAsked,
    SeeForm,
    SetWork,
    SummaryWork,
    UnmarkedQuestion,
    own_assignment,
    own_reading,
    own_work_in,
    see_form,
)
from annotation.assessing.queries.assignments import LapsedSet, QueueOffer
from annotation.assessing.queries.own_desk import OwnDesk, own_desk
from annotation.assessing.queries.progress import Gates
from annotation.assessing.services.act_saving import LONGEST_UNIT_NOTE
from annotation.assessing.services.acts import (
    LARGEST_ACT_NUMBER,
    MOST_ACTS,
    MOST_MARKS,
    read_acts,
    read_client,
)
from annotation.assessing.services.close_assignment import close_assignment
from annotation.assessing.services.save_acts import judge_unit, save_acts
from annotation.assessing.services.take_pen import Pen, keep_alive, take_pen
from annotation.core.permissions import Verb
from annotation.models import UnitJudgment

STAGES = ("quality", "units", "unmarked", "done")
GATES = ("none", "shut", "open", "done", "rule")


class StageField(NamedChoice):
    """What is to be done at a comparison now."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("Stage", STAGES, **kwargs)


class GateField(NamedChoice):
    """none: not asked here; shut: something else comes first; open; done; rule: 0 without being asked."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("Gate", GATES, **kwargs)


class GatesRow(serializers.Serializer[Gates]):
    """Where a comparison stands: quality questions first, then model units, then the unmarked peer units."""

    quality = GateField()
    units = GateField()
    unmarked = GateField()


class ReadingRow(serializers.Serializer[SummaryWork]):
    """One comparison to judge: a peer summary, at random within a target length, against a model summary."""

    id = serializers.CharField(source="reading_id")
    number = serializers.IntegerField(help_text="Place of the peer summary in the assignment.")
    part = serializers.IntegerField(help_text="Place of the comparison among those of the peer summary.")
    parts = serializers.IntegerField(help_text="Comparisons of the peer summary in this assignment.")
    target_words = serializers.IntegerField(allow_null=True)
    stage = StageField()
    judged = serializers.IntegerField(help_text="Model units with a percent.")
    total = serializers.IntegerField(
        allow_null=True, help_text="Model units to judge; null while the quality questions come first."
    )


class AssignmentRow(serializers.Serializer[SetWork]):
    """One document set to judge."""

    id = serializers.CharField(source="assignment_id")
    number = serializers.IntegerField()
    document_id = serializers.CharField(source="name")
    closed_at = serializers.DateTimeField(allow_null=True)
    lease_until = serializers.DateTimeField(
        allow_null=True, help_text="When a set from the queue returns to it if inactive."
    )
    is_complete = serializers.BooleanField(help_text="Whether it can be closed.")
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
    """All of the caller's work in the project."""

    drafts = AssignmentRow(many=True, help_text="Started and not closed.")
    open = AssignmentRow(many=True, help_text="Not started.")
    submitted = AssignmentRow(many=True)
    queue = OfferRow(source="offer")
    lapsed = LapsedRow(many=True, help_text="Sets returned to the queue that may be resumed.")


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


class AskedQuestionRow(serializers.Serializer[QualityQuestionAsked]):
    """A quality question of the peer summary, and the caller's answer so far."""

    id = serializers.CharField()
    text = serializers.CharField()
    choices = serializers.SerializerMethodField()
    answer = serializers.IntegerField(allow_null=True)

    @extend_schema_field(ChoiceRow(many=True))
    def get_choices(self, question: QualityQuestionAsked) -> list[dict[str, object]]:
        return [{"value": value, "text": text} for value, text in question.choices]


class UnmarkedRow(serializers.Serializer[UnmarkedQuestion]):
    """How much of the peer units that are marked nowhere is related to the subject all the same."""

    units = serializers.ListField(
        child=serializers.IntegerField(), help_text="Numbers of the unmarked peer units."
    )
    percents = serializers.ListField(child=serializers.IntegerField())
    percent = serializers.IntegerField(allow_null=True)


class ReadingDetail(serializers.Serializer[SeeForm]):
    """One comparison: the units of the model summary, and those of the peer summary to mark.

    While quality questions are open there are no model units.
    """

    id = serializers.CharField(source="reading_id")
    assignment = serializers.CharField(source="here.assignment_id")
    document_id = serializers.CharField(source="here.name")
    number = serializers.IntegerField()
    part = serializers.IntegerField()
    parts = serializers.IntegerField()
    target_words = serializers.IntegerField(allow_null=True)
    peer_length = serializers.IntegerField(help_text="In the project's length unit.")
    stage = StageField()
    gates = GatesRow()
    percents = serializers.ListField(
        child=serializers.IntegerField(),
        source="scale",
        help_text="Allowed percents; empty if any whole percent is allowed.",
    )
    questions = AskedQuestionRow(many=True)
    model_units = JudgedUnitRow(many=True, source="units")
    peer_units = PeerUnitRow(many=True)
    unmarked = UnmarkedRow(
        allow_null=True, help_text="Null if asked at another comparison of the same peer summary."
    )
    is_closed = serializers.BooleanField()
    pen = serializers.CharField(
        help_text="The form that can write in the assignment; empty before the first act."
    )
    pen_seq = serializers.IntegerField(help_text="Its last received act.")


class NewJudgment(serializers.Serializer[Any]):
    """One act of the SEE form. A draft may lack the percent."""

    unit = serializers.CharField(help_text="Id of the model unit.")
    percent = serializers.IntegerField(
        default=None, allow_null=True, help_text="How much of its meaning the marked peer units express."
    )
    marks = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST_ACT_NUMBER), default=list, max_length=MOST_MARKS
    )
    note = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_UNIT_NOTE)
    client_id = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=36,
        help_text="With `seq`, identifies this act: repeats are saved once.",
    )
    seq = serializers.IntegerField(default=0, min_value=0, max_value=LARGEST_ACT_NUMBER)


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


class ActRow(serializers.Serializer[Any]):
    """One act. `seq` numbers the acts of a form in an assignment: 1, 2, 3 and so on.

    Kind `unit` takes `unit`, `percent` (null in a draft), `marks` and `note`; `quality` takes `question` and
    `answer`; `unmarked` takes `percent`.
    """

    seq = serializers.IntegerField(min_value=1, max_value=LARGEST_ACT_NUMBER)
    kind = serializers.ChoiceField(choices=("unit", "quality", "unmarked"))
    reading = serializers.CharField()
    unit = serializers.CharField(required=False)
    percent = serializers.IntegerField(required=False, allow_null=True)
    marks = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=LARGEST_ACT_NUMBER),
        required=False,
        max_length=MOST_MARKS,
    )
    note = serializers.CharField(required=False, allow_blank=True)
    question = serializers.CharField(required=False)
    answer = serializers.IntegerField(required=False, allow_null=True)
    ms = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST_ACT_NUMBER,
        help_text="Active time spent.",
    )


class NewActs(serializers.Serializer[Any]):
    client = serializers.CharField(max_length=36, help_text="The form's own id.")
    acts = serializers.ListField(
        child=serializers.DictField(), max_length=MOST_ACTS, help_text="In order of seq."
    )


class ActsBody(NewActs):
    """Acts of one form, in order."""

    acts = ActRow(many=True)  # type: ignore[assignment]  # what the schema tells; read by `read_acts`


class ActResultRow(serializers.Serializer[Any]):
    seq = serializers.IntegerField()
    status = serializers.ChoiceField(choices=("saved", "repeated", "refused"))
    code = serializers.CharField(help_text="Reason for refusal; empty if accepted.")
    message = serializers.CharField()


class SetRow(serializers.Serializer[Any]):
    judged = serializers.IntegerField()
    total = serializers.IntegerField()
    is_complete = serializers.BooleanField()


class SavedRow(serializers.Serializer[Any]):
    """What became of the acts, and where the comparisons that they touched stand now."""

    saved = serializers.IntegerField(help_text="The last received act; the client can discard all up to it.")
    results = ActResultRow(many=True)
    slips = serializers.DictField(
        child=serializers.CharField(), help_text="Possible mistakes by unit; empty if none."
    )
    gates = serializers.DictField(child=GatesRow(), help_text="By assignment.")
    set = SetRow()


class PenBody(serializers.Serializer[Any]):
    client = serializers.CharField(max_length=36, help_text="The form's own id.")
    seen = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=36,
        help_text="The form that could write when this one was opened.",
    )


class AliveBody(serializers.Serializer[Any]):
    client = serializers.CharField(max_length=36)


class PenRow(serializers.Serializer[Pen]):
    """Which form may write in the assignment, and the last act heard from it: its next one has the number after."""

    pen = serializers.CharField(source="client_id")
    seq = serializers.IntegerField()
    lease_until = serializers.DateTimeField(allow_null=True)


class OwnWork(ApiView):
    tag = "assessment"

    @operation("get_own_work", responses=OwnDeskRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show the caller's own work: open, started and submitted sets, with what there is to judge in each."""
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
        """Close an assignment: everything in it is submitted and counts from now on.

        Everything has to be answered first; `details.missing` says what is not, by assignment, and
        `details.go_to` where to go. Twice changes nothing.
        """
        project = self.enter(Verb.ASSESS)
        close_assignment(assignment=own_assignment(project, self.person, public_id), by=self.person)
        return Response(AssignmentRow(own_work_in(project, self.person, public_id)).data)


class AssignmentActs(ApiView):
    tag = "assessment"

    @operation("save_acts", request=ActsBody, responses=SavedRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Save acts of a form, in order, each once.

        An act that makes no sense is refused in its own result, and those after it are saved. 409 with
        nothing saved: `gap` where an act before these has not arrived (`details.expected`), `elsewhere`
        where another form has the pen, `closed`, `unassigned`; `details.theirs` is what the server holds,
        `details.yours` what was sent.
        """
        project = self.enter(Verb.ASSESS)
        body = self.body(NewActs)
        saved = save_acts(
            assignment=own_assignment(project, self.person, public_id),
            by=self.person,
            client_id=read_client(body["client"]),
            acts=read_acts(body["acts"]),
        )
        return Response(saved.as_json())


class AssignmentPen(ApiView):
    tag = "assessment"

    @operation("take_pen", request=PenBody, responses=PenRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Give the right to write in an assignment to a form that was just opened.

        409 `elsewhere` where yet another form has taken it since this one was made; `details.pen` names it.
        """
        project = self.enter(Verb.ASSESS)
        body = self.body(PenBody)
        pen = take_pen(
            assignment=own_assignment(project, self.person, public_id),
            by=self.person,
            client_id=read_client(body["client"]),
            seen_pen=body["seen"],
        )
        return Response(PenRow(pen).data)


class AssignmentAlive(ApiView):
    tag = "assessment"

    @operation("keep_assignment_alive", request=AliveBody, responses=PenRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Renew the lease of somebody who is still working and has not acted for a while.

        Tells which form has the pen.
        """
        project = self.enter(Verb.ASSESS)
        # Whichever of their forms it is; but a body is held to its shape.
        read_client(self.body(AliveBody)["client"])
        assignment = own_assignment(project, self.person, public_id)
        return Response(PenRow(keep_alive(assignment=assignment, by=self.person)).data)


class OneReading(ApiView):
    tag = "assessment"

    @operation("get_reading", responses=ReadingDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show one comparison of the caller's own, as the SEE form does."""
        project = self.enter(Verb.ASSESS)
        reading = own_reading(project, self.person, public_id)
        return Response(ReadingDetail(see_form(project, self.person, reading)).data)


class ReadingJudgments(ApiView):
    tag = "assessment"

    @operation("judge_unit", request=NewJudgment, responses={201: JudgmentRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Judge a model unit: its percent and its marks.

        A revision is a new row, and the last one counts. Nothing is scored before the assignment is
        closed.
        """
        project = self.enter(Verb.ASSESS)
        act = self.body(NewJudgment)
        act["unit_id"] = act.pop("unit")
        reading = own_reading(project, self.person, public_id)
        judgment = judge_unit(reading=reading, by=self.person, **act)
        return Response(JudgmentRow(judgment).data, status=status.HTTP_201_CREATED)

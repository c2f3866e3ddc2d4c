"""How far the work is: one's own, and for those who manage it everybody's; and the quality answers by system.

Sets and persons are open to the blind and tell how much was done. What rests on what people said (flags, how far they
agree with themselves, quality answers) and systems are not.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery
from annotation.api.fields import NamedChoice
from annotation.api.rows import AgreementRow
from annotation.api.schema import operation
from annotation.assessing.queries.assignments import LapsedSet, QueueOffer
from annotation.assessing.queries.effort import Effort
from annotation.assessing.queries.flags import Flags
from annotation.assessing.queries.oversight import (
    ClosedRow,
    PersonStanding,
    SetStanding,
    SystemStanding,
    TargetStanding,
    closed_rows,
    closed_sittings,
    comparable_sets,
    judged_systems,
    person_rows,
    set_rows,
    system_rows,
)
from annotation.assessing.queries.own_desk import OwnDesk, OwnSet, own_desk
from annotation.core.permissions import Verb, verbs_in
from annotation.models import System


class EffortRow(serializers.Serializer[Effort]):
    """Time at work, idle time left out."""

    judged_units = serializers.IntegerField(help_text="Model units with a percent.")
    active_ms = serializers.IntegerField()
    hours = serializers.FloatField()
    units_per_hour = serializers.FloatField(allow_null=True, help_text="Null where no time was recorded.")


class OwnSetRow(serializers.Serializer[OwnSet]):
    """One of the caller's document sets; `sittings/{id}/` tells what is in it."""

    id = serializers.CharField(source="work.sitting_id")
    number = serializers.IntegerField(source="work.number")
    document_id = serializers.CharField(source="work.name")
    judged_units = serializers.IntegerField(source="effort.judged_units")
    active_ms = serializers.IntegerField(source="effort.active_ms")
    is_complete = serializers.BooleanField(source="work.is_complete")
    is_pulled = serializers.BooleanField(help_text="Taken from the queue.")
    lease_until = serializers.DateTimeField(source="work.lease_until", allow_null=True)
    closed_at = serializers.DateTimeField(source="work.closed_at", allow_null=True)


class OfferRow(serializers.Serializer[QueueOffer]):
    sets = serializers.IntegerField(help_text="Sets in the queue that the caller can take.")
    in_hand = serializers.CharField(
        allow_null=True, help_text="The assignment from the queue to close or return first."
    )


class LapsedRow(serializers.Serializer[LapsedSet]):
    id = serializers.CharField(source="sitting_id")
    document_id = serializers.CharField(source="document_set")
    lapsed_at = serializers.DateTimeField()


class OwnDeskRow(serializers.Serializer[OwnDesk]):
    """All of the caller's work in the project."""

    drafts = OwnSetRow(many=True, help_text="Started and not closed.")
    open = OwnSetRow(many=True, help_text="Not started.")
    submitted = OwnSetRow(many=True)
    queue = OfferRow(source="offer")
    lapsed = LapsedRow(many=True, help_text="Sets whose lease expired and that may be resumed.")
    effort = EffortRow()
    agreement = AgreementRow()


class SetProgressRow(serializers.Serializer[SetStanding]):
    """How far one document set is, over all its assignments that were not withdrawn."""

    id = serializers.CharField(source="set_id")
    document_id = serializers.CharField(source="document_set")
    waiting = serializers.IntegerField(help_text="Assignments in the queue.")
    open = serializers.IntegerField()
    closed = serializers.IntegerField()
    judged_units = serializers.IntegerField(
        source="judged", allow_null=True, help_text="Null while the caller has the set to judge."
    )
    units = serializers.IntegerField(
        source="to_judge",
        allow_null=True,
        help_text="To judge, including waiting assignments; null as above.",
    )


class FlagsRow(serializers.Serializer[Flags]):
    """What is worth a look in closed work, each count beside what it counts. Nothing here is proof."""

    sittings = serializers.IntegerField()
    summaries = serializers.IntegerField(help_text="Peer summaries, repeats included.")
    units = serializers.IntegerField(help_text="Model units with a percent.")
    fast_summaries = serializers.IntegerField(help_text="In less time than reading the peer summary takes.")
    fast_units = serializers.IntegerField(help_text="In less time than reading the model unit takes.")
    alike_sittings = serializers.IntegerField(help_text="The same percent throughout.")
    percents_without_marks = serializers.IntegerField()
    marks_without_percent = serializers.IntegerField(help_text="Marks with 0 %.")
    own_models = serializers.IntegerField(help_text="Comparisons with a model summary of the assessor's own.")
    own_peers = serializers.IntegerField(help_text="Peer summaries of the assessor's own.")
    given_again = serializers.IntegerField(
        help_text="Sets reassigned to the assessor after withdrawal: scores may have been seen in between."
    )


class PersonProgressRow(serializers.Serializer[PersonStanding]):
    """How far one person is; assignments are counted, and units."""

    person = serializers.CharField(source="load.person")
    is_assessor = serializers.BooleanField(source="load.is_assessor")
    open = serializers.IntegerField(source="load.open")
    drafts = serializers.IntegerField(source="load.drafts", help_text="Open ones that are started.")
    closed = serializers.IntegerField(source="load.closed")
    recalled = serializers.IntegerField(source="load.recalled")
    judged_units = serializers.IntegerField(source="load.judged_units")
    hours = serializers.FloatField(source="load.hours")
    units_per_hour = serializers.FloatField(source="load.units_per_hour", allow_null=True)
    agreement = AgreementRow(allow_null=True, help_text='Null without the verb "view flags".')
    flags = FlagsRow(allow_null=True, help_text='Null without the verb "view flags".')


class TargetProgressRow(serializers.Serializer[TargetStanding]):
    target_words = serializers.IntegerField(allow_null=True)
    comparisons = serializers.IntegerField()
    given = serializers.IntegerField(help_text="Assigned, in the queue, or closed.")
    closed = serializers.IntegerField(help_text="Closed by at least one assessor.")
    judgments = serializers.IntegerField(help_text="Closed, counted once per assessor.")


class SystemProgressRow(serializers.Serializer[SystemStanding]):
    """How many of a system's comparisons are judged. Hidden repeats count for nothing."""

    id = serializers.CharField(source="system_id")
    system = serializers.CharField()
    kind = NamedChoice("SystemKind", System.Kind.choices)
    targets = TargetProgressRow(many=True)


class ClosedQuery(serializers.Serializer[Any]):
    assessor = serializers.CharField(required=False, help_text="Only this person's assignments.")


class ClosedSittingRow(serializers.Serializer[ClosedRow]):
    """One closed assignment: how long it took, and what is worth a look in it."""

    id = serializers.CharField(source="sitting_id")
    assessor = serializers.CharField()
    document_id = serializers.CharField(source="document_set")
    closed_at = serializers.DateTimeField()
    active_ms = serializers.IntegerField(source="effort.active_ms")
    seconds_per_unit = serializers.FloatField(source="effort.seconds_per_unit", allow_null=True)
    flags = FlagsRow()


class OwnWork(ApiView):
    tag = "assessment"

    @operation("get_own_work", responses=OwnDeskRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show the caller's own work: open, started and submitted sets, time, and agreement with themselves.

        The agreement is empty while there is work in progress or in the queue.
        """
        project = self.enter(Verb.ASSESS)
        return Response(OwnDeskRow(own_desk(project, self.person)).data)


class SetProgress(ApiView):
    tag = "assignment"

    @operation("list_set_progress", parameters=[PageQuery], responses=SetProgressRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List how far each document set is, by name.

        Needs the verb "assign".
        """
        project = self.enter(Verb.ASSIGN)
        return self.page(
            comparable_sets(project),
            SetProgressRow,
            query=self.query(PageQuery),
            order=("external_id",),
            looked_up=lambda found: set_rows(project, found, viewer=self.person),
        )


class PersonProgress(ApiView):
    tag = "assignment"
    pagination_class = None

    @operation("list_person_progress", responses=PersonProgressRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List how far everybody is who is or was an assessor, by name.

        Needs the verb "assign". Flags and the agreement with themselves need "view flags", which is closed to the
        blind.
        """
        project = self.enter(Verb.ASSIGN)
        with_judgments = Verb.VIEW_FLAGS in verbs_in(self.person, project)
        rows: Any = person_rows(project, with_judgments=with_judgments)
        return Response(PersonProgressRow(rows, many=True).data)


class SystemProgress(ApiView):
    tag = "scores"

    @operation("list_system_progress", parameters=[PageQuery], responses=SystemProgressRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List how many comparisons of each system are judged, by target length.

        Needs the verb "view scores".
        """
        return self.page(
            judged_systems(self.enter(Verb.VIEW_SCORES)),
            SystemProgressRow,
            query=self.query(PageQuery),
            order=("name",),
            looked_up=system_rows,
        )


class ClosedSittings(ApiView):
    tag = "assignment"

    @operation(
        "list_closed_sittings", parameters=[ClosedQuery, PageQuery], responses=ClosedSittingRow(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        """List closed assignments with their time and flags, those that were given out last first.

        Needs the verb "view flags".
        """
        project = self.enter(Verb.VIEW_FLAGS)
        query = self.query(ClosedQuery, PageQuery)
        closed = closed_sittings(project, person=query.get("assessor", ""))
        return self.page(
            closed.select_related("assessor", "document_set"),
            ClosedSittingRow,
            query=query,
            scope=closed_sittings(project),
            order=("-pk",),
            looked_up=closed_rows,
        )

"""Who judges what: giving sets out, the queue, taking work away, load, and who wrote which summaries.

Open to the blind, all but the authors: nothing here tells a system, a summary's id or what anybody said.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery
from annotation.api.fields import NamedChoice, Told, ToldEach
from annotation.api.schema import operation
from annotation.assessing.api.sittings import SittingRow
from annotation.assessing.queries.assessment import own_sitting, own_work_in
from annotation.assessing.queries.assignments import (
    AssessorLoad,
    Author,
    GivenSitting,
    HeldSitting,
    SetQueue,
    WorkState,
    authors_in,
    loads,
    member_named,
    progress_of,
    queue_of,
    sitting_in,
    sittings_of,
)
from annotation.assessing.services import pull_sitting, recall_sitting
from annotation.assessing.services.assignment_orders import AssignmentOrder, AssignmentPlan, PersonLoad, Way
from annotation.assessing.services.name_author import name_author
from annotation.assessing.services.plan_assignments import (
    MOST_MORE,
    MOST_PER_SET,
    carry_out,
    plan_assignments,
)
from annotation.assessing.words import plan_in_words, plan_notes, recalled_in_words
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound
from annotation.models import Project, Sitting, System
from annotation.models.base import new_seed

LARGEST_PLAN_SEED = 2**62
MOST_PEOPLE_NAMED = 5000


class WorkRow(serializers.Serializer[GivenSitting]):
    """One assessor on one document set, or a set that waits in the queue for one."""

    id = serializers.CharField(source="sitting_id")
    assessor = serializers.CharField(allow_null=True, help_text="Null while it waits in the queue.")
    document_id = serializers.CharField(source="document_set")
    state = NamedChoice(
        "WorkState", [(state.value, state.value) for state in WorkState if state != WorkState.ALL]
    )
    summaries = serializers.IntegerField(help_text="Peer summaries; hidden repeats count once.")
    judged_units = serializers.IntegerField(
        allow_null=True,
        help_text="Model units with a percent; null for other people's assignments on a set that the caller "
        "has open.",
    )
    active_ms = serializers.IntegerField(help_text="Active working time.")
    is_pulled = serializers.BooleanField(help_text="Taken from the queue, so it has a lease.")
    lease_until = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    recalled_at = serializers.DateTimeField(allow_null=True)
    recalled_as = Told(recalled_in_words, help_text="Reason for withdrawal; empty if not withdrawn.")


class WorkQuery(serializers.Serializer[Any]):
    state = NamedChoice(
        "WorkFilter", [(state.value, state.value) for state in WorkState], default=WorkState.ALL.value
    )
    assessor = serializers.CharField(required=False, help_text="Only this person's assignments.")


class NewAssignments(serializers.Serializer[Any]):
    """What is to be given to whom. See the fields' words for what each way takes."""

    way = NamedChoice(
        "AssignWay",
        [(way.value, way.value) for way in Way],
        help_text="hand: the given sets to one person. more: `count` sets to one person. plan: `per_set` "
        "assessors per set. queue: the same without named people.",
    )
    people = serializers.ListField(
        child=serializers.CharField(), default=list, max_length=MOST_PEOPLE_NAMED, help_text="Usernames."
    )
    document_sets = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        max_length=MOST_PEOPLE_NAMED,
        help_text="Ids of the sets to assign or plan; empty for all.",
    )
    count = serializers.IntegerField(default=1, min_value=1, max_value=MOST_MORE)
    per_set = serializers.IntegerField(default=1, min_value=1, max_value=MOST_PER_SET)
    avoid_own = serializers.BooleanField(
        default=True, help_text="Do not assign people sets with their own summaries; not for hand."
    )
    by_summary = serializers.BooleanField(
        default=False,
        help_text="Assign by summary instead of by set; assessors and systems may then be confounded.",
    )
    seed = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=LARGEST_PLAN_SEED,
        help_text="Random if omitted.",
    )
    preview = serializers.BooleanField(default=False, help_text="Preview only; changes nothing.")
    expected = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=32,
        help_text="`fingerprint` of a preview with the same seed: refused if the result would differ.",
    )


class PersonLoadRow(serializers.Serializer[PersonLoad]):
    person = serializers.CharField()
    sets = serializers.IntegerField()
    summaries = serializers.IntegerField()


class PlanRow(serializers.Serializer[AssignmentPlan]):
    """What was given out, or would be."""

    sittings = serializers.IntegerField()
    sets = serializers.IntegerField()
    summaries = serializers.IntegerField(help_text="Peer summaries, counted once per assessor.")
    loads = PersonLoadRow(many=True)
    short = serializers.IntegerField(help_text="Sets (or summaries) with fewer assessors than requested.")
    enough = serializers.IntegerField(help_text="Sets (or summaries) that already have enough.")
    left_out = serializers.ListField(
        child=serializers.CharField(), help_text="Given sets that the person already has."
    )
    seed = serializers.IntegerField(source="order.seed")
    fingerprint = serializers.CharField()
    in_words = Told(plan_in_words)
    notes = ToldEach(plan_notes)
    stranded = serializers.IntegerField(
        help_text="Queue assignments without an eligible assessor: add an assessor, or request fewer."
    )
    for_authors_alone = serializers.IntegerField(
        help_text="Queue assignments that can only go to people who wrote a summary in the set."
    )


class GivenRow(serializers.Serializer[Any]):
    """Ids of the assignments that were made or added to; none in a preview."""

    plan = PlanRow(allow_null=True, help_text="Null once it is done.")
    sittings = serializers.ListField(child=serializers.CharField())


class LoadRow(serializers.Serializer[AssessorLoad]):
    """What one person has to do and has done, in assignments."""

    person = serializers.CharField()
    is_assessor = serializers.BooleanField()
    open = serializers.IntegerField()
    drafts = serializers.IntegerField(help_text="Open ones that are started.")
    closed = serializers.IntegerField()
    recalled = serializers.IntegerField()
    judged_units = serializers.IntegerField()
    hours = serializers.FloatField(help_text="Active working time.")


class HeldRow(serializers.Serializer[HeldSitting]):
    id = serializers.CharField(source="sitting_id")
    assessor = serializers.CharField()
    document_id = serializers.CharField(source="document_set")
    lease_until = serializers.DateTimeField()
    is_stalled = serializers.BooleanField(help_text="Inactive past the lease.")


class QueueRow(serializers.Serializer[SetQueue]):
    waiting = serializers.IntegerField(help_text="Assignments that can be taken.")
    waiting_sets = serializers.IntegerField()
    held = HeldRow(many=True)
    stalled = serializers.IntegerField()
    lapsed = serializers.IntegerField(help_text="Started sets whose lease expired.")
    stranded = serializers.IntegerField(
        help_text="Waiting assignments without an eligible assessor: add an assessor, or withdraw them."
    )
    stranded_sets = serializers.ListField(child=serializers.CharField(), help_text="Their document sets.")
    for_authors_alone = serializers.IntegerField(
        help_text="Waiting assignments that can only go to people who wrote a summary in the set."
    )


class WithdrawnRow(serializers.Serializer[Any]):
    withdrawn = serializers.IntegerField(help_text="Assignments that were removed from the queue.")


class Assessor(serializers.Serializer[Any]):
    assessor = serializers.CharField(help_text="Username.")


class AuthorRow(serializers.Serializer[Author]):
    id = serializers.CharField(source="system_id")
    system = serializers.CharField()
    kind = NamedChoice("SystemKind", System.Kind.choices)
    person = serializers.CharField(allow_null=True, help_text="Username of the member who wrote them.")


class AuthorBody(serializers.Serializer[Any]):
    person = serializers.CharField(allow_null=True, help_text="Username of a member; null for none.")


class Assignments(ApiView):
    tag = "assignment"

    @operation("list_assignments", parameters=[WorkQuery, PageQuery], responses=WorkRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List everybody's assignments, newest first.

        Needs the verb "assign". How far they are, not what was said.
        """
        project = self.enter(Verb.ASSIGN)
        query = self.query(WorkQuery, PageQuery)
        found = sittings_of(project, state=WorkState(query["state"]), person=query.get("assessor", ""))
        return self.page(
            found.select_related("assessor", "document_set"),
            WorkRow,
            query=query,
            scope=sittings_of(project),
            order=("-pk",),
            looked_up=lambda found: progress_of(found, viewer=self.person),
        )

    @operation("assign", request=NewAssignments, responses={200: GivenRow, 201: GivenRow})
    def post(self, request: Request, slug: str) -> Response:
        """Give document sets to assessors, or fill the queue.

        Needs the verb "assign". With `preview` nothing changes and the answer says what it comes to;
        send its `seed` and `fingerprint` back to have exactly that done.
        """
        project = self.enter(Verb.ASSIGN)
        wanted = self.body(NewAssignments)
        preview, expected = wanted.pop("preview"), wanted.pop("expected")
        order = _order(wanted)
        if preview:
            plan = plan_assignments(project=project, order=order, by=self.person)
            return Response(GivenRow({"plan": plan, "sittings": []}).data)
        given = carry_out(project=project, order=order, by=self.person, expected=expected)
        ids = [sitting.public_id for sitting in given]
        return Response(GivenRow({"plan": None, "sittings": ids}).data, status=status.HTTP_201_CREATED)


class Assessors(ApiView):
    tag = "assignment"
    pagination_class = None

    @operation("list_assessors", responses=LoadRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the load of everybody who is or was an assessor.

        Needs the verb "assign".
        """
        rows: Any = loads(self.enter(Verb.ASSIGN))
        return Response(LoadRow(rows, many=True).data)


class QueueView(ApiView):
    tag = "assignment"

    @operation("get_queue", responses=QueueRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show what waits in the queue and who holds what of it.

        Needs the verb "assign".
        """
        return Response(QueueRow(queue_of(self.enter(Verb.ASSIGN))).data)


class QueueWithdraw(ApiView):
    tag = "assignment"

    @operation("withdraw_stranded", responses=WithdrawnRow)
    def post(self, request: Request, slug: str) -> Response:
        """Take out of the queue what waits there for nobody.

        Needs the verb "assign". Everybody who may assess has those sets already, or another copy waits for them.
        """
        withdrawn = recall_sitting.withdraw_stranded(project=self.enter(Verb.ASSIGN), by=self.person)
        return Response(WithdrawnRow({"withdrawn": withdrawn}).data)


class SittingRecall(ApiView):
    tag = "assignment"

    @operation("recall_sitting", responses=WorkRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Withdraw an open assignment from its assessor, or out of the queue.

        Needs the verb "assign". What was said in it is kept and counts for nothing.
        """
        project = self.enter(Verb.ASSIGN)
        recalled = recall_sitting.recall(sitting=sitting_in(project, public_id), by=self.person)
        return _work(project, recalled, self.person)


class SittingReassign(ApiView):
    tag = "assignment"

    @operation("reassign_sitting", request=Assessor, responses=WorkRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Give the work of an open assignment to somebody else, who starts afresh.

        Needs the verb "assign". The answer is the assignment that they have.
        """
        project = self.enter(Verb.ASSIGN)
        sitting = sitting_in(project, public_id)
        to = member_named(project, self.body(Assessor)["assessor"], field="assessor")
        given = recall_sitting.reassign(sitting=sitting, to=to, by=self.person)
        return _work(project, given, self.person)


class SittingRequeue(ApiView):
    tag = "assignment"

    @operation("requeue_sitting", responses=WorkRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Put the work of an open assignment into the queue.

        Needs the verb "assign". The answer is the assignment that waits there.
        """
        project = self.enter(Verb.ASSIGN)
        waiting = recall_sitting.requeue(sitting=sitting_in(project, public_id), by=self.person)
        return _work(project, waiting, self.person)


class SittingPull(ApiView):
    tag = "assessment"

    @operation("pull_sitting", responses={201: SittingRow})
    def post(self, request: Request, slug: str) -> Response:
        """Take the next set of the queue.

        One at a time. It is the caller's for as long as they work at it, and goes back to the queue once
        they have not for the project's `lease_minutes`.
        """
        project = self.enter(Verb.ASSESS)
        sitting = pull_sitting.pull(project=project, by=self.person)
        return Response(
            SittingRow(own_work_in(project, self.person, sitting.public_id)).data,
            status=status.HTTP_201_CREATED,
        )


class SittingTakeUp(ApiView):
    tag = "assessment"

    @operation("take_up_sitting", responses=SittingRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Go on in a set that the caller's lease ran out on, as long as nobody else has pulled it."""
        project = self.enter(Verb.ASSESS)
        lost = own_sitting(project, self.person, public_id)
        sitting = pull_sitting.take_up(sitting=lost, by=self.person)
        return Response(SittingRow(own_work_in(project, self.person, sitting.public_id)).data)


class SittingGiveBack(ApiView):
    tag = "assessment"

    @operation("give_back_sitting", responses={204: None})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Put a set that the caller pulled back into the queue."""
        project = self.enter(Verb.ASSESS)
        sitting = own_sitting(project, self.person, public_id)
        recall_sitting.give_back(sitting=sitting, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Authors(ApiView):
    tag = "assignment"
    pagination_class = None

    @operation("list_authors", responses=AuthorRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the systems that are persons, and which member each is.

        Needs the verb "name authors", which is closed to the blind.
        """
        rows: Any = authors_in(self.enter(Verb.NAME_AUTHORS))
        return Response(AuthorRow(rows, many=True).data)


class OneAuthor(ApiView):
    tag = "assignment"

    @operation("name_author", request=AuthorBody, responses=AuthorRow)
    def patch(self, request: Request, slug: str, public_id: str) -> Response:
        """Say which member wrote a system's summaries.

        Needs the verb "name authors". Assignments are flagged as their assessor's own at once.
        """
        project = self.enter(Verb.NAME_AUTHORS)
        system = System.objects.filter(project=project, public_id=public_id).first()
        if system is None:
            raise NotFound("There is no such system in this project.")
        name = self.body(AuthorBody)["person"]
        person = member_named(project, name, field="person") if name is not None else None
        system = name_author(system=system, person=person, by=self.person)
        author = Author(
            system_id=system.public_id, system=system.name, kind=system.kind, person=name if person else None
        )
        return Response(AuthorRow(author).data)


def _order(wanted: dict[str, Any]) -> AssignmentOrder:
    seed = wanted.pop("seed")
    return AssignmentOrder(
        way=Way(wanted.pop("way")),
        seed=new_seed() if seed is None else seed,
        people=tuple(wanted.pop("people")),
        document_sets=tuple(wanted.pop("document_sets")),
        **wanted,
    )


def _work(project: Project, sitting: Sitting, viewer: User) -> Response:
    (progress,) = progress_of([sitting_in(project, sitting.public_id)], viewer=viewer)
    return Response(WorkRow(progress).data)

"""Assigning document sets, taking sets from the queue, and unassigning sets."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.assessing.api.desk import AssignmentRow
from annotation.assessing.queries.assessment import own_assignment, own_work_in
from annotation.assessing.queries.assignments import (
    ASSIGNMENTS,
    AssessorProgress,
    assessor_progress,
    assignment_in,
    assignments_of,
    member_named,
    set_named,
)
from annotation.assessing.services import queue
from annotation.assessing.services.assign import MOST_PER_SET, assign, assign_sets
from annotation.assessing.services.unassign import unassign
from annotation.core.facts import plain
from annotation.core.permissions import Verb

MOST_PEOPLE_NAMED = 5000


WorkRow = shape_of(ASSIGNMENTS, "WorkRow")


class NewAssignment(serializers.Serializer[Any]):
    assessor = serializers.CharField(help_text="Username.")
    document_id = serializers.CharField()


class NewAssignments(serializers.Serializer[Any]):
    people = serializers.ListField(
        child=serializers.CharField(), min_length=1, max_length=MOST_PEOPLE_NAMED, help_text="Usernames."
    )
    per_set = serializers.IntegerField(default=1, min_value=1, max_value=MOST_PER_SET)


class Assignments(ApiView):
    tag = "assignment"

    get = operation_of(
        ASSIGNMENTS,
        WorkRow,
        """List everybody's assignments, newest first.

        Needs the verb "assign".
        """,
    )

    @operation("assign", request=NewAssignment, responses={201: WorkRow})
    def post(self, request: Request, slug: str) -> Response:
        """Assign a document set to one person.

        Needs the verb "assign". Answers of the person's earlier assignment are kept.
        """
        project = self.enter(Verb.ASSIGN)
        wanted = self.body(NewAssignment)
        assignment = assign(
            document_set=set_named(project, wanted["document_id"]),
            assessor=member_named(project, wanted["assessor"], field="assessor"),
            by=self.person,
        )
        return Response(WorkRow(assignment).data, status=status.HTTP_201_CREATED)


class SetsAssigned(ApiView):
    tag = "assignment"

    @operation("assign_sets", request=NewAssignments, responses={201: WorkRow(many=True)})
    def post(self, request: Request, slug: str) -> Response:
        """Assign people to the document sets that have fewer than `per_set` assessors.

        Needs the verb "assign". People with the fewest open sets come first. Nobody gets a set again that they had
        before.
        """
        project = self.enter(Verb.ASSIGN)
        wanted = self.body(NewAssignments)
        people = [member_named(project, name, field="people") for name in wanted["people"]]
        given = assign_sets(project=project, people=people, per_set=wanted["per_set"], by=self.person)
        rows: Any = assignments_of(project).filter(pk__in=[assignment.pk for assignment in given])
        return Response(WorkRow(rows, many=True).data, status=status.HTTP_201_CREATED)


class Assessors(ApiView):
    tag = "assignment"
    pagination_class = None

    @operation("list_assessors", responses=list[AssessorProgress])
    def get(self, request: Request, slug: str) -> Response:
        """List the progress of assessors.

        Needs the verb "assign".
        """
        return Response(plain(assessor_progress(self.enter(Verb.ASSIGN))))


class AssignmentUnassign(ApiView):
    tag = "assignment"

    @operation("unassign", responses=WorkRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Unassign an open assignment.

        The assignment's answers are kept but do not count. Needs the verb "assign".
        """
        project = self.enter(Verb.ASSIGN)
        assignment = unassign(assignment=assignment_in(project, public_id), by=self.person)
        return Response(WorkRow(assignment).data)


class AssignmentPull(ApiView):
    tag = "assessment"

    @operation("pull_assignment", responses={201: AssignmentRow})
    def post(self, request: Request, slug: str) -> Response:
        """Take the next set of the queue.

        A person has at most one open set of the queue. The set may return to the queue after the project's
        `lease_minutes` without work.
        """
        project = self.enter(Verb.ASSESS)
        assignment = queue.pull(project=project, by=self.person)
        return Response(
            AssignmentRow(own_work_in(project, self.person, assignment.public_id)).data,
            status=status.HTTP_201_CREATED,
        )


class AssignmentTakeUp(ApiView):
    tag = "assessment"

    @operation("take_up_assignment", responses=AssignmentRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Continue a set that the caller lost or returned, if the set still needs assessors."""
        project = self.enter(Verb.ASSESS)
        lost = own_assignment(project, self.person, public_id)
        assignment = queue.take_up(assignment=lost, by=self.person)
        return Response(AssignmentRow(own_work_in(project, self.person, assignment.public_id)).data)


class AssignmentGiveBack(ApiView):
    tag = "assessment"

    @operation("give_back_assignment", responses={204: None})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Return a set to the queue."""
        project = self.enter(Verb.ASSESS)
        assignment = own_assignment(project, self.person, public_id)
        queue.give_back(assignment=assignment, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)

"""Guidelines: what people go by when they judge, in versions."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery
from annotation.api.fields import WordChoice
from annotation.api.pagination import DEFAULT_LIMIT, LARGEST_LIMIT
from annotation.api.schema import operation
from annotation.core.guidelines import rendered
from annotation.core.permissions import Verb, verbs_in
from annotation.models import Guideline
from annotation.projects.queries.guideline_gaps import Gaps, GuidelineGap, gaps_of, may_see_gaps
from annotation.projects.queries.guidelines import version_of
from annotation.projects.services.write_guidelines import LONGEST_NOTE, LONGEST_TEXT, write_guidelines


class GuidelineRow(serializers.Serializer[Guideline]):
    id = serializers.CharField(source="public_id")
    version = serializers.IntegerField(help_text="The highest version is current.")
    note = serializers.CharField(help_text="Change note.")
    by = serializers.CharField(source="by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()


class GuidelineDetail(GuidelineRow):
    text = serializers.CharField(help_text="Markdown.")
    html = serializers.SerializerMethodField(help_text="The text rendered and sanitised.")

    def get_html(self, row: Guideline) -> str:
        return rendered(row.text)


class NewGuideline(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=LONGEST_TEXT, help_text="Markdown; HTML in it is shown as text.")
    note = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_NOTE)
    seen = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="The version that you saw, 0 for none. If there is a newer one, the request is a conflict "
        "(409) with both versions, and nothing is written.",
    )


class GapQuery(serializers.Serializer[Any]):
    """Which gaps are wanted."""

    settled = serializers.BooleanField(default=False, help_text="Gaps resolved by a newer version.")
    limit = serializers.IntegerField(
        default=DEFAULT_LIMIT, min_value=1, max_value=LARGEST_LIMIT, help_text="The newest so many."
    )


class GapRow(serializers.Serializer[GuidelineGap]):
    id = serializers.CharField(source="gap_id", help_text="Of the decision or verdict that carries the mark.")
    kind = WordChoice(["decision", "verdict"])
    by = serializers.CharField()
    at = serializers.DateTimeField()
    about = serializers.CharField(help_text="The claim or model unit.")
    reason = serializers.CharField()
    document_set = serializers.CharField()
    summary = serializers.CharField(source="summary_id", help_text="The peer summary.")
    marked_under = serializers.IntegerField(help_text="The current version at that time; 0 for none.")
    settled_by = serializers.IntegerField(
        allow_null=True, help_text="The first version after it; null while the gap is open."
    )


class GapsFound(serializers.Serializer[Gaps]):
    count = serializers.IntegerField(
        allow_null=True, help_text="All of that state; null while you are blind."
    )
    results = GapRow(many=True, source="newest", help_text="Newest first.")


class GuidelineGaps(ApiView):
    tag = "guidelines"

    @operation("list_guideline_gaps", parameters=[GapQuery], responses=GapsFound)
    def get(self, request: Request, slug: str) -> Response:
        """List where people marked that the guidelines do not say how to answer.

        Needs the verb "change project". Writing a new version resolves what was marked before it. While you hold open
        assessor work nothing is told, since the marks tell what others said of single texts.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        query = self.query(GapQuery)
        if not may_see_gaps(verbs_in(self.person, project)):
            return Response({"count": None, "results": []})
        found = gaps_of(project, self.reader(project), is_settled=query["settled"], limit=query["limit"])
        return Response(GapsFound(found).data)


class Guidelines(ApiView):
    tag = "guidelines"

    @operation("list_guidelines", parameters=[PageQuery], responses=GuidelineRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the versions of a project's guidelines, newest first.

        The first one is in force; where there is none, people find the project's description.
        """
        project = self.enter(Verb.VIEW_PROJECT)
        rows = project.guidelines.select_related("by")
        return self.page(rows, GuidelineRow, query=self.query(PageQuery), order=("-version", "-pk"))

    @operation("write_guidelines", request=NewGuideline, responses={201: GuidelineDetail})
    def post(self, request: Request, slug: str) -> Response:
        """Put guidelines in force, as a new version.

        Needs the verb "change project". The text in force already is no new version.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        row = write_guidelines(project=project, by=self.person, **self.body(NewGuideline))
        return Response(GuidelineDetail(row).data, status=status.HTTP_201_CREATED)


class OneGuideline(ApiView):
    tag = "guidelines"

    @operation("get_guidelines", responses=GuidelineDetail)
    def get(self, request: Request, slug: str, version: int) -> Response:
        """Show one version of a project's guidelines."""
        project = self.enter(Verb.VIEW_PROJECT)
        return Response(_shown(version_of(project, version)))


def _shown(row: Guideline) -> dict[str, Any]:
    return GuidelineDetail(row).data

"""Sample projects to look at: which there are, and whether they stand here."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.sample.sample_projects import ask_for_sample, remove_sample_project, samples_for


class SampleRow(serializers.Serializer[Any]):
    slug = serializers.CharField(help_text="Address of the sample, and of the project that is made of it.")
    name = serializers.CharField()
    is_there = serializers.BooleanField(help_text="Whether a project of that address is there.")
    is_ready = serializers.BooleanField(help_text="Whether it is made and judged.")


class SampleList(serializers.Serializer[Any]):
    results = SampleRow(many=True)


class Samples(ApiView):
    tag = "samples"

    @operation("list_samples", responses=SampleList)
    def get(self, request: Request) -> Response:
        """List the sample projects that can be added.

        For those who may make projects.
        """
        self.query()
        shown = [
            {"slug": slug, "name": sample.name, "is_there": bool(project)}
            | {"is_ready": bool(project and sample.is_answered(project))}
            for slug, sample, project in samples_for(self.person)
        ]
        return Response(SampleList({"results": shown}).data)


class SampleAdd(ApiView):
    tag = "samples"

    @operation("add_sample", responses={202: None}, refusals=("422",))
    def post(self, request: Request, name: str) -> Response:
        """Have a sample project made, by a worker; it takes up to a minute.

        For those who may make projects.
        """
        ask_for_sample(name=name, by=self.person)
        return Response(status=status.HTTP_202_ACCEPTED)


class SampleRemove(ApiView):
    tag = "projects"

    @operation("remove_sample", responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        """Remove a sample project with all that is in it.

        Needs the verb "manage members". Projects that are no samples stay (409).
        """
        remove_sample_project(project=self.enter(Verb.MANAGE_MEMBERS), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)

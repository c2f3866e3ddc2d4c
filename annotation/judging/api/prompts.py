"""Prompts: the words of each step, and saving other ones."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.judging.queries.prompts import RUN_STEPS, prompt_of, versions_of
from annotation.judging.services.save_prompt import LONGEST_PROMPT_NOTE, save_prompt
from annotation.judging.words import STEP_WORDS
from annotation.models import PromptVersion
from evaluation.judging.prompts import LONGEST_PART, LONGEST_SYSTEM, PROMPTS


class VersionRow(serializers.Serializer[PromptVersion]):
    id = serializers.CharField(source="public_id")
    number = serializers.IntegerField()
    version = serializers.CharField(help_text="Derived from the words; identifies stored calls.")
    system = serializers.CharField()
    parts = serializers.SerializerMethodField(help_text="All parts, reworded or not, by name.")
    note = serializers.CharField()
    by = serializers.CharField(source="created_by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()

    def get_parts(self, row: PromptVersion) -> dict[str, str]:
        return dict(prompt_of(row).part_words)


class StepRow(serializers.Serializer[Any]):
    """A step with the built-in words, and the project's versions, the newest first."""

    step = serializers.CharField()
    purpose = serializers.CharField(help_text="When a run asks it.")
    system = serializers.CharField(
        help_text="$custom_instruction and, where the step has parts, $parts are filled in; $$ is a dollar sign."
    )
    parts = serializers.DictField(child=serializers.CharField(), help_text="Of which $parts is put together.")
    version = serializers.CharField()
    versions = VersionRow(many=True)


class StepList(serializers.Serializer[Any]):
    results = StepRow(many=True)


class NewVersion(serializers.Serializer[Any]):
    """What is left out keeps the built-in words."""

    system = serializers.CharField(required=False, max_length=2 * LONGEST_SYSTEM, trim_whitespace=False)
    parts = serializers.DictField(
        child=serializers.CharField(max_length=2 * LONGEST_PART, trim_whitespace=False), required=False
    )
    note = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_PROMPT_NOTE)


class Prompts(ApiView):
    tag = "prompts"

    @operation("list_prompts", responses=StepList)
    def get(self, request: Request, slug: str) -> Response:
        """List the steps that runs ask, with the built-in words and the project's versions."""
        project = self.enter(Verb.VIEW_RUNS)
        self.query()
        rows = list(versions_of(project))
        steps = [
            {
                "step": step,
                "purpose": STEP_WORDS[step].purpose,
                "system": PROMPTS[step].system.strip(),
                "parts": PROMPTS[step].part_words,
                "version": PROMPTS[step].version,
                "versions": [row for row in rows if row.step == step],
            }
            for step in RUN_STEPS
        ]
        return Response(StepList({"results": steps}).data)


class PromptVersions(ApiView):
    tag = "prompts"

    @operation("save_prompt", request=NewVersion, responses={201: VersionRow})
    def post(self, request: Request, slug: str, step: str) -> Response:
        """Save other words for a step as a new version.

        Needs the verb "change project". A judge of the project uses it once its `prompts` name it.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        row = save_prompt(project=project, step=step, by=self.person, **self.body(NewVersion))
        return Response(VersionRow(row).data, status=status.HTTP_201_CREATED)

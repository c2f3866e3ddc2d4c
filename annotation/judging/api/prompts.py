"""Prompts: in which words the project's judges are told what to do."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.fields import Told
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.judging.queries.prompts import (
    VERSIONS_SHOWN,
    PastVersion,
    Preview,
    StepPrompt,
    history_of,
    known_step,
    preview,
    step_of,
    steps_of,
)
from annotation.judging.services.change_prompt import (
    LONGEST_PROMPT_NOTE,
    restore_prompt,
    reword_prompt,
    reworded,
)
from annotation.judging.words import STEP_WORDS
from annotation.models import Project, PromptVersion
from evaluation.judging.prompts import LONGEST_PART, LONGEST_SYSTEM


class StepRow(serializers.Serializer[StepPrompt]):
    """A step with the words in force for it."""

    step = serializers.CharField()
    name = Told(lambda step: STEP_WORDS[step.step].name)
    purpose = Told(lambda step: STEP_WORDS[step.step].purpose, help_text="When a run asks it.")
    system = serializers.SerializerMethodField(
        help_text="The step's text. $custom_instruction and, where the step is told in parts, $parts are "
        "filled in; $$ is a dollar sign."
    )
    parts = serializers.DictField(
        child=serializers.CharField(),
        source="prompt.part_words",
        help_text="Instructions of which $parts is put together, by name.",
    )
    version = serializers.CharField(
        source="prompt.version", help_text="Derived from the prompt; identifies stored calls."
    )
    is_own = serializers.BooleanField(help_text="Whether it is the project's own prompt.")
    number = serializers.IntegerField(help_text="Of the latest version; 0 if there is none.")

    def get_system(self, step: StepPrompt) -> str:
        return step.prompt.system.strip()


class VersionRow(serializers.Serializer[PromptVersion]):
    id = serializers.CharField(source="public_id")
    number = serializers.IntegerField()
    is_built_in = serializers.BooleanField(help_text="Whether it restored the built-in prompt.")
    version = serializers.CharField()
    note = serializers.CharField()
    by = serializers.CharField(source="created_by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()


class PastVersionRow(serializers.Serializer[PastVersion]):
    """A version with the words that it put in force."""

    made = VersionRow(source="row")
    system = serializers.SerializerMethodField()
    parts = serializers.DictField(child=serializers.CharField(), source="prompt.part_words")

    def get_system(self, past: PastVersion) -> str:
        return past.prompt.system.strip()


class StepDetail(StepRow):
    history = PastVersionRow(many=True, help_text=f"Newest first, the last {VERSIONS_SHOWN}.")


class StepList(serializers.Serializer[Any]):
    results = StepRow(many=True)


class Change(serializers.Serializer[Any]):
    note = serializers.CharField(
        default="", allow_blank=True, max_length=LONGEST_PROMPT_NOTE, help_text="Why."
    )
    seen = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="The version that you saw. If there is a newer one, the request is a conflict (409) with "
        "both versions, and nothing is written.",
    )


class NewWords(Change):
    """`system`, `parts`, or both; what is left out keeps the words in force."""

    system = serializers.CharField(required=False, max_length=2 * LONGEST_SYSTEM, trim_whitespace=False)
    parts = serializers.DictField(
        child=serializers.CharField(max_length=2 * LONGEST_PART, trim_whitespace=False), required=False
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not {"system", "parts"} & set(attrs):
            raise serializers.ValidationError("Send the new system text, parts, or both.")
        return attrs


class Previewed(serializers.Serializer[Any]):
    """New words of a step, and the instruction of a judge to try them with."""

    system = serializers.CharField(required=False, max_length=2 * LONGEST_SYSTEM, trim_whitespace=False)
    parts = serializers.DictField(
        child=serializers.CharField(max_length=2 * LONGEST_PART, trim_whitespace=False), required=False
    )
    custom_instruction = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_SYSTEM)


class PreviewRow(serializers.Serializer[Preview]):
    system = serializers.CharField(help_text="The system message, with all parts.")
    message = serializers.CharField(help_text="The user message: sample texts as JSON.")


class Prompts(ApiView):
    tag = "prompts"

    @operation("list_prompts", responses=StepList)
    def get(self, request: Request, slug: str) -> Response:
        """List the steps that runs ask, with the words in force."""
        project = self.enter(Verb.VIEW_RUNS)
        self.query()
        return Response(StepList({"results": steps_of(project)}).data)


class OnePrompt(ApiView):
    tag = "prompts"

    @operation("get_prompt", responses=StepDetail)
    def get(self, request: Request, slug: str, step: str) -> Response:
        """Show a step: the words in force, and the versions before."""
        return _shown(self.enter(Verb.VIEW_RUNS), step)


class PromptVersions(ApiView):
    tag = "prompts"

    @operation("reword_prompt", request=NewWords, responses={201: StepDetail})
    def post(self, request: Request, slug: str, step: str) -> Response:
        """Put a step into other words.

        Needs the verb "change project". Runs that have started keep their words; the next one asks in the new
        ones. Words that are in force already are no new version.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        reword_prompt(project=project, step=known_step(step), by=self.person, **self.body(NewWords))
        return _shown(project, step, status.HTTP_201_CREATED)


class PromptPreview(ApiView):
    tag = "prompts"

    @operation("preview_prompt", request=Previewed, responses=PreviewRow)
    def post(self, request: Request, slug: str, step: str) -> Response:
        """Show what a judge would get in other words; nothing is kept.

        Needs the verb "change project". What is left out stands in the words in force.
        """
        now = step_of(self.enter(Verb.CHANGE_PROJECT), known_step(step))
        words = self.body(Previewed)
        prompt = reworded(now.prompt, system=words.get("system"), parts=words.get("parts"))
        return Response(PreviewRow(preview(prompt, words["custom_instruction"])).data)


class PromptRestore(ApiView):
    tag = "prompts"

    @operation("restore_prompt", request=Change, responses={201: StepDetail})
    def post(self, request: Request, slug: str, step: str) -> Response:
        """Go back to the built-in words of a step.

        Needs the verb "change project". Calls that were made in them before are found again.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        restore_prompt(project=project, step=known_step(step), by=self.person, **self.body(Change))
        return _shown(project, step, status.HTTP_201_CREATED)


def _shown(project: Project, step: str, code: int = status.HTTP_200_OK) -> Response:
    known = known_step(step)
    past: Any = history_of(project, known)
    history = PastVersionRow(past, many=True).data
    return Response({**StepRow(step_of(project, known)).data, "history": history}, status=code)

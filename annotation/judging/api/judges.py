"""The API of judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.fields import NamedChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.lists import Viewer
from annotation.core.permissions import Verb, verbs_in
from annotation.core.refusals import Invalid, NotFound
from annotation.judging.queries.judges import JUDGES, judges_of, members_of, served_models
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.save_judge import LONGEST_KEY, PROFILE, add_judge, change_judge
from annotation.models import Judge, Project

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST_MEMBERS = 20
OWN_PROFILE = tuple(each for each in PROFILE if each not in ("kind", "api_key_env"))
"""The columns of a judge that the API shows and changes, besides its kind."""

JudgeRow = shape_of(JUDGES, "JudgeRow")


class JudgeProfile(serializers.ModelSerializer[Judge]):
    """A judge with a server, or a panel. Omitted fields keep their values; in a new judge they get defaults."""

    name = serializers.CharField(max_length=60)
    members = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        max_length=MOST_MEMBERS,
        help_text="Names of a panel's members.",
    )

    api_key = serializers.CharField(
        write_only=True,
        required=False,
        allow_blank=True,
        max_length=LONGEST_KEY,
        help_text="Stored encrypted for the server of `base_url`, and never returned. Empty: delete the stored key.",
    )

    class Meta:
        model = Judge
        fields: tuple[str, ...] = (*OWN_PROFILE, "members", "api_key")
        validators = ()


class NewJudge(JudgeProfile):
    kind = NamedChoice(
        "OwnJudgeKind", [(kind.value, kind.label) for kind in (Judge.Kind.OPENAI, Judge.Kind.PANEL)]
    )

    class Meta(JudgeProfile.Meta):
        fields = (*JudgeProfile.Meta.fields, "kind")


class JudgeDetail(JudgeRow, serializers.ModelSerializer[Judge]):  # type: ignore[valid-type, misc]
    has_key = serializers.BooleanField(
        source="sealed_key", read_only=True, help_text="Whether an API key is stored for it."
    )
    served_models = serializers.SerializerMethodField(help_text="Models that its server named, oldest first.")
    reply_format = serializers.ChoiceField(choices=Judge.ReplyFormat.choices, allow_blank=True)
    refused_parameters = serializers.ListField(
        child=serializers.CharField(), help_text="Parameters that its server rejects; omitted from requests."
    )
    members = serializers.SerializerMethodField(help_text="Names of a panel's members.")

    class Meta:
        model = Judge
        fields = (
            "id",
            *OWN_PROFILE,
            "kind",
            "has_key",
            "is_deciding",
            "is_shared",
            "archived_at",
            "served_models",
            "reply_format",
            "refused_parameters",
            "members",
            "addresses",
        )
        read_only_fields = fields

    def get_served_models(self, judge: Judge) -> list[str]:
        return served_models(judge)

    def get_members(self, judge: Judge) -> list[str]:
        return [member.name for member in members_of(judge)] if judge.kind == Judge.Kind.PANEL else []


class Judges(ApiView):
    tag = "judges"

    get = operation_of(
        JUDGES,
        JudgeRow,
        """List the judges that the project may use, its own and the shared ones, with the deciding one marked.

        The built-in judge "lexical" can always be named, and is listed after its first use.
        """,
    )

    @operation("add_judge", request=NewJudge, responses={201: JudgeDetail})
    def post(self, request: Request, slug: str) -> Response:
        """Add a judge of the project's own.

        Needs the verb "change project", and "set keys" for an API key. The base URL must be an allowed one.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        judge = add_judge(project=project, by=self.person, **_told(project, self.body(NewJudge)))
        return _shown(self.person, project, judge, status.HTTP_201_CREATED)


class OneJudge(ApiView):
    tag = "judges"

    @operation("get_judge", responses=JudgeDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a judge.

        Needs the verb "change project".
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        return _shown(self.person, project, _judge(project, public_id))

    @operation("change_judge", request=JudgeProfile, responses=JudgeDetail)
    def patch(self, request: Request, slug: str, public_id: str) -> Response:
        """Change a judge of the project's own.

        Needs the verb "change project", and "set keys" for an API key. A judge that has been used keeps its name, kind
        and model (409, judge_used). If the server changes, the stored key is deleted.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        judge = _judge(project, public_id)
        changes = _told(project, self.body(JudgeProfile, partial=True))
        return _shown(self.person, project, change_judge(judge=judge, by=self.person, **changes))


def _judge(project: Project, public_id: str) -> Judge:
    return only(judges_of(project).select_related("project"), public_id, "judge")


def named_judge(name: str, project: Project, field: str) -> Judge:
    """Return the judge that this field of a body names. Raises Invalid and not NotFound, because the address exists."""
    try:
        return judge_by_name(name, project)
    except NotFound as refusal:
        raise Invalid(refusal.message, field=field, code=refusal.code) from refusal


def _told(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    if "members" not in given:
        return dict(given)
    return {**given, "members": [named_judge(name, project, "members") for name in given["members"]]}


def _shown(person: User, project: Project, judge: Judge, code: int = status.HTTP_200_OK) -> Response:
    vars(judge)["is_deciding"] = judge.pk == project.deciding_judge_id
    viewer = Viewer(person, project, verbs_in(person, project))
    return Response(JudgeDetail(judge, context={"viewer": viewer}).data, status=code)

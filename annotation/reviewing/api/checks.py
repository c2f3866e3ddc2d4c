"""Checks, and reviewers' answers to checks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Prefetch
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import READ_CONTENT, ApiView, only, read
from annotation.api.errors import ErrorBody, error_of
from annotation.api.fields import FactsField, LabelField, NamedChoice, RowsField, ShareField, WordChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.by_hand import Part
from annotation.core.lists import Viewer
from annotation.core.permissions import Verb, project_verbs_and
from annotation.core.refusals import Invalid, Refusal
from annotation.models import (
    Check,
    ErrorType,
    Project,
    Verdict,
)
from annotation.reviewing.queries.check_view import of_project
from annotation.reviewing.queries.review_queue import checks_list
from annotation.reviewing.queries.sight import hides_answers, with_known
from annotation.reviewing.services.lease_check import renew_lease
from annotation.reviewing.services.look_at_check import look_at, see_checks
from annotation.reviewing.services.review import (
    LONGEST_REASON,
    NOT_LOOKED,
    GivenAnswer,
    override,
    withdraw_answer,
)
from annotation.texts.queries.check_text import TextsAround, texts_around

_CHECK = Part(Check, "beside")

LONGEST_EVIDENCE = 1000
MOST_ANSWERS = 200
LARGEST_NUMBER = 2_147_483_647
ANSWERED = ("label", "reason", "evidence", "error_type", "confidence", "active_ms")


def _see(viewer: Viewer, rows: Sequence[Check]) -> None:
    if not hides_answers(viewer):
        shown = Check.objects.filter(pk__in=[check.pk for check in rows])
        see_checks(project=viewer.project, checks=shown, by=viewer.person)


CHECKS = replace(checks_list(hides_answers), prepare=_see)

CheckRow = shape_of(CHECKS, "CheckRow")


class VerdictRow(serializers.Serializer[Verdict]):
    id = serializers.CharField(source="public_id")
    role: Any = WordChoice(
        choices=[Verdict.Role.JUDGE, Verdict.Role.REVIEWER, Verdict.Role.ADJUDICATOR],
        help_text="adjudicator: a decision; the latest that is not withdrawn outranks all other answers.",
    )
    by = serializers.CharField(
        source="author", help_text="The judge, the person, or the source of an imported verdict."
    )
    label: Any = LabelField(allow_null=True, help_text="Null: no usable answer by the judge.")
    probability = serializers.FloatField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True)
    evidence = serializers.ListField(child=serializers.IntegerField())
    error_type = serializers.CharField(help_text="Empty if none was given.")
    reason = serializers.CharField()
    active_ms = serializers.IntegerField(help_text="A person's active time before the answer.")
    had_seen = serializers.BooleanField(help_text="True if the person had seen others' answers before.")
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class CheckDetail(CheckRow):  # type: ignore[misc,valid-type]
    """A check with its answers, oldest first, including withdrawn ones.

    Answers of others are left out while the viewer may not see them.
    """

    verdicts = serializers.SerializerMethodField()

    @extend_schema_field(VerdictRow(many=True))
    def get_verdicts(self, check: Any) -> Any:
        viewer: Viewer = self.context["viewer"]
        said: Any = [one for one in check.said if check.is_known or one.person_id == viewer.person.pk]
        return VerdictRow(said, many=True).data


class ShownCheck(CheckDetail):
    """A check with its verdicts and its texts."""

    texts = FactsField(
        TextsAround,
        texts_around,
        help_text="The numbered units of the text that decides the check, and those around the claim.",
    )


class NewVerdict(serializers.Serializer[Any]):
    """A reviewer's answer to a check."""

    label: Any = LabelField()
    reason = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_REASON)
    evidence = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST_NUMBER),
        default=list,
        max_length=LONGEST_EVIDENCE,
        help_text="Unit numbers of the text that support the answer.",
    )
    error_type = NamedChoice("ErrorType", ErrorType.choices, default="", allow_blank=True)
    confidence = ShareField(default=None, allow_null=True, help_text="0 to 1.")
    active_ms = serializers.IntegerField(
        default=0, min_value=0, max_value=LARGEST_NUMBER, help_text="Time at the check before the answer."
    )
    seen = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="Id of your own last verdict that you saw, empty for none. If you have answered or withdrawn "
        "elsewhere since, it is a conflict (409).",
    )


class GivenVerdict(serializers.Serializer[Any]):
    """The saved answer, and the check after the answer."""

    verdict = VerdictRow()
    check = CheckDetail()


class Checks(ApiView):
    tag = "checks"

    get = operation_of(
        CHECKS,
        CheckRow,
        """List the checks of a project.

        Checks of removed claims are left out. If nothing is hidden from a caller who may review, the server
        records that the caller has seen the answers to each check on the page.
        """,
    )


class OneCheck(ApiView):
    tag = "checks"

    @operation("get_check", responses=ShownCheck)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a check with the answers that the caller may see.

        Reviewers who do not adjudicate see others' answers only after their own, unless the project shows verdicts at
        once.
        """
        project = self.enter(*READ_CONTENT)
        return Response(shown_detail(project, public_id, self.person))


class CheckLooks(ApiView):
    tag = "checks"

    @operation("look_at_check", request=None, responses=ShownCheck)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Record that a check is on the caller's screen, and lease the check to the caller.

        Needs the verb "review". The caller gets a lease of at least five minutes, unless somebody else holds the check.
        """
        project = self.enter(Verb.REVIEW)
        renew_lease(check=_check(project, public_id), by=self.person)
        return Response(shown_detail(project, public_id, self.person))


class CheckVerdicts(ApiView):
    tag = "checks"

    @operation("answer_check", request=NewVerdict, responses={201: GivenVerdict})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Answer a check.

        Needs the verb "review". Scores are updated at once. A later answer of the same person replaces an earlier one,
        which is kept. Refused (409) if the claim was removed.
        """
        project, verbs, asked = project_verbs_and(self.person, slug, Verb.REVIEW, _CHECK, public_id)
        answer = self.body(NewVerdict)
        check = of_project(asked, project)
        given = override(
            check=check,
            by=self.person,
            **{name: answer[name] for name in ANSWERED},
            seen=answer.get("seen", NOT_LOOKED),
        )
        viewer = Viewer(self.person, given.check.project, verbs)
        shown = {"verdict": VerdictRow(given.verdict).data, "check": _detail_of(given, viewer)}
        return Response(shown, status=status.HTTP_201_CREATED)


class OneOfMany(serializers.Serializer[Any]):
    check = serializers.CharField(help_text="Id of the check.")
    label: Any = LabelField()
    reason = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_REASON)
    evidence = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST_NUMBER), default=list, max_length=LONGEST_EVIDENCE
    )
    confidence = ShareField(default=None, allow_null=True, help_text="0 to 1.")


@extend_schema_field(OneOfMany(many=True))
class AnswerRows(RowsField):
    """A list of answers; each answer is validated separately."""


class ManyVerdicts(serializers.Serializer[Any]):
    answers = AnswerRows(MOST_ANSWERS)
    skip_invalid = serializers.BooleanField(
        default=False, help_text="Save every valid answer, instead of all or none."
    )


class OutcomeRow(serializers.Serializer[Any]):
    check = serializers.CharField()
    verdict = serializers.CharField(allow_null=True, help_text="Id of the verdict; null if refused.")
    error = ErrorBody(allow_null=True)


class Outcomes(serializers.Serializer[Any]):
    results = OutcomeRow(many=True, help_text="One for each answer, in their order.")


class CheckAnswersAtOnce(ApiView):
    tag = "checks"

    @operation("answer_checks", request=ManyVerdicts, responses=Outcomes)
    def post(self, request: Request, slug: str) -> Response:
        """Answer several checks at once.

        Needs the verb "review". If an answer is refused, no answer is saved, and `details` names its row. With
        `skip_invalid`, every valid answer is saved, and refused answers are returned with their errors.
        """
        project = self.enter(Verb.REVIEW)
        asked = self.body(ManyVerdicts)
        results = []
        with nullcontext() if asked["skip_invalid"] else transaction.atomic():
            for number, answer in enumerate(asked["answers"], start=1):
                try:
                    results.append(self._answer(project, **_one_of_many(answer)))
                except Refusal as refusal:
                    if not asked["skip_invalid"]:
                        refusal.details["row"] = number
                        raise
                    check = str(answer.get("check", ""))
                    results.append({"check": check, "verdict": None, "error": error_of(refusal)})
        return Response(Outcomes({"results": results}).data)

    def _answer(self, project: Project, *, check: str, **answer: Any) -> dict[str, Any]:
        _, _, asked = project_verbs_and(self.person, project.slug, Verb.REVIEW, _CHECK, check)
        row = of_project(asked, project)
        given = override(check=row, by=self.person, **answer)
        return {"check": check, "verdict": given.verdict.public_id, "error": None}


def _one_of_many(given: dict[str, Any]) -> dict[str, Any]:
    try:
        return read(OneOfMany(data=given), given)
    except serializers.ValidationError as error:
        fault = error_of(error)
        raise Invalid(fault["message"], field=fault["field"], details=fault["details"]) from error


class OneVerdict(ApiView):
    tag = "checks"

    @operation("withdraw_verdict", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Withdraw one's own verdict.

        The withdrawn verdict stays in the list. Withdrawing again changes nothing. A random sample keeps a withdrawn
        verdict as its answer.
        """
        project = self.enter(Verb.REVIEW)
        verdicts = Verdict.objects.filter(check_row__project=project).select_related("check_row__project")
        withdraw_answer(answer=only(verdicts, public_id, "verdict"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


def shown_detail(project: Project, public_id: str, person: User, *, at_desk: bool = False) -> dict[str, Any]:
    """Return the fields of a check that the person may see now, and record what the person sees.

    With `at_desk`, adjudicators too see others' answers only after their own answer, unless the project shows verdicts
    at once.
    """
    viewer = Viewer.now(person, project)
    if at_desk:
        viewer = replace(viewer, verbs=viewer.verbs - {Verb.ADJUDICATE})
    if hides_answers(viewer):
        look_at(check=_check(project, public_id), by=person)
    else:
        see_checks(project=project, checks=Check.objects.filter(public_id=public_id), by=person)
    return _detail(viewer, public_id)


def _check(project: Project, public_id: str) -> Check:
    return only(Check.objects.filter(project=project).select_related("project"), public_id, "check")


def _detail(viewer: Viewer, public_id: str) -> dict[str, Any]:
    said = Verdict.objects.select_related("judge", "person").order_by("pk")
    of_project = Check.objects.filter(project=viewer.project)
    checks = (
        with_known(of_project, viewer.person, is_kept_back=hides_answers(viewer))
        .select_related(
            "project__deciding_judge",
            "claim__unit",
            "claim__claim_set__summary",
            "summary__system",
            "document_set",
        )
        .prefetch_related(Prefetch("verdicts", said, "said"))
    )
    check = only(checks, public_id, "check")
    return dict(ShownCheck(check, context={"viewer": viewer}).data)


def _detail_of(given: GivenAnswer, viewer: Viewer) -> dict[str, Any]:
    check: Any = given.check
    check.is_known, check.said = True, (*given.before.said, given.verdict)
    return dict(CheckDetail(check, context={"viewer": viewer}).data)

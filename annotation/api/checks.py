"""Checks: is this claim expressed in, or supported by, that text? With override and adjudication.

A reviewer sees what the judge and other people said as the project's reveal mode says. Until then no
column, filter or order of theirs tells it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import READ_CONTENT, ApiView, PageQuery, only
from annotation.api.fields import LabelField, NamedChoice, ShareField
from annotation.api.schema import operation
from annotation.models import Adjudication, Check, Claim, Comparison, Label, Project, Unit, Verdict
from annotation.permissions import Verb, verbs_in
from annotation.queries.check_view import is_judge_visible
from annotation.queries.units import unit_list
from annotation.refusals import NotFound
from annotation.services.adjudicate import decide_check, decide_unit, withdraw_decision
from annotation.services.review import NOT_LOOKED, override, withdraw_verdict

ORDERS: dict[str, tuple[str, ...]] = {
    "made": ("pk",),
    "random": ("queue_key", "pk"),
    "doubt": ("-doubt", "queue_key", "pk"),
    "effect": ("-effect", "queue_key", "pk"),
}
UNSCORED = "unscored"
LONGEST_REASON = 4000
LONGEST_EVIDENCE = 1000
LARGEST_NUMBER = 2_147_483_647
OF_THE_JUDGE = ("judge_label", "judge_probability", "unscored_reason", "doubt")
OF_PEOPLE = ("human_label", "is_disputed")


@dataclass(frozen=True, slots=True)
class Reveal:
    """What one person may see of the judge and of other people's answers in one project."""

    project: Project
    person: User
    may_be_hidden: bool

    @classmethod
    def of(cls, project: Project, person: User) -> Reveal:
        verbs = verbs_in(person, project)
        is_reviewer = Verb.REVIEW in verbs and Verb.ADJUDICATE not in verbs
        return cls(project, person, is_reviewer and project.reveal != Project.Reveal.SHOWN)

    @property
    def own(self) -> Exists:
        """Whether the person has ever answered a check, and so has seen what others said."""
        return Exists(Verdict.objects.filter(check_row=OuterRef("pk"), person=self.person))

    def annotated(self, checks: QuerySet[Check]) -> QuerySet[Check]:
        """The checks with `has_own`; see `own`."""
        return checks.annotate(has_own=self.own)

    def hides(self, check: Check, *, asked: bool = False) -> bool:
        """Whether what others said of the check stays hidden for now; see `annotated`."""
        if not self.may_be_hidden or getattr(check, "has_own", False):
            return False
        return not (asked and self.project.reveal == Project.Reveal.ON_REQUEST)


class CheckRow(serializers.Serializer[Check]):
    """A check and what stands for it. The label is null where it is unscored or hidden."""

    id = serializers.CharField(source="public_id")
    side = serializers.ChoiceField(
        choices=Check.Side.choices,
        help_text="reference: a model summary's claim, held against the peer. peer: the other way round.",
    )
    claim = serializers.CharField(source="claim.public_id")
    claim_text = serializers.CharField(source="claim.text")
    summary = serializers.CharField(source="peer.public_id", help_text="The peer summary that it scores.")
    document_set = serializers.CharField(source="peer.document_set.public_id")
    document_id = serializers.CharField(source="peer.document_set.external_id")
    system = serializers.CharField(source="peer.system.name")
    target_words = serializers.IntegerField(source="peer.target_words", allow_null=True)
    judge_label = LabelField(allow_null=True)
    judge_probability = serializers.FloatField(allow_null=True, help_text="Of yes, 0 to 1.")
    human_label = LabelField(allow_null=True)
    final_label = LabelField(allow_null=True)
    final_source = NamedChoice("Decider", Check.Decider.choices, allow_null=True)
    unscored_reason = serializers.CharField(allow_null=True)
    is_disputed = serializers.BooleanField(allow_null=True)
    doubt = serializers.FloatField(allow_null=True, help_text="1: the judge cannot say; 0: it is certain.")
    effect = serializers.FloatField(help_text="Largest change of coverage that another answer could make.")
    is_hidden_yet = serializers.SerializerMethodField(
        help_text="Whether the project keeps back what others said until the caller has answered or asked."
    )

    def get_is_hidden_yet(self, check: Check) -> bool:
        reveal: Reveal = self.context["reveal"]
        return reveal.hides(check, asked=self.context.get("asked", False))

    def to_representation(self, check: Check) -> dict[str, Any]:
        shown = super().to_representation(check)
        if shown["is_hidden_yet"]:
            shown |= dict.fromkeys((*OF_THE_JUDGE, *OF_PEOPLE))
            if check.final_source != Check.Decider.RULE:
                shown |= {"final_label": None, "final_source": None}
        return shown


class VerdictRow(serializers.Serializer[Verdict]):
    id = serializers.CharField(source="public_id")
    source: Any = serializers.ChoiceField(choices=Verdict.Source.choices)
    by = serializers.SerializerMethodField(help_text="The judge, the person, or where it was imported from.")
    label: Any = LabelField(allow_null=True, help_text="Null: the judge gave no usable answer.")
    probability = serializers.FloatField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True)
    evidence = serializers.ListField(child=serializers.IntegerField())
    reason = serializers.CharField()
    shown = serializers.ChoiceField(
        choices=Verdict.Shown.choices, help_text="What a person had seen of the judge before."
    )
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)

    def get_by(self, verdict: Verdict) -> str:
        if verdict.judge:
            return verdict.judge.name
        return verdict.person.get_username() if verdict.person else verdict.origin_name


class AdjudicationRow(serializers.Serializer[Adjudication]):
    """A decision on a check (a label) or on a unit of a comparison (a percent)."""

    id = serializers.CharField(source="public_id")
    label: Any = LabelField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    by = serializers.CharField(source="decided_by.username")
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class CheckDetail(CheckRow):
    """A check with everything said about it, oldest first. Withdrawn answers stay in the list."""

    verdicts = serializers.SerializerMethodField()
    adjudications = serializers.SerializerMethodField()

    @extend_schema_field(VerdictRow(many=True))
    def get_verdicts(self, check: Check) -> Any:
        said: Any = [] if self.get_is_hidden_yet(check) else check.verdicts.all()
        return VerdictRow(said, many=True).data

    @extend_schema_field(AdjudicationRow(many=True))
    def get_adjudications(self, check: Check) -> Any:
        decided: Any = [] if self.get_is_hidden_yet(check) else check.adjudications.all()
        return AdjudicationRow(decided, many=True).data


class CheckQuery(serializers.Serializer[Any]):
    side = serializers.ChoiceField(choices=Check.Side.choices, required=False)
    label: Any = serializers.ChoiceField(
        choices=[*Label.values, UNSCORED],
        required=False,
        help_text="What stands for the check, as far as the caller may see it; unscored: nothing does.",
    )
    system = serializers.CharField(required=False, help_text="Checks of that system's summaries.")
    document_set = serializers.CharField(required=False, help_text="Checks in the set of that id.")
    summary = serializers.CharField(required=False, help_text="Checks that score the summary of that id.")
    disputed = serializers.BooleanField(required=False, help_text="Whether reviewers differ.")
    unanswered = serializers.BooleanField(required=False, help_text="Whether no person has answered yet.")
    order = serializers.ChoiceField(
        choices=list(ORDERS), default="made", help_text="doubt and effect: the largest first."
    )


class CheckLook(serializers.Serializer[Any]):
    reveal = serializers.BooleanField(
        default=False,
        help_text="Ask for the judge's verdict, where the project shows it on request. "
        'Tell so in your answer: "shown": "judge".',
    )


class NewVerdict(serializers.Serializer[Any]):
    """A reviewer's answer, confirming or changing what stands."""

    label: Any = LabelField()
    reason = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_REASON)
    evidence = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST_NUMBER),
        default=list,
        max_length=LONGEST_EVIDENCE,
        help_text="Numbers of the units of the text held against that show it.",
    )
    confidence = ShareField(default=None, allow_null=True, help_text="0 to 1.")
    seen = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="Id of the last reviewer's verdict that you had before you, empty for none. "
        "A newer one is a conflict (409), and nothing is written.",
    )
    shown = serializers.ChoiceField(
        choices=Verdict.Shown.choices,
        default=Verdict.Shown.NOTHING,
        help_text="Whether you had asked for the judge's verdict; where the project does not show it on "
        "request, the server knows better.",
    )


class GivenVerdict(serializers.Serializer[Any]):
    """The answer as it was kept, and what stands for the check now."""

    verdict = VerdictRow()
    check = CheckDetail()


class NewDecision(serializers.Serializer[Any]):
    label: Any = LabelField()
    reason = serializers.CharField(max_length=LONGEST_REASON)


class NewUnitDecision(serializers.Serializer[Any]):
    unit = serializers.CharField(help_text="Id of the model unit, or of the claim that stands in for one.")
    percent = serializers.IntegerField(help_text="How much of it the peer summary expresses, 0 to 100.")
    reason = serializers.CharField(max_length=LONGEST_REASON)


class Checks(ApiView):
    tag = "checks"

    @operation("list_checks", parameters=[CheckQuery, PageQuery], responses=CheckRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the checks of a project.

        Those of claims that have been replaced are left out.
        """
        project = self.enter(*READ_CONTENT)
        query = self.query(CheckQuery, PageQuery)
        reveal = Reveal.of(project, self.person)
        scope = Check.objects.filter(project=project, claim__claim_set__is_active=True)
        rows = reveal.annotated(_wanted(scope, query, reveal)).select_related(
            "claim", "peer__system", "peer__document_set"
        )
        return self.page(
            rows,
            CheckRow,
            query=query,
            scope=scope,
            order=ORDERS[query["order"]],
            context={"reveal": reveal},
        )


class OneCheck(ApiView):
    tag = "checks"

    @operation("get_check", parameters=[CheckLook], responses=CheckDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a check with everything that was said about it."""
        project = self.enter(*READ_CONTENT)
        asked = self.query(CheckLook)["reveal"]
        reveal = Reveal.of(project, self.person)
        return Response(_detail(project, public_id, reveal, asked=asked))


class CheckVerdicts(ApiView):
    tag = "checks"

    @operation("answer_check", request=NewVerdict, responses={201: GivenVerdict})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Answer a check: an override.

        Needs the verb "review". The answer confirms or changes what stood before, and the scores of
        the summary follow at once. A change of mind is another answer; the earlier one is kept.
        """
        project = self.enter(Verb.REVIEW)
        answer = self.body(NewVerdict)
        check = _check(project, public_id)
        verdict = override(
            check=check,
            by=self.person,
            **{name: answer[name] for name in ("label", "reason", "evidence", "confidence")},
            shown=_shown(check, self.person, claimed=answer["shown"]),
            seen=answer.get("seen", NOT_LOOKED),
        )
        reveal = Reveal.of(project, self.person)
        given = {"verdict": VerdictRow(verdict).data, "check": _detail(project, public_id, reveal)}
        return Response(given, status=status.HTTP_201_CREATED)


class OneVerdict(ApiView):
    tag = "checks"

    @operation("withdraw_verdict", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Take one's own verdict back.

        The one before it stands again. The row is kept. Twice changes nothing.
        """
        project = self.enter(Verb.REVIEW)
        verdicts = Verdict.objects.filter(check_row__project=project).select_related("check_row")
        withdraw_verdict(verdict=only(verdicts, public_id, "verdict"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class CheckAdjudications(ApiView):
    tag = "adjudications"

    @operation("adjudicate_check", request=NewDecision, responses={201: AdjudicationRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Settle a check: the label stands above every verdict.

        Needs the verb "adjudicate". A reason is compulsory. The scores follow at once.
        """
        project = self.enter(Verb.ADJUDICATE)
        decision = decide_check(check=_check(project, public_id), by=self.person, **self.body(NewDecision))
        return Response(AdjudicationRow(decision).data, status=status.HTTP_201_CREATED)


class ComparisonAdjudications(ApiView):
    tag = "adjudications"

    @operation("adjudicate_unit", request=NewUnitDecision, responses={201: AdjudicationRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Settle how much of a model unit the peer summary of a comparison expresses.

        Needs the verb "adjudicate". The percent stands above every assessor's. A reason is
        compulsory. The scores follow at once.
        """
        project = self.enter(Verb.ADJUDICATE)
        answer = self.body(NewUnitDecision)
        comparisons = Comparison.objects.filter(peer__document_set__project=project)
        comparison = only(
            comparisons.select_related("peer__document_set__project", "model"), public_id, "comparison"
        )
        decision = decide_unit(
            comparison=comparison,
            unit=_unit(comparison, answer["unit"]),
            by=self.person,
            percent=answer["percent"],
            reason=answer["reason"],
        )
        return Response(AdjudicationRow(decision).data, status=status.HTTP_201_CREATED)


class OneAdjudication(ApiView):
    tag = "adjudications"

    @operation("withdraw_adjudication", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Take a decision back.

        What stood before it stands again. The row is kept. Twice changes nothing.
        """
        project = self.enter(Verb.ADJUDICATE)
        decisions = Adjudication.objects.filter(
            Q(check_row__project=project) | Q(comparison__peer__document_set__project=project)
        ).select_related("check_row__project", "comparison__peer__document_set__project")
        withdraw_decision(decision=only(decisions, public_id, "decision"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _wanted(checks: QuerySet[Check], query: dict[str, Any], reveal: Reveal) -> QuerySet[Check]:
    columns = {
        "side": "side",
        "system": "peer__system__name",
        "document_set": "peer__document_set__public_id",
        "summary": "peer__public_id",
        "disputed": "is_disputed",
    }
    checks = checks.filter(**{column: query[name] for name, column in columns.items() if name in query})
    if "unanswered" in query:
        checks = checks.filter(human_label__isnull=query["unanswered"])
    if "label" in query:
        checks = checks.filter(_of_label(query["label"], reveal))
    return checks


def _of_label(label: str, reveal: Reveal) -> Q:
    """Checks that stand at the label as far as the person may see; what is hidden counts as unscored."""
    is_hidden = ~Q(reveal.own) & ~Q(final_source=Check.Decider.RULE) if reveal.may_be_hidden else Q(pk__in=())
    if label == UNSCORED:
        return Q(final_label__isnull=True) | is_hidden
    return Q(final_label=label) & ~is_hidden


def _check(project: Project, public_id: str) -> Check:
    return only(Check.objects.filter(project=project).select_related("project"), public_id, "check")


def _detail(project: Project, public_id: str, reveal: Reveal, *, asked: bool = False) -> dict[str, Any]:
    said = Verdict.objects.select_related("judge", "person").order_by("pk")
    decided = Adjudication.objects.select_related("decided_by").order_by("pk")
    checks = (
        reveal.annotated(Check.objects.filter(project=project))
        .select_related("claim", "peer__system", "peer__document_set")
        .prefetch_related(Prefetch("verdicts", said), Prefetch("adjudications", decided))
    )
    check = only(checks, public_id, "check")
    return dict(CheckDetail(check, context={"reveal": reveal, "asked": asked}).data)


def _shown(check: Check, person: User, *, claimed: str) -> str:
    """What the person had seen of the judge: their own word where the project shows it on request."""
    if not Reveal.of(check.project, person).may_be_hidden:
        return Verdict.Shown.JUDGE
    asked = claimed == Verdict.Shown.JUDGE
    is_seen = is_judge_visible(check, person, asked=asked)
    return Verdict.Shown.JUDGE if is_seen else Verdict.Shown.NOTHING


def _unit(comparison: Comparison, public_id: str) -> Unit | Claim:
    for unit in unit_list(comparison.model):
        if unit.public_id == public_id:
            return unit
    raise NotFound("There is no such model unit in this comparison.")

"""Checks: is this claim expressed in, or supported by, that text? With override.

A reviewer sees what the judge and other people said as the project's reveal mode says. Until then no
column, filter or order of theirs tells it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import READ_CONTENT, ApiView, PageQuery, only
from annotation.api.disputes import AdjudicationRow
from annotation.api.fields import LabelField, NamedChoice, ShareField
from annotation.api.schema import operation
from annotation.models import Adjudication, Check, CheckLook, ErrorType, Label, Project, Verdict
from annotation.permissions import Verb, verbs_in
from annotation.queries.planted import in_its_place, planted_verdict
from annotation.queries.reveal import COLUMNS_SEEN, OF_THE_JUDGE, Reader, as_seen, keeps_back, plants
from annotation.services.lease_check import keep
from annotation.services.look_at_check import look_at, see_checks, tell_planted
from annotation.services.review import LONGEST_REASON, NOT_LOOKED, Quote, override, withdraw_verdict

ORDERS: dict[str, tuple[str, ...]] = {
    "made": ("pk",),
    "random": ("queue_key", "pk"),
    "doubt": ("-doubt", "queue_key", "pk"),
    "effect": ("-effect", "queue_key", "pk"),
}
UNSCORED = "unscored"
LONGEST_EVIDENCE = 1000
LARGEST_NUMBER = 2_147_483_647
ANSWERED = ("label", "reason", "evidence", "error_type", "confidence", "active_ms")


@dataclass(frozen=True, slots=True)
class Reveal:
    """What one person may see of the judge and of other people's answers in one project."""

    project: Project
    reader: Reader
    may_be_hidden: bool

    @classmethod
    def of(cls, project: Project, person: User) -> Reveal:
        reader = Reader.holding(person, verbs_in(person, project))
        return cls(project, reader, keeps_back(project, reader))

    @property
    def person(self) -> User:
        return self.reader.person

    def annotated(self, checks: QuerySet[Check]) -> QuerySet[Check]:
        """The checks as the person may see them, and of which planted verdict they have been told."""
        told = CheckLook.objects.filter(
            check_row=OuterRef("pk"), person=self.person, disclosed_at__isnull=False
        )
        checks = checks.annotate(planted_before=Subquery(told.values("planted_label")[:1]))
        return as_seen(checks, self.person) if self.may_be_hidden else checks

    def column(self, name: str) -> str:
        """The column of `annotated` that says what the person may know of this one."""
        return COLUMNS_SEEN[name] if self.may_be_hidden else name

    def hides(self, check: Check) -> bool:
        """Whether what others said of the check stays hidden for now; see `annotated`."""
        return self.may_be_hidden and not getattr(check, "is_known", False)

    def keep_seen(self, checks: Sequence[Check]) -> None:
        """Record that the person is shown these checks with everything that was said of them."""
        shown = Check.objects.filter(pk__in=[check.pk for check in checks])
        see_checks(project=self.project, checks=shown, by=self.person)

    def planted(self, check: Check) -> str | None:
        """The wrong verdict that stands in the judge's place for this person; see `annotated`."""
        return getattr(check, "planted_now", None) if self.may_be_hidden else None


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
    system = serializers.CharField(
        source="peer.system.name", allow_null=True, help_text="Null to callers who may not view the scores."
    )
    target_words = serializers.IntegerField(source="peer.target_words", allow_null=True)
    judge_label = LabelField(allow_null=True)
    judge_probability = serializers.FloatField(allow_null=True, help_text="Of yes, 0 to 1.")
    human_label = LabelField(allow_null=True)
    final_label = LabelField(allow_null=True)
    final_source = NamedChoice("Decider", Check.Decider.choices, allow_null=True)
    unscored_reason = serializers.CharField(allow_null=True)
    is_disputed = serializers.BooleanField(allow_null=True)
    doubt = serializers.FloatField(
        allow_null=True,
        help_text="1: the judge cannot say; 0: it is certain. Null where the project keeps back what it said.",
    )
    effect = serializers.FloatField(help_text="Largest change of coverage that another answer could make.")
    is_hidden_yet = serializers.SerializerMethodField(
        help_text="Whether the project keeps back what others said until the caller has answered or asked."
    )

    def get_is_hidden_yet(self, check: Check) -> bool:
        reveal: Reveal = self.context["reveal"]
        return reveal.hides(check)

    def to_representation(self, check: Check) -> dict[str, Any]:
        reveal: Reveal = self.context["reveal"]
        shown = super().to_representation(check)
        if not reveal.reader.names_systems:
            shown["system"] = None
        if not reveal.may_be_hidden:
            return shown
        seen: Any = check
        shown |= {name: getattr(seen, column) for name, column in COLUMNS_SEEN.items()}
        # Known or not: beside a planted verdict the figure of the true one would stand.
        shown["doubt"] = None
        if reveal.hides(check):
            shown |= dict.fromkeys(OF_THE_JUDGE)
        elif label := reveal.planted(check):
            planted = planted_verdict(check, label)
            shown["judge_probability"] = planted.probability if planted else None
        return shown


class QuoteField(serializers.Serializer[Any]):
    """Characters `start` to `end` (exclusive) of the unit of that number."""

    unit = serializers.IntegerField(min_value=1, max_value=LARGEST_NUMBER)
    start = serializers.IntegerField(min_value=0, max_value=LARGEST_NUMBER)
    end = serializers.IntegerField(min_value=1, max_value=LARGEST_NUMBER)


class VerdictRow(serializers.Serializer[Verdict]):
    id = serializers.CharField(source="public_id")
    source: Any = serializers.ChoiceField(choices=Verdict.Source.choices)
    by = serializers.SerializerMethodField(help_text="The judge, the person, or where it was imported from.")
    label: Any = LabelField(allow_null=True, help_text="Null: the judge gave no usable answer.")
    probability = serializers.FloatField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True)
    evidence = serializers.ListField(child=serializers.IntegerField())
    quotes = QuoteField(many=True, help_text="Passages selected in those units.")
    error_type = serializers.CharField(help_text="Empty where none was named.")
    reason = serializers.CharField()
    active_ms = serializers.IntegerField(help_text="A person's time at the check before, idle time left out.")
    batch = serializers.CharField(
        source="batch.public_id",
        allow_null=True,
        default=None,
        help_text="The batch in which it was taken over.",
    )
    shown = serializers.ChoiceField(
        choices=Verdict.Shown.choices,
        help_text="What a person had seen of the judge before, or else whether they had met another's answer.",
    )
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)
    is_set_aside = serializers.BooleanField(
        help_text="It never stood: somebody else had answered otherwise since the person looked."
    )

    def get_by(self, verdict: Verdict) -> str:
        if verdict.judge:
            return verdict.judge.name
        return verdict.person.get_username() if verdict.person else verdict.origin_name


class CheckDetail(CheckRow):
    """A check with everything said about it, oldest first. Withdrawn answers stay in the list."""

    verdicts = serializers.SerializerMethodField()
    adjudications = serializers.SerializerMethodField()
    planted_label: Any = LabelField(
        source="planted_before",
        allow_null=True,
        default=None,
        help_text="A wrong verdict that the caller was shown as the judge's, once they are told of it.",
    )

    @extend_schema_field(VerdictRow(many=True))
    def get_verdicts(self, check: Check) -> Any:
        reveal: Reveal = self.context["reveal"]
        said: Any = list(check.verdicts.all())
        if reveal.hides(check):
            said = [each for each in said if each.person_id == reveal.person.pk]
        elif reveal.may_be_hidden and plants(reveal.project, reveal.person):
            said = _as_told(check, said, reveal)
        return VerdictRow(said, many=True).data

    @extend_schema_field(AdjudicationRow(many=True))
    def get_adjudications(self, check: Check) -> Any:
        reveal: Reveal = self.context["reveal"]
        is_kept = reveal.hides(check) or reveal.planted(check)
        decided: Any = [] if is_kept else check.adjudications.all()
        return AdjudicationRow(decided, many=True).data


class CheckQuery(serializers.Serializer[Any]):
    side = serializers.ChoiceField(choices=Check.Side.choices, required=False)
    label: Any = serializers.ChoiceField(
        choices=[*Label.values, UNSCORED],
        required=False,
        help_text="What stands for the check, as far as the caller may see it; unscored: nothing does.",
    )
    system = serializers.CharField(
        required=False, help_text="Checks of that system's summaries; needs the verb view scores."
    )
    document_set = serializers.CharField(required=False, help_text="Checks in the set of that id.")
    summary = serializers.CharField(required=False, help_text="Checks that score the summary of that id.")
    disputed = serializers.BooleanField(required=False, help_text="Whether reviewers differ.")
    unanswered = serializers.BooleanField(required=False, help_text="Whether no person has answered yet.")
    order = serializers.ChoiceField(
        choices=list(ORDERS), default="made", help_text="doubt and effect: the largest first."
    )


class LookQuery(serializers.Serializer[Any]):
    reveal = serializers.BooleanField(
        default=False,
        help_text="Ask for the judge's verdict, where the project shows it on request.",
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
    quotes = QuoteField(
        many=True, default=list, help_text="Passages selected in units; the units count as evidence."
    )
    error_type = NamedChoice("ErrorType", ErrorType.choices, default="", allow_blank=True)
    confidence = ShareField(default=None, allow_null=True, help_text="0 to 1.")
    active_ms = serializers.IntegerField(
        default=0, min_value=0, max_value=LARGEST_NUMBER, help_text="Time at the check before the answer."
    )
    seen = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="Id of the last reviewer's verdict that you had before you, empty for none. "
        "A newer one that says otherwise is a conflict (409); where it is somebody else's, your answer is kept, set "
        "aside, and you answer again.",
    )
    shown = serializers.ChoiceField(
        choices=[each for each in Verdict.Shown.choices if each[0] != Verdict.Shown.PERSON],
        default=Verdict.Shown.NOTHING,
        help_text="Whether you had seen the judge's verdict elsewhere, where the project shows it on request; what was "
        "shown to you here the server knows.",
    )


class Told(serializers.Serializer[CheckLook]):
    check = serializers.CharField(source="check_row.public_id")
    planted_label: Any = LabelField()


class GivenVerdict(serializers.Serializer[Any]):
    """The answer as it was kept, and what stands for the check now."""

    verdict = VerdictRow()
    check = CheckDetail()
    told = Told(
        many=True, help_text="Checks answered before at which the verdict shown was planted, and wrong."
    )


class Checks(ApiView):
    tag = "checks"

    @operation("list_checks", parameters=[CheckQuery, PageQuery], responses=CheckRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the checks of a project.

        Those of claims that have been replaced are left out. Of a caller who may review, and to whom nothing
        is hidden, it is kept that they have seen what was said of each check on the page.
        """
        project = self.enter(*READ_CONTENT)
        query = self.query(CheckQuery, PageQuery)
        reveal = Reveal.of(project, self.person)
        if "system" in query:
            reveal.reader.need_all("system")
        scope = Check.objects.filter(project=project, is_current=True)
        rows = _wanted(reveal.annotated(scope), query, reveal).select_related(
            "claim", "peer__system", "peer__document_set"
        )
        return self.page(
            rows,
            CheckRow,
            query=query,
            scope=scope,
            order=ORDERS[query["order"]],
            context={"reveal": reveal},
            prepare=None if reveal.may_be_hidden else reveal.keep_seen,
        )


class OneCheck(ApiView):
    tag = "checks"

    @operation("get_check", parameters=[LookQuery], responses=CheckDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a check with everything that was said about it.

        To a reviewer who must not know yet it is shown without that. It is kept what whoever may review was
        shown.
        """
        project = self.enter(*READ_CONTENT)
        asked = self.query(LookQuery)["reveal"]
        return Response(shown_detail(project, public_id, self.person, asked=asked))


class CheckLooks(ApiView):
    tag = "checks"

    @operation("look_at_check", request=LookQuery, responses=CheckDetail)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Tell that a check is on somebody's screen, and go on holding it for them.

        Needs the verb "review". Holds it for five minutes, if nobody else does; also asks for the judge's
        verdict where the project shows it on request.
        """
        project = self.enter(Verb.REVIEW)
        asked = self.body(LookQuery)["reveal"]
        keep(check=_check(project, public_id), by=self.person)
        return Response(shown_detail(project, public_id, self.person, asked=asked))


class CheckVerdicts(ApiView):
    tag = "checks"

    @operation("answer_check", request=NewVerdict, responses={201: GivenVerdict})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Answer a check: an override.

        Needs the verb "review". The answer confirms or changes what stood before, and the scores of
        the summary follow at once. A change of mind is another answer; the earlier one is kept. A claim that was
        changed since takes no answer in its old words (409) but from somebody for whom a random draw still waits
        for it; such an answer moves no score.
        """
        project = self.enter(Verb.REVIEW)
        answer = self.body(NewVerdict)
        check = _check(project, public_id)
        verdict = override(
            check=check,
            by=self.person,
            **{name: answer[name] for name in ANSWERED},
            quotes=[Quote(**quote) for quote in answer["quotes"]],
            shown=answer["shown"],
            seen=answer.get("seen", NOT_LOOKED),
        )
        told: Any = tell_planted(project=project, by=self.person, but=check)
        reveal = Reveal.of(project, self.person)
        given = {
            "verdict": VerdictRow(verdict).data,
            "check": _detail(project, public_id, reveal),
            "told": Told(told, many=True).data,
        }
        return Response(given, status=status.HTTP_201_CREATED)


class OneVerdict(ApiView):
    tag = "checks"

    @operation("withdraw_verdict", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Take one's own verdict back.

        The one before it stands again. The row is kept. Twice changes nothing. A random draw that holds it keeps it as
        the caller's first answer, since they have seen by now what the judge says.
        """
        project = self.enter(Verb.REVIEW)
        verdicts = Verdict.objects.filter(check_row__project=project).select_related("check_row")
        withdraw_verdict(verdict=only(verdicts, public_id, "verdict"), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _wanted(checks: QuerySet[Check], query: dict[str, Any], reveal: Reveal) -> QuerySet[Check]:
    """The checks asked for, as far as the caller may see what was said of them: see `Reveal.annotated`."""
    columns = {
        "side": "side",
        "system": "peer__system__name",
        "document_set": "peer__document_set__public_id",
        "summary": "peer__public_id",
    }
    checks = checks.filter(**{column: query[name] for name, column in columns.items() if name in query})
    if "disputed" in query:
        checks = checks.filter(**{reveal.column("is_disputed"): query["disputed"]})
    if "unanswered" in query:
        checks = checks.filter(_unanswered(reveal) if query["unanswered"] else ~_unanswered(reveal))
    if "label" in query:
        label = None if query["label"] == UNSCORED else query["label"]
        checks = checks.filter(**{reveal.column("final_label"): label})
    return checks


def _unanswered(reveal: Reveal) -> Q:
    """That somebody answered everybody may know, but for a check at which a planted verdict stands."""
    nobody = Q(human_label__isnull=True)
    return nobody | Q(planted_now__isnull=False, own_label__isnull=True) if reveal.may_be_hidden else nobody


def shown_detail(project: Project, public_id: str, person: User, *, asked: bool = False) -> dict[str, Any]:
    """A check as the person may see it, with their look at it kept where they review it."""
    reveal = Reveal.of(project, person)
    if reveal.may_be_hidden:
        look_at(check=_check(project, public_id), by=person, asked=asked)
    else:
        see_checks(project=project, checks=Check.objects.filter(public_id=public_id), by=person)
    return _detail(project, public_id, reveal)


def _check(project: Project, public_id: str) -> Check:
    return only(Check.objects.filter(project=project).select_related("project"), public_id, "check")


def _detail(project: Project, public_id: str, reveal: Reveal) -> dict[str, Any]:
    said = Verdict.objects.select_related("judge", "person", "batch").order_by("pk")
    decided = Adjudication.objects.select_related("decided_by").order_by("pk")
    checks = (
        reveal.annotated(Check.objects.filter(project=project))
        .select_related("project__deciding_judge", "claim", "peer__system", "peer__document_set")
        .prefetch_related(Prefetch("verdicts", said), Prefetch("adjudications", decided))
    )
    check = only(checks, public_id, "check")
    return dict(CheckDetail(check, context={"reveal": reveal}).data)


def _as_told(check: Check, said: Sequence[Verdict], reveal: Reveal) -> list[Verdict]:
    """What was said, with a planted verdict in the deciding judge's place where the person is shown one.

    To them nobody but the judges and they themselves have answered then. Never stored.
    """
    label = reveal.planted(check)
    # Made also where it is not shown, so that the true verdict takes as long.
    planted = planted_verdict(check, label or Label.NO)
    if label is None:
        return list(said)
    deciding = check.project.deciding_judge_id
    visible = [each for each in said if each.judge_id or each.person_id == reveal.person.pk]
    return [
        in_its_place(each, label, planted) if each.judge_id == deciding and each.label else each
        for each in visible
    ]

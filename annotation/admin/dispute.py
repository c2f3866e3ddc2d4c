"""The adjudicators' queue: what differs, worst first, with a form to settle each, and acts on several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import AdminForm
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from annotation.adjudicating.queries.dispute_view import DisputeView
from annotation.adjudicating.queries.disputes import (
    JOINED_WITH,
    WORST_FIRST,
    DisputeFilter,
    DisputeKind,
    decisions_on,
    kind_of,
    text_of,
    with_words,
)
from annotation.adjudicating.queries.voices import is_left_to_others, said_by_most, voices_on
from annotation.adjudicating.services.adjudicate import may_withdraw, reopen_dispute, settle
from annotation.adjudicating.services.see_dispute import see_dispute
from annotation.adjudicating.services.take_dispute import release_dispute
from annotation.admin.bulk import LEFT_TO_OTHERS, MOST_ROWS_AT_ONCE, Bulk, BulkStep, confirm_or_do
from annotation.admin.reach import may_somewhere, person_of
from annotation.admin.rows import NEWEST_ROWS_FIRST, ProjectFilter, Rows
from annotation.admin.seen import keep_seen
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid, Refusal
from annotation.models import Adjudication, Dispute, ErrorType, Label
from annotation.reviewing.services.review import NOT_LOOKED

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_LISTED_TEXT = 120
WORST_OF_EACH_PROJECT = ("project_id", *WORST_FIRST)
OWN_ANSWER = "My own answer"


class StateFilter(admin.SimpleListFilter):
    """What is open, unless asked otherwise."""

    title = "state"
    parameter_name = "state"
    ALL = "all"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        settled = [(value, words) for value, words in Dispute.State.choices if value != Dispute.State.OPEN]
        return [*settled, (self.ALL, "All")]

    def choices(self, changelist: Any) -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": Dispute.State.OPEN.label}
        yield from others

    def queryset(self, request: HttpRequest, queryset: QuerySet[Dispute]) -> QuerySet[Dispute]:
        if self.value() == self.ALL:
            return queryset
        return queryset.filter(state=self.value() or Dispute.State.OPEN)


class KindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(DisputeKind.CHECK.value, "Claims"), (DisputeKind.UNIT.value, "Units")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Dispute]) -> QuerySet[Dispute]:
        if self.value() is None:
            return queryset
        return queryset.filter(check_row__isnull=self.value() != DisputeKind.CHECK)


class DecisionForm(forms.Form):
    """A decision on one dispute: one of the answers taken over, or another, with its reason."""

    adopt = forms.ChoiceField(widget=forms.RadioSelect, required=False, label="Accept")
    label = forms.ChoiceField(
        choices=[("", "–"), *Label.choices],
        required=False,
        label="Answer",
        help_text="Your own answer, if you accept none.",
    )
    percent = forms.IntegerField(
        min_value=0, max_value=100, required=False, help_text="Your own answer, if you accept none."
    )
    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}),
        required=False,
        help_text="Required if nobody else gave this answer.",
    )
    error_type = forms.ChoiceField(choices=[("", "–"), *ErrorType.choices], required=False)
    is_guideline_gap = forms.BooleanField(
        required=False, label="The guidelines do not say how to answer this"
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, view: DisputeView, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"seen": view.seen, "adopt": ""})
        voices = [(voice.token, f"{voice.letter}: {voice.answer}") for voice in view.voices]
        offered = self.fields["adopt"]
        assert isinstance(offered, forms.ChoiceField), "it is one, just above"
        offered.choices = [*voices, ("", OWN_ANSWER)]
        offered.error_messages["invalid_choice"] = (
            "That answer was changed or withdrawn after you opened the page. Check the current answers."
        )
        del self.fields["percent" if view.kind == DisputeKind.CHECK else "label"]

    @property
    def fieldsets(self) -> list[tuple[str, dict[str, Any]]]:
        shown = [name for name in self.fields if name != "seen"]
        return [("Decision", {"fields": shown})]


@dataclass(frozen=True, slots=True)
class TypedDecision:
    """What somebody had put into a form that was refused, in words, beside what stands by now."""

    answer: str
    reason: str
    error_type: str = ""
    is_guideline_gap: bool = False

    @classmethod
    def of(cls, said: QueryDict, view: DisputeView) -> TypedDecision:
        voice = next((each for each in view.voices if each.token == said.get("adopt")), None)
        own = said.get("label", "") or (f"{said['percent']} %" if said.get("percent") else "")
        error_type = said.get("error_type", "")
        return cls(
            answer=f"{voice.letter}: {voice.answer}" if voice else own,
            reason=said.get("reason", ""),
            error_type=dict(ErrorType.choices).get(error_type, error_type),
            is_guideline_gap=bool(said.get("is_guideline_gap")),
        )


@admin.register(Dispute)
class DisputeAdmin(Rows):
    """Disputes are derived; what can be done with one is to settle it, to take it up again, or to end its lease."""

    project_paths = ("project",)
    view_verbs = (Verb.ADJUDICATE,)
    list_display = ("told_spread", "told_kind", "told_text", "why", "state", "voices", "project", "in_hand")
    list_display_links = ("told_text",)
    list_filter = (StateFilter, KindFilter, "why", ProjectFilter)
    list_select_related = (*JOINED_WITH, "leased_to")
    sortable_by = ()
    search_fields = ("public_id__exact", "check_row__public_id__exact", "comparison__public_id__exact")
    actions = ("decide_as_most", "take_up_again", "release")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """What is open project by project, the worst of each first: over all projects too an index has this order."""
        is_open = not request.GET.get(StateFilter.parameter_name)
        return WORST_OF_EACH_PROJECT if is_open else NEWEST_ROWS_FIRST

    @admin.display(description="spread")
    def told_spread(self, dispute: Dispute) -> str:
        return f"{dispute.spread:.2f}"

    @admin.display(description="kind")
    def told_kind(self, dispute: Dispute) -> str:
        return "claim" if kind_of(dispute) == DisputeKind.CHECK else "unit"

    @admin.display(description="claim or model unit")
    def told_text(self, dispute: Dispute) -> str:
        text = text_of(dispute)
        return text if len(text) <= LONGEST_LISTED_TEXT else f"{text[:LONGEST_LISTED_TEXT]}…"

    @admin.display(description="open")
    def in_hand(self, dispute: Dispute) -> str:
        return str(dispute.leased_to) if _is_held(dispute) else ""

    def has_adjudicate_permission(self, request: HttpRequest) -> bool:
        """For the actions; the services decide again for each dispute."""
        return may_somewhere(request, Verb.ADJUDICATE)

    @admin.action(description="Resolve with the majority answer", permissions=["adjudicate"])
    def decide_as_most(self, request: HttpRequest, queryset: QuerySet[Dispute]) -> HttpResponse | None:
        return self._confirm_or_do(AS_MOST, request, with_words(queryset))

    @admin.action(description="Reopen: withdraw the decisions", permissions=["adjudicate"])
    def take_up_again(self, request: HttpRequest, queryset: QuerySet[Dispute]) -> HttpResponse | None:
        return self._confirm_or_do(AGAIN, request, with_words(queryset))

    @admin.action(description="End leases", permissions=["adjudicate"])
    def release(self, request: HttpRequest, queryset: QuerySet[Dispute]) -> HttpResponse | None:
        return confirm_or_do(RELEASE, request, with_words(queryset).select_related("leased_to"), self)

    def _confirm_or_do(
        self, act: Bulk, request: HttpRequest, disputes: QuerySet[Dispute]
    ) -> HttpResponse | None:
        """Its page tells answers or decisions, so that whoever sees it knows them."""
        keep_seen(request, disputes[:MOST_ROWS_AT_ONCE].values_list("check_row", flat=True))
        return confirm_or_do(act, request, disputes, self)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        page = super().history_view(request, object_id, extra_context)
        keep_seen(request, [self.get_object(request, object_id).check_row_id])
        return page

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if object_id is None or not self.has_view_permission(request):
            raise PermissionDenied
        self.warn_if_blind(request)
        row: Dispute = self.get_object(request, unquote(object_id))
        view = _seen(request, row)
        if request.method != "POST":
            return self._page(request, row, view, DecisionForm(view))
        if "reopen" in request.POST:
            return self._reopened(request, row)
        return self._decided(request, row, view)

    def _decided(self, request: HttpRequest, row: Dispute, view: DisputeView) -> HttpResponse:
        """Settle it; where `again` was pressed, take it up again and settle it, both or neither."""
        form = DecisionForm(view, request.POST)
        if not form.is_valid():
            return self._page(request, row, view, form, typed=TypedDecision.of(request.POST, view))
        try:
            decision = settle(
                dispute=row, by=person_of(request), again="again" in request.POST, **form.cleaned_data
            )
        except Conflict as conflict:
            return self._conflict(request, row, conflict)
        except Refusal as refusal:
            field = refusal.field if isinstance(refusal, Invalid) else None
            form.add_error(field if field in form.fields else None, refusal.message)
            return self._page(request, row, view, form, typed=TypedDecision.of(request.POST, view))
        self.message_user(request, f"Resolved: {decision}.", messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:annotation_dispute_changelist"))

    def _conflict(self, request: HttpRequest, row: Dispute, refusal: Conflict) -> HttpResponse:
        """What stands now beside what was typed, and the form with all that was in it, to be sent anew."""
        row = self.get_object(request, str(row.pk))
        view = _seen(request, row)
        kept = request.POST.copy()
        kept["seen"] = view.seen
        form = DecisionForm(view, kept)
        form.add_error(None, refusal.message)
        return self._page(request, row, view, form, typed=TypedDecision.of(request.POST, view), is_newer=True)

    def _reopened(self, request: HttpRequest, row: Dispute) -> HttpResponse:
        said = request.POST
        try:
            reopen_dispute(
                dispute=row,
                by=person_of(request),
                reason=said.get("reason", ""),
                seen=said.get("seen", NOT_LOOKED),
            )
        except Conflict as conflict:
            return self._conflict(request, row, conflict)
        except Refusal as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
        else:
            self.message_user(request, "Decisions withdrawn. The dispute is open again.", messages.SUCCESS)
        return HttpResponseRedirect(request.get_full_path())

    def _page(
        self,
        request: HttpRequest,
        row: Dispute,
        view: DisputeView,
        form: DecisionForm,
        *,
        typed: TypedDecision | None = None,
        is_newer: bool = False,
    ) -> HttpResponse:
        """`typed` is what a refused form held; `is_newer` that it was refused for what came in between."""
        context = {
            **self.admin_site.each_context(request),
            **self.in_context(request, row),
            "title": f"Dispute over a {self.told_kind(row)}",
            "opts": self.opts,
            "original": row,
            "change": True,
            "add": False,
            "is_popup": False,
            "has_view_permission": True,
            "adminform": AdminForm(cast("Any", form), form.fieldsets, {}, model_admin=self),
            "inline_admin_formsets": [],
            "errors": form.errors,
            "form": form,
            "view": view,
            "typed": typed if is_newer or view.is_settled or not view.may_decide else None,
            "dispute": row,
            "media": self.media + form.media,
            "preserved_filters": self.get_preserved_filters(request),
        }
        return TemplateResponse(request, "admin/annotation/dispute/change_form.html", context)


def _seen(request: HttpRequest, row: Dispute) -> DisputeView:
    return see_dispute(dispute=row, by=person_of(request), filters=DisputeFilter(), whole_text=True)


def _is_held(dispute: Dispute) -> bool:
    return dispute.lease_until is not None and dispute.lease_until > timezone.now()


def _as_most(dispute: Dispute, by: User) -> BulkStep:
    if dispute.state != Dispute.State.OPEN:
        return BulkStep(f"“{text_of(dispute)}” is not open", is_possible=False)
    if is_left_to_others(dispute.project, dispute.place, dispute.unit or dispute.claim, by):
        return BulkStep(f"“{text_of(dispute)}”: {LEFT_TO_OTHERS}", is_possible=False)
    voices = voices_on(dispute, by)
    most = said_by_most(voices)
    if most is None:
        return BulkStep(f"“{text_of(dispute)}”: no majority answer", is_possible=False)
    told = f"“{text_of(dispute)}”: {most.voice.answer}, as {most.times} of {len(voices)} say"
    return BulkStep(told, held=most.voice.token)


def _settle(dispute: Dispute, by: User, held: str, reason: str) -> Adjudication:
    return settle(dispute=dispute, by=by, adopt=held, reason=reason, seen="")


def _standing(dispute: Dispute, by: User) -> BulkStep:
    decisions = list(decisions_on(dispute).filter(withdrawn_at=None).order_by("-pk"))
    if not decisions:
        return BulkStep(f"“{text_of(dispute)}”: no current decision", is_possible=False)
    if not all(may_withdraw(decision, by) for decision in decisions):
        return BulkStep(f"“{text_of(dispute)}”: {LEFT_TO_OTHERS}", is_possible=False)
    standing = decisions[0]
    return BulkStep(f"“{text_of(dispute)}”: the decision {standing} is withdrawn", held=standing.public_id)


def _reopen(dispute: Dispute, by: User, held: str, reason: str) -> object:
    return reopen_dispute(dispute=dispute, by=by, reason=reason, seen=held)


def _lease(dispute: Dispute, _by: User) -> BulkStep:
    if not _is_held(dispute):
        return BulkStep(f"“{text_of(dispute)}”: not open by anyone", is_possible=False)
    return BulkStep(f"“{text_of(dispute)}”: {dispute.leased_to} no longer has it open")


def _end_lease(dispute: Dispute, by: User, _held: str, _reason: str) -> object:
    return release_dispute(dispute=dispute, by=by)


AS_MOST = Bulk(
    name="decide_as_most",
    title="Resolve with the majority answer",
    done="resolved with the majority answer",
    plan=_as_most,
    act=_settle,
)
AGAIN = Bulk(
    name="take_up_again",
    title="Reopen",
    done="reopened",
    plan=_standing,
    act=_reopen,
    asks_reason=True,
)
RELEASE = Bulk(name="release", title="End leases", done="released", plan=_lease, act=_end_lease)

"""Disputes in the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse

from annotation.adjudicating.queries.disputes import JOINED_WITH, KINDS, WORST_FIRST, DisputeKind, text_of
from annotation.adjudicating.services.adjudicate import settle
from annotation.adjudicating.services.see_dispute import see_dispute
from annotation.admin.rows import Rows
from annotation.admin_site import adjudicated_projects
from annotation.core.refusals import Refusal
from annotation.models import Dispute, ErrorType, Label

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.adjudicating.queries.dispute_view import DisputeView

LONGEST_LISTED_TEXT = 120


class DecisionForm(forms.Form):
    label = forms.ChoiceField(choices=[("", "–"), *Label.choices], required=False, label="Answer")
    percent = forms.IntegerField(min_value=0, max_value=100, required=False)
    rating = forms.TypedChoiceField(coerce=int, empty_value=None, required=False)
    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    error_type = forms.ChoiceField(choices=[("", "–"), *ErrorType.choices], required=False)
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, view: DisputeView, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"seen": view.seen})
        kept = {DisputeKind.CHECK: "label", DisputeKind.UNIT: "percent", DisputeKind.RATING: "rating"}
        for name in {*kept.values()} - {kept[DisputeKind(view.kind)]}:
            del self.fields[name]
        if view.kind == DisputeKind.RATING:
            values = view.choices or tuple((value, f"{value} %") for value in range(101))
            self.fields["rating"] = forms.TypedChoiceField(
                choices=[("", "–"), *values], coerce=int, empty_value=None, required=False
            )


@admin.register(Dispute)
class DisputeAdmin(Rows):
    list_display = ("text", "spread", "answers", "state", "project")
    list_filter = ("state",)
    list_select_related = JOINED_WITH
    ordering = WORST_FIRST
    sortable_by = ()
    search_fields = ("public_id__exact",)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(project__in=adjudicated_projects(_person(request)))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found = super().get_object(request, object_id, from_field)
        if found is None:
            raise Http404
        return found

    @admin.display(description="claim, unit or question")
    def text(self, dispute: Dispute) -> str:
        text = text_of(dispute)
        return text if len(text) <= LONGEST_LISTED_TEXT else f"{text[:LONGEST_LISTED_TEXT]}…"

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if object_id is None:
            raise Http404
        row: Dispute = self.get_object(request, unquote(object_id))
        view = see_dispute(dispute=row, by=_person(request))
        if request.method != "POST":
            return self._page(request, row, view, DecisionForm(view))
        typed = request.POST.copy()
        form = DecisionForm(view, typed)
        if form.is_valid():
            try:
                decision = settle(dispute=row, by=_person(request), **form.cleaned_data)
            except Refusal as refusal:
                field = getattr(refusal, "field", None)
                form.add_error(field if field in form.fields else None, refusal.message)
                view = see_dispute(dispute=self.get_object(request, str(row.pk)), by=_person(request))
                typed["seen"] = view.seen
            else:
                self.message_user(request, f"Resolved: {decision}.", messages.SUCCESS)
                return HttpResponseRedirect(reverse("admin:annotation_dispute_changelist"))
        return self._page(request, row, view, form)

    def _page(
        self, request: HttpRequest, row: Dispute, view: DisputeView, form: DecisionForm
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": f"Dispute over a {dict(KINDS.words)[view.kind]}",
            "opts": self.opts,
            "original": row,
            "view": view,
            "form": form,
        }
        return TemplateResponse(request, "admin/annotation/dispute/change_form.html", context)


def _person(request: HttpRequest) -> User:
    return cast("User", request.user)

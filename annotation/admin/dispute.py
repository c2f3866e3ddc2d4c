"""Disputes: adjudicators on staff decide those of their own projects, by the service of the page Adjudicate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse

from annotation.adjudicating.queries.disputes import JOINED_WITH, WORST_FIRST, DisputeKind, text_of
from annotation.adjudicating.services.adjudicate import settle
from annotation.adjudicating.services.see_dispute import see_dispute
from annotation.admin.reach import person_of
from annotation.admin.rows import Rows
from annotation.admin.seen import keep_seen
from annotation.core.permissions import Verb
from annotation.core.refusals import Refusal
from annotation.models import Dispute, ErrorType, Label

if TYPE_CHECKING:
    from annotation.adjudicating.queries.dispute_view import DisputeView

LONGEST_LISTED_TEXT = 120


class DecisionForm(forms.Form):
    label = forms.ChoiceField(choices=[("", "–"), *Label.choices], required=False, label="Answer")
    percent = forms.IntegerField(min_value=0, max_value=100, required=False)
    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    error_type = forms.ChoiceField(choices=[("", "–"), *ErrorType.choices], required=False)
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, view: DisputeView, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"seen": view.seen})
        del self.fields["percent" if view.kind == DisputeKind.CHECK else "label"]


@admin.register(Dispute)
class DisputeAdmin(Rows):
    project_paths = ("project",)
    view_verbs = (Verb.ADJUDICATE,)
    list_display = ("text", "spread", "voices", "state", "project")
    list_filter = ("state",)
    list_select_related = JOINED_WITH
    ordering = WORST_FIRST
    sortable_by = ()
    search_fields = ("public_id__exact",)

    @admin.display(description="claim or unit")
    def text(self, dispute: Dispute) -> str:
        text = text_of(dispute)
        return text if len(text) <= LONGEST_LISTED_TEXT else f"{text[:LONGEST_LISTED_TEXT]}…"

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
        view = see_dispute(dispute=row, by=person_of(request))
        if request.method != "POST":
            return self._page(request, row, view, DecisionForm(view))
        data = request.POST.copy()
        form = DecisionForm(view, data)
        if form.is_valid():
            try:
                decision = settle(dispute=row, by=person_of(request), **form.cleaned_data)
            except Refusal as refusal:
                field = getattr(refusal, "field", None)
                form.add_error(field if field in form.fields else None, refusal.message)
                view = see_dispute(dispute=row, by=person_of(request))
                data["seen"] = view.seen
            else:
                self.message_user(request, f"Resolved: {decision}.", messages.SUCCESS)
                return HttpResponseRedirect(reverse("admin:annotation_dispute_changelist"))
        return self._page(request, row, view, form)

    def _page(
        self, request: HttpRequest, row: Dispute, view: DisputeView, form: DecisionForm
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            **self.in_context(request, row),
            "title": f"Dispute over a {'claim' if view.kind == DisputeKind.CHECK else 'unit'}",
            "opts": self.opts,
            "original": row,
            "view": view,
            "form": form,
        }
        return TemplateResponse(request, "admin/annotation/dispute/change_form.html", context)

"""The pages of watches: list, one watch, form, and archiving."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from annotation.core.criteria import asked_of_judges
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.judging.queries.runs import is_worker_alive
from annotation.models import SCORE_SIDES, Check, System, Watch
from annotation.reviewing.before_seeing import ask_before_seeing
from annotation.reviewing.services.look_at_check import see_checks
from annotation.watches import make_watch as services
from annotation.watches.report import STATES, WATCHES, watch_report
from annotation.web.htmx import Request
from annotation.web.lists import list_page
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

RARE = ("smallest_drop", "reference_periods", "starts_on", "yearly_rate", "group_by")


class WatchForm(forms.ModelForm):  # type: ignore[type-arg]
    scores = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    rare = RARE

    class Meta:
        model = Watch
        fields = ("name", "length", "scores", "systems", "summaries", "checks", *RARE)
        widgets: ClassVar = {
            "starts_on": forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
            "systems": forms.CheckboxSelectMultiple,
        }

    def __init__(self, room: Room, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = (*SCORE_SIDES, *asked_of_judges(room.project).values_list("name", flat=True))
        self.fields["scores"].choices = [(name, name.replace("_", " ").capitalize()) for name in names]  # type: ignore[attr-defined]
        of_project = System.objects.filter(project=room.project, kind=System.Kind.SUMMARISER)
        self.fields["systems"].queryset = of_project  # type: ignore[attr-defined]
        if Verb.VIEW_SCORES not in room.verbs:
            # Blind people may make a watch and must not see the names of systems.
            del self.fields["systems"]


@screen("GET")
def watches(request: Request, slug: str) -> HttpResponseBase:
    return list_page(request, _enter(request, slug), WATCHES, page="watches/list.html")


@screen("GET", "POST")
def new_watch(request: Request, slug: str) -> HttpResponse:
    room = _enter(request, slug, Verb.RUN)
    form = WatchForm(room, request.POST or None, label_suffix="", initial={"scores": ["coverage"]})
    if form.is_valid():
        try:
            made = services.make_watch(project=room.project, by=request.user, **form.cleaned_data)
        except Invalid as refusal:
            form.add_error(refusal.field, refusal.message)
        else:
            return redirect("watch", slug, made.public_id)
    status = 422 if form.is_bound else 200
    return render(request, "watches/form.html", {"room": room, "form": form}, status=status)


@screen("GET")
def watch(request: Request, slug: str, watch_id: str) -> HttpResponse:
    room = _enter(request, slug)
    held = _watch(room, watch_id)
    report = watch_report(held)
    changed = [each.check for test in report.anchors[-1:] if test.is_alarm for each in test.changed]
    shown = Check.objects.filter(public_id__in=changed)
    if asked := ask_before_seeing(request, room, shown):
        return asked
    see_checks(project=room.project, checks=shown, by=request.user)
    context = {
        "room": room,
        "watch": held,
        "report": report,
        "state": STATES[report.state],
        "waiting": held.periods.filter(state="answering", sample__isnull=False).select_related("sample"),
        "is_worker_alive": is_worker_alive(),
    }
    return render(request, "watches/watch.html", context)


@screen("POST")
def archive_watch(request: Request, slug: str, watch_id: str) -> HttpResponse:
    room = _enter(request, slug, Verb.RUN)
    services.archive_watch(watch=_watch(room, watch_id), by=request.user)
    return redirect("watches", slug)


def _enter(request: Request, slug: str, verb: Verb = Verb.VIEW_SCORES) -> Room:
    return enter(request, slug, verb, here="watches")


def _watch(room: Room, watch_id: str) -> Watch:
    return found(Watch.objects.filter(project=room.project).select_related("job"), watch_id, "watch")

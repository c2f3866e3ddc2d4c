"""The pages of watches: list, one watch, form, and archiving."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.judging.queries.runs import is_worker_alive
from annotation.models import SCORE_SIDES, System, Watch
from annotation.watches import save_watch as services
from annotation.watches.lists import STATE_WORDS, WATCHES
from annotation.watches.report import watch_report
from annotation.web.htmx import Request
from annotation.web.lists import list_page
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

CHANGEABLE = ("name", "summaries", "checks", "smallest_drop")
LONGEST_KEY = 200


class WatchForm(forms.Form):
    name = forms.CharField(max_length=services.LONGEST_NAME)
    length = forms.ChoiceField(
        label="Period", choices=Watch.Length.choices, help_text="Summaries are compared by day or by week."
    )
    scores = forms.MultipleChoiceField(
        choices=[(score, score.capitalize()) for score in SCORE_SIDES], widget=forms.CheckboxSelectMultiple
    )
    summaries = forms.IntegerField(
        label="Summaries to judge", help_text="So many are chosen at random in each period."
    )
    checks = forms.IntegerField(
        label="Claims for people",
        help_text="Reviewers answer so many in each period. Enter 0 to watch the judge alone.",
    )
    smallest_drop = forms.FloatField(
        label="Smallest drop",
        help_text="A smaller drop of a score is never reported. Scores are between 0 and 1.",
    )
    reference_periods = forms.IntegerField(
        label="Periods of the reference", help_text="The first periods, with which later ones are compared."
    )
    starts_on = forms.DateField(
        label="First day",
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
        help_text="It may be in the past: summaries that are here already then make the reference.",
    )
    yearly_rate = forms.FloatField(
        label="False alarms a year", help_text="The probability of any false alarm in a year, such as 0.05."
    )
    group_by = forms.CharField(
        label="Compare within",
        required=False,
        max_length=LONGEST_KEY,
        help_text="A metadata key such as topic, or language: a changed mix of its values is then no drop.",
    )
    systems = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None: all systems."
    )

    def __init__(self, room: Room, *args: Any, of: Watch | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = System.objects.filter(project=room.project, kind=System.Kind.SUMMARISER).values_list(
            "name", "name"
        )
        self.fields["systems"].choices = list(names)  # type: ignore[attr-defined]
        kept = CHANGEABLE if of else tuple(self.fields)
        # Blind people may make a watch and must not see the names of systems.
        hidden = () if Verb.VIEW_SCORES in room.verbs else ("systems",)
        self.fields = {
            name: each for name, each in self.fields.items() if name in kept and name not in hidden
        }


NEW = {
    "length": Watch.Length.WEEK,
    "scores": ["coverage"],
    "summaries": 100,
    "checks": 100,
    "smallest_drop": 0.05,
    "reference_periods": 13,
    "yearly_rate": 0.05,
}


@screen("GET")
def watches(request: Request, slug: str) -> HttpResponseBase:
    return list_page(request, _enter(request, slug), WATCHES, page="watches/list.html")


@screen("GET", "POST")
def new_watch(request: Request, slug: str) -> HttpResponse:
    room = _enter(request, slug, Verb.RUN)
    return _form(request, room, None, {**NEW, "starts_on": timezone.now().date()})


@screen("GET", "POST")
def change_watch(request: Request, slug: str, watch_id: str) -> HttpResponse:
    room = _enter(request, slug, Verb.RUN)
    held = _watch(room, watch_id)
    return _form(request, room, held, {name: getattr(held, name) for name in CHANGEABLE})


@screen("GET")
def watch(request: Request, slug: str, watch_id: str) -> HttpResponse:
    room = _enter(request, slug)
    held = _watch(room, watch_id)
    report = watch_report(held)
    context = {
        "room": room,
        "watch": held,
        "report": report,
        "state": STATE_WORDS[report.state],
        "waiting": [each for each in held.periods.select_related("sample") if each.state == "answering"],
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
    return found(Watch.objects.filter(project=room.project).select_related("project"), watch_id, "watch")


def _form(request: Request, room: Room, held: Watch | None, initial: dict[str, Any]) -> HttpResponse:
    form = WatchForm(room, request.POST or None, of=held, initial=initial)
    if form.is_valid():
        try:
            saved = services.save_watch(
                project=room.project, by=request.user, watch=held, **form.cleaned_data
            )
        except Invalid as refusal:
            form.add_error(refusal.field or None, refusal.message)
        else:
            return redirect("watch", room.project.slug, saved.public_id)
    status = 422 if form.is_bound else 200
    return render(request, "watches/form.html", {"room": room, "watch": held, "form": form}, status=status)

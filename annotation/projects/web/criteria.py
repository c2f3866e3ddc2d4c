"""The form for a project's own criteria, on the page of the guidelines."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.forms.boundfield import BoundField
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.criteria import criteria_in_force
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import Criterion
from annotation.projects.services.change_project import change_project
from annotation.web.htmx import Request
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen
from evaluation import metrics
from evaluation.metrics import LONGEST_QUESTION, PACKS

HERE = "guidelines"
SCALES = (
    (Criterion.Scale.POINTS, "Points or choices, listed below"),
    (Criterion.Scale.YES_NO, "Yes or no"),
    (Criterion.Scale.PERCENT, "Percent, 0 to 100"),
)


RARE = ("higher_is_better", "reads", "asked")
"""The fields that the form folds away."""
POINT = re.compile(r"(\d{1,9})(?:\s*=|[:.)]?\s+(?:[-–]\s)?|$)\s*(.*)")


class PointsField(forms.CharField):
    """A field for points and their words, one point per line, such as `1 = biased` or `1 biased`. The words can be
    left out.
    """

    widget = forms.Textarea(attrs={"rows": 5, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else "\n".join(f"{n} = {words}" for n, words in value or ())

    def to_python(self, value: Any) -> Any:
        points = []
        for line in filter(None, map(str.strip, (super().to_python(value) or "").splitlines())):
            parts = POINT.fullmatch(line)
            if parts is None:
                raise forms.ValidationError(
                    f"“{line}” is no answer. Write a number and its words: 1 = biased."
                )
            points.append((int(parts[1]), parts[2]))
        return points


class CriterionForm(forms.Form):
    question = forms.CharField(max_length=LONGEST_QUESTION, help_text="Such as: Is the tone neutral?")
    name = forms.CharField(
        max_length=40,
        help_text="One short word for tables and files, such as tone: letters, digits, _ and -.",
    )
    scale = forms.ChoiceField(choices=SCALES)
    points = PointsField(
        label="Answers",
        required=False,
        help_text="For points and choices: one on each line, from the lowest to the highest, such as 1 = biased.",
    )
    higher_is_better = forms.TypedChoiceField(
        label="Best answer",
        choices=((1, "the highest"), (0, "the lowest")),
        coerce=lambda value: value == "1",
    )
    reads = forms.ChoiceField(label="Text to read", choices=Criterion.Reads.choices)
    answered_by = forms.ChoiceField(label="Answered by", choices=Criterion.AnsweredBy.choices)
    asked = forms.ChoiceField(
        label="When people are asked",
        choices=Criterion.Asked.choices,
        help_text="A question that needs the reference comes after it.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            described = [f"{name}-help", *([f"{name}-fault"] if name in self.errors else [])]
            field.widget.attrs["aria-describedby"] = " ".join(described)

    @property
    def usual(self) -> list[BoundField]:
        return [field for field in self if field.name not in RARE]

    @property
    def rare(self) -> list[BoundField]:
        return [field for field in self if field.name in RARE]

    @property
    def fact(self) -> metrics.Criterion:
        """Return the submitted criterion. Points are ignored on a yes-or-no scale."""
        columns = self.cleaned_data | {"points": tuple(self.cleaned_data["points"])}
        if columns["scale"] == Criterion.Scale.YES_NO:
            columns["points"] = ()
        return metrics.Criterion(**columns)


NEW = {
    "scale": Criterion.Scale.POINTS,
    "points": [(1, "not at all"), (2, ""), (3, ""), (4, ""), (5, "fully")],
    "higher_is_better": 1,
    "answered_by": Criterion.AnsweredBy.BOTH,
}


@screen("GET")
def criteria(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_PROJECT, here=HERE)
    name = request.GET.get("change", "")
    if not name:
        return _show(request, room, CriterionForm(initial=NEW))
    row = criteria_in_force(room.project).filter(name=name).first()
    if row is None:
        raise NotFound(f"No criterion is named {name!r}.")
    columns = {each: getattr(row, each) for each in CriterionForm.base_fields}
    initial = columns | {"higher_is_better": int(row.higher_is_better)}
    return _show(request, room, CriterionForm(initial=initial), changed=name)


@screen("POST")
def save_criterion(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here=HERE)
    form, changed = CriterionForm(request.POST), request.POST.get("changed", "")
    if not form.is_valid():
        return _show(request, room, form, changed=changed, status=422)
    facts = [row.fact for row in criteria_in_force(room.project)]
    places = [place for place, each in enumerate(facts) if each.name == changed]
    facts[slice(places[0], places[0] + 1) if places else slice(len(facts), None)] = [form.fact]
    return _saved(request, room, facts, form, f"Saved the question “{form.fact.name}”.", changed)


@screen("POST")
def add_pack(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here=HERE)
    name = request.POST.get("pack", "")
    if name not in PACKS:
        raise Invalid(f"No set of questions is named {name!r}.", field="pack")
    facts = [row.fact for row in criteria_in_force(room.project)]
    names = {each.name for each in facts}
    new = [each for each in PACKS[name] if each.name not in names]
    return _saved(request, room, [*new, *facts], CriterionForm(initial=NEW), f"Added {len(new)} questions.")


@screen("POST")
def retire_criterion(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here=HERE)
    name = request.POST.get("name", "")
    asked = [row.fact for row in criteria_in_force(room.project)]
    facts = [fact for fact in asked if fact.name != name]
    if len(facts) == len(asked):
        raise Invalid(f"No criterion is named {name!r}.", field="name")
    return _saved(request, room, facts, CriterionForm(initial=NEW), f"“{name}” is no longer asked.")


def _saved(
    request: Request,
    room: Room,
    facts: list[metrics.Criterion],
    form: CriterionForm,
    said: str,
    changed: str = "",
) -> HttpResponse:
    try:
        change_project(project=room.project, by=request.user, criteria=facts)
    except (Invalid, Conflict) as refusal:
        return _show(request, room, form, changed=changed, refusal=refusal, status=status_of(refusal))
    messages.success(request, said)
    return redirect("criteria", slug=room.project.slug)


def _show(
    request: Request,
    room: Room,
    form: CriterionForm,
    *,
    changed: str = "",
    refusal: Invalid | Conflict | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "room": room,
        "criteria": list(criteria_in_force(room.project)),
        "form": form,
        "changed": changed,
        # Offer short packs first.
        "packs": sorted(PACKS.items(), key=lambda each: len(each[1])),
        "refusal": refusal,
    }
    return render(request, "projects/criteria/page.html", context, status=status)

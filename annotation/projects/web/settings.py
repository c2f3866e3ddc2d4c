"""The settings of a project, in groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.forms.boundfield import BoundField
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.text import capfirst

from annotation.assessing.services.assign import MOST_PER_SET
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.judging.queries.judges import judges_of
from annotation.models import Judge, Project
from annotation.models.project import rule_name
from annotation.projects.services.change_project import (
    LONGEST_LEASE_MINUTES,
    LONGEST_TARGET,
    RULES,
    change_project,
    fixed_by_judgments,
)
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen
from evaluation.judging import LABEL_VALUES_IN_WORDS

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SAVED = "Saved. Scores and disputes use the new settings."
FIXED = "Locked: summaries have been judged, and another value would alter the judged text."


class ShareInput(forms.FloatField):
    """A form field for a number from 0 to 1, shown with four decimals. If it is not edited, all digits are kept."""

    def __init__(self, help_text: str) -> None:
        step = forms.NumberInput(attrs={"step": "any"})
        super().__init__(min_value=0, max_value=1, widget=step, help_text=help_text)

    def prepare_value(self, value: Any) -> Any:
        return round(value, 4) if isinstance(value, float) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


class WeightsField(forms.CharField):
    """A form field for weights by name, written as "coverage 2, alignment 1"."""

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return ", ".join(f"{name} {weight:g}" for name, weight in sorted(value.items()))

    def to_python(self, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        parts = (part.split() for part in (value or "").split(",") if part.strip())
        try:
            return {name: float(weight) for name, weight in parts}
        except ValueError as error:
            told = "Write each score with its weight, and commas between them: “coverage 2, alignment 1”."
            raise forms.ValidationError(told) from error


class RulesForm(forms.Form):
    """A form for rules of a project."""

    name = forms.CharField(max_length=120)
    description = forms.CharField(required=False, max_length=4000, widget=forms.Textarea({"rows": 3}))
    compares = forms.ChoiceField(
        choices=Project.Compares.choices, help_text="Sets the defaults for imports and runs."
    )
    blend = forms.ChoiceField(
        choices=Project.Blend.choices,
        help_text="Human first: assessors' percents replace claim answers if there are any. Weighted: they "
        "are averaged with claim answers.",
    )
    blend_human_weight = ShareInput("0 to 1; used if the blend is weighted.")
    assessor_average = forms.ChoiceField(
        choices=Project.AssessorAverage.choices,
        help_text="How several assessors' percents for a unit are combined.",
    )
    composite_weight = ShareInput(
        "0 to 1, in X = a·coverage + (1 − a)·brevity. The composites with a = 1 and a = ⅔ are always shown."
    )
    own_weights = WeightsField(
        required=False,
        help_text="Scores and own criteria with their weights, such as “coverage 2, alignment 1”: the leaderboard "
        "gets a column with their weighted mean. Empty for none.",
    )
    least_scored = ShareInput(
        "0 to 1: scores are blank if a smaller share of their claims or questions has a usable answer."
    )
    length_unit = forms.ChoiceField(
        choices=Project.LengthUnit.choices,
        help_text="Unit for target and summary lengths. Scripts without spaces need characters.",
    )
    target_length = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LONGEST_TARGET,
        help_text="For summaries without one of their own. Empty: their brevity is not scored.",
    )
    over_length = forms.ChoiceField(
        choices=Project.OverLength.choices,
        help_text="Brevity is 0 in both cases. Cut: judges and people judge only the text up to the target.",
    )
    percent_scale = forms.ChoiceField(
        choices=Project.PercentScale.choices, help_text="Percents that assessors choose from."
    )
    assessors_per_set = forms.IntegerField(
        min_value=0,
        max_value=MOST_PER_SET,
        help_text="Assessors take sets from a queue until each set has this many assessors. 0 for no queue.",
    )
    lease_minutes = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_LEASE_MINUTES,
        help_text="A set taken from the queue returns to it after this idle time.",
    )
    reveal = forms.ChoiceField(
        choices=Project.Reveal.choices,
        help_text="“After own answer” avoids bias. If it is shown at once, no random sample can be taken.",
    )
    dispute_threshold = ShareInput(
        "0 to 1: answers that differ by more than this go to adjudicators. "
        f"{LABEL_VALUES_IN_WORDS.capitalize()}; 100 % is 1."
    )
    dispute_answers = forms.ChoiceField(
        choices=Project.DisputeAnswers.choices,
        help_text="Applies to the adjudicators' queue and the columns they see.",
    )
    deciding_judge = forms.ModelChoiceField(
        queryset=Judge.objects.none(),
        to_field_name="name",
        required=False,
        empty_label="none",
        help_text="Its verdicts count if no person has answered.",
    )

    def __init__(self, *args: Any, room: Room, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        project = room.project
        deciding: Any = self.fields["deciding_judge"]
        deciding.queryset = judges_of(project)
        if Verb.VIEW_SCORES not in room.verbs:
            # People who are blind must not know which judge decides.
            del self.fields["deciding_judge"]
        fixed = fixed_by_judgments(project)
        for name, field in self.fields.items():
            field.label = field.label or capfirst(rule_name(name))
            field.disabled = name in fixed
            # Submit the shown values too, so that an outdated page changes only the fields that the person edited.
            field.show_hidden_initial = not self.is_bound or self.add_initial_prefix(name) in self.data
            if field.disabled:
                field.help_text = FIXED
        for name, field in self.fields.items():
            described = [f"{name}-help", *([f"{name}-fault"] if name in self.errors else [])]
            field.widget.attrs["aria-describedby"] = " ".join(described)


BASICS = ("name", "description", "target_length", "deciding_judge", "reveal", "percent_scale")
ADVANCED = (
    (
        "Scores",
        (
            "blend",
            "blend_human_weight",
            "assessor_average",
            "composite_weight",
            "own_weights",
            "least_scored",
        ),
    ),
    ("Texts", ("compares", "length_unit", "over_length")),
    ("Assessment", ("assessors_per_set", "lease_minutes")),
    ("Disputes", ("dispute_threshold", "dispute_answers")),
)
"""The settings that the page folds away: the title and the rules of each group."""


@screen("GET", "POST")
def project_settings(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="project-settings")
    form = RulesForm(request.POST or None, initial=_rules(room.project), room=room)
    status = 200
    if request.method == "POST":
        if _is_taken(form, room.project, request.user):
            messages.success(request, SAVED)
            if not request.htmx:
                return redirect("project-settings", slug=slug)
            room = enter(request, slug, Verb.CHANGE_PROJECT, here="project-settings")
            form = RulesForm(initial=_rules(room.project), room=room)
        else:
            status = 422
    advanced = [(title, _rows(form, names)) for title, names in ADVANCED]
    context = {
        "room": room,
        "form": form,
        "basics": _rows(form, BASICS),
        "advanced": advanced,
        "advanced_is_open": any(field.errors for _, rules in advanced for field in rules),
    }
    return page_or_fragment(
        request,
        page="projects/settings/page.html",
        fragment="projects/settings/_form.html",
        context=context,
        status=status,
    )


def _rows(form: RulesForm, names: Iterable[str]) -> list[BoundField]:
    return [form[name] for name in names if name in form.fields]


def _is_taken(form: RulesForm, project: Project, by: User) -> bool:
    if not form.is_valid():
        return False
    given = {name: form.cleaned_data[name] for name in form.changed_data}
    try:
        change_project(project=project, by=by, **given)
    except (Invalid, Conflict) as refusal:
        field = getattr(refusal, "field", None)
        form.add_error(field if field in form.fields else None, refusal.message)
        return False
    return True


def _rules(project: Project) -> dict[str, object]:
    return {name: getattr(project, name) for name in RULES} | {
        "deciding_judge": project.deciding_judge.name if project.deciding_judge else None,
    }

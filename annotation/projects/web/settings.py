"""The rules of a project, in groups: how scores are made, how people work, and what a change would move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

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
from annotation.models import SCORES, Judge, Project
from annotation.models.project import rule_name
from annotation.projects.queries.preview import RulesPreview
from annotation.projects.question_lines import HELP, QuestionLines
from annotation.projects.services.change_project import (
    DISPUTE_RULES,
    LONGEST_LEASE_MINUTES,
    LONGEST_TARGET,
    UNSCORED_RULES,
    change_project,
    fixed_by_judgments,
    preview_change,
)
from annotation.projects.shown_rules import carry_shown, refuse_overtaken
from annotation.scoring.words import SCORE_NAMES
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen
from evaluation.judging import LABEL_VALUES_IN_WORDS

SAVED = "Saved. Scores and disputes use the new settings."
FIXED = "Locked: summaries have been judged, and another value would alter the judged text."


class ShareInput(forms.FloatField):
    """A number from 0 to 1, shown in four decimals; one that is left as shown keeps all of its own."""

    def __init__(self, help_text: str) -> None:
        step = forms.NumberInput(attrs={"step": "any"})
        super().__init__(min_value=0, max_value=1, widget=step, help_text=help_text)

    def prepare_value(self, value: Any) -> Any:
        return round(value, 4) if isinstance(value, float) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


class RulesForm(forms.Form):
    """What an owner or manager may change; the service has the last word. Labels are those of the row's columns."""

    name = forms.CharField(max_length=120)
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="What the project is about. Shown instead of guidelines until there are some.",
    )
    licence = forms.CharField(
        required=False,
        max_length=100,
        help_text="License of the data, preferably an SPDX identifier such as CC-BY-4.0.",
    )
    provenance = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Where the texts and judgments come from.",
    )
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
    summarization_threshold = ShareInput(
        "0 to 1: summarization passes if the lower of its two parts reaches this."
    )
    summarization_strict = forms.BooleanField(
        required=False, help_text="Summarization is 1 if both parts are 1, otherwise 0."
    )
    summarization_scale = ShareInput(
        "Above 0, at most 1: summarization is multiplied by this after the threshold test."
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
        help_text="Used for summaries without their own target length. Without either, brevity and composite "
        "are blank.",
    )
    over_length = forms.ChoiceField(
        choices=Project.OverLength.choices,
        help_text="Brevity is 0 in both cases. Cut: judges and people judge only the text up to the target.",
    )
    percent_scale = forms.ChoiceField(
        choices=Project.PercentScale.choices, help_text="Percents that assessors can give to a unit."
    )
    question_set = forms.ChoiceField(
        choices=Project.QuestionSet.choices,
        help_text="Asked about each peer summary before its model summary is shown, except for targets up to "
        "10.",
    )
    own_questions = QuestionLines(required=False, help_text=HELP)
    assessors_per_set = forms.IntegerField(
        min_value=0,
        max_value=MOST_PER_SET,
        help_text="Assessors take sets from a queue until each set has so many assessors. 0 for no queue.",
    )
    lease_minutes = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_LEASE_MINUTES,
        help_text="A set taken from the queue returns to it after this idle time.",
    )
    reveal = forms.ChoiceField(
        choices=Project.Reveal.choices,
        help_text="Showing it first biases people, so “after own answer” is safest. If it is shown at once, "
        "you cannot take a random sample of checks.",
    )
    planted_share = ShareInput(
        "0 to 1: share of a reviewer's checks that show a wrong verdict as the judge's (control items). "
        "Reviewers are told after their answer. Control items never count."
    )
    dispute_threshold = ShareInput(
        "0 to 1: answers that differ by more than this go to adjudicators. "
        f"{LABEL_VALUES_IN_WORDS.capitalize()}; 100 % is 1."
    )
    dispute_voices = forms.ChoiceField(
        choices=Project.Voices.choices,
        help_text="Applies to the adjudicators' queue and the columns they see.",
    )
    audit_share = ShareInput("0 to 1: share of agreed answers that adjudicators audit, as a random sample.")
    own_adjudication = forms.BooleanField(
        required=False, help_text="Otherwise, other adjudicators must resolve it."
    )
    deciding_judge = forms.ModelChoiceField(
        queryset=Judge.objects.none(),
        to_field_name="name",
        required=False,
        empty_label="none",
        help_text="Its verdicts count if no person has decided. Other judges are stored for comparison.",
    )

    def __init__(self, *args: Any, room: Room, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        project = room.project
        deciding: Any = self.fields["deciding_judge"]
        deciding.queryset = judges_of(project)
        if Verb.VIEW_SCORES not in room.verbs:
            # Which judge decides is hidden from the blind.
            del self.fields["deciding_judge"]
        carry_shown(self)
        fixed = fixed_by_judgments(project)
        for name, field in self.fields.items():
            field.label = capfirst(rule_name(name))
            field.disabled = name in fixed
        for name, field in self.fields.items():
            described = [f"{name}-help", *([f"{name}-fault"] if name in self.errors else [])]
            field.widget.attrs["aria-describedby"] = " ".join(described)


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Settings that belong together: `say` is what they are about, `links` lead to pages that belong to them."""

    key: str
    title: str
    say: str
    rules: tuple[str, ...]
    links: tuple[tuple[str, str, Verb], ...] = ()


GROUPS = (
    RuleGroup(
        "general",
        "Project",
        "Name and contents of the project.",
        ("name", "description", "licence", "provenance", "compares"),
    ),
    RuleGroup(
        "scores",
        "Scores",
        "How people's and the judge's answers are combined into scores.",
        (
            "blend",
            "blend_human_weight",
            "assessor_average",
            "composite_weight",
            "summarization_threshold",
            "summarization_strict",
            "summarization_scale",
            "least_scored",
        ),
    ),
    RuleGroup(
        "lengths",
        "Lengths",
        "Target lengths for brevity.",
        ("length_unit", "target_length", "over_length"),
    ),
    RuleGroup(
        "assessing",
        "Assessment",
        "Questions in the SEE form and how work is assigned.",
        ("percent_scale", "question_set", "own_questions", "assessors_per_set", "lease_minutes"),
        (("Assignments", "assignments", Verb.ASSIGN),),
    ),
    RuleGroup(
        "review",
        "Review and disputes",
        "What reviewers see and which answers go to adjudicators.",
        ("reveal", "planted_share", "dispute_threshold", "dispute_voices", "audit_share", "own_adjudication"),
    ),
    RuleGroup(
        "judges",
        "Judges and texts",
        "The judge whose verdicts count if no person has answered. The judges page shows which servers may "
        "receive texts.",
        ("deciding_judge",),
        (("Judges", "judges", Verb.VIEW_RUNS), ("Prompts", "prompts", Verb.VIEW_RUNS)),
    ),
    RuleGroup(
        "members",
        "Members",
        "Roles, invitations and guidelines are on separate pages.",
        (),
        (("People", "people", Verb.MANAGE_MEMBERS), ("Guidelines", "guidelines", Verb.VIEW_PROJECT)),
    ),
)


@dataclass(frozen=True, slots=True)
class ShownRule:
    """A field and what follows from changing it."""

    field: BoundField
    follows: str


@dataclass(frozen=True, slots=True)
class ShownGroup:
    group: RuleGroup
    rules: list[ShownRule]
    links: list[tuple[str, str]]


@screen("GET", "POST")
def project_settings(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="project-settings")
    form = RulesForm(request.POST or None, initial=_rules(room.project), room=room)
    status, previewed = 200, {}
    if request.method == "POST":
        if "preview" in request.POST:
            previewed = _previewed(request, room.project, form)
            status = 200 if previewed else 422
        elif _is_taken(form, partial(_change, request, room, form)):
            messages.success(request, SAVED)
            if not request.htmx:
                return redirect("project-settings", slug=slug)
            room = enter(request, slug, Verb.CHANGE_PROJECT, here="project-settings")
            form = RulesForm(initial=_rules(room.project), room=room)
        else:
            status = 422
    context = {"room": room, "form": form, "groups": list(_groups(form, room)), **previewed}
    return page_or_fragment(
        request,
        page="projects/settings/page.html",
        fragment="projects/settings/_form.html",
        context=context,
        status=status,
    )


def _change(request: Request, room: Room, form: RulesForm, **given: Any) -> None:
    def expect(project: Project) -> None:
        refuse_overtaken(form, _rules(project), project)

    try:
        change_project(project=room.project, by=request.user, expect=expect, **given)
    except Conflict as refusal:
        if refusal.code != "newer_rules":
            raise
        # It is told now: saved again, the form replaces it.
        data = request.POST.copy()
        now = RulesForm(initial=_rules(Project.objects.get(pk=room.project.pk)), room=room)
        for name in cast("list[str]", refusal.details["rules"]):
            data[form[name].html_initial_name] = now[name].value()
        form.data = data
        raise Conflict(f"{refusal.message} Save again to replace it.", code=refusal.code) from refusal


def _groups(form: RulesForm, room: Room) -> Iterator[ShownGroup]:
    for group in GROUPS:
        links = [(words, url) for words, url, verb in group.links if verb in room.verbs]
        rules = [ShownRule(form[name], _follows(form, name)) for name in group.rules if name in form.fields]
        yield ShownGroup(group, rules, links)


def _follows(form: RulesForm, name: str) -> str:
    if form.fields[name].disabled:
        return FIXED
    if name in DISPUTE_RULES:
        return "Changing this rebuilds the dispute queue. Scores do not change."
    if name in UNSCORED_RULES:
        return "Changing this does not affect scores."
    return "Changing this recomputes all scores."


def _previewed(request: Request, project: Project, form: RulesForm) -> dict[str, Any]:
    """What the page tells of a preview; nothing where the form or the service refuses."""
    found: list[RulesPreview | None] = []
    if not _is_taken(
        form, lambda **given: found.append(preview_change(project=project, by=request.user, **given))
    ):
        return {}
    preview = found[0]
    names = {name: SCORE_NAMES.get(name, name.replace("_", " ")) for name in SCORES}
    return {
        "is_previewed": True,
        "preview": preview,
        "moves": [(names[move.name].capitalize(), move) for move in (preview.scores if preview else ())],
    }


def _is_taken(form: RulesForm, act: Callable[..., object]) -> bool:
    """Whether the form holds and the act took what it says; what that refuses becomes the form's own error."""
    if not form.is_valid():
        return False
    given = {name: form.cleaned_data[name] for name in form.changed_data}
    try:
        act(**given)
    except (Invalid, Conflict) as refusal:
        field = getattr(refusal, "field", None)
        form.add_error(field if field in form.fields else None, refusal.message)
        return False
    return True


def _rules(project: Project) -> dict[str, object]:
    rules = {name: getattr(project, name) for name in RulesForm.base_fields if name != "deciding_judge"}
    return {**rules, "deciding_judge": project.deciding_judge.name if project.deciding_judge else None}

"""The rules of a project: how people and judge are blended, and what reviewers see."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid
from annotation.judging.queries.judges import judges_of
from annotation.models import Judge, Project
from annotation.projects.services.change_project import LONGEST_LEASE_MINUTES, change_project
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import enter
from annotation.web.screen import screen
from evaluation.judging import LABEL_VALUES_IN_WORDS


class RulesForm(forms.Form):
    """What an owner or manager may change; the service has the last word."""

    name = forms.CharField(max_length=120)
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="What the project is about. It stands in for guidelines until some are written.",
    )
    blend = forms.ChoiceField(
        choices=Project.Blend.choices,
        help_text="Human first: people's percents stand where there are any. Weighted: they are mixed with the claims.",
    )
    blend_human_weight = forms.FloatField(
        min_value=0,
        max_value=1,
        label="Weight of people (w)",
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="0 to 1; used where the blend is weighted.",
    )
    assessor_average = forms.ChoiceField(
        choices=Project.AssessorAverage.choices, label="Average of several assessors"
    )
    composite_weight = forms.FloatField(
        min_value=0,
        max_value=1,
        label="Weight of coverage (a)",
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="0 to 1, in X = a·coverage + (1 − a)·brevity.",
    )
    percent_scale = forms.ChoiceField(
        choices=Project.PercentScale.choices, label="Percent scale of the SEE form"
    )
    question_set = forms.ChoiceField(
        choices=Project.QuestionSet.choices,
        label="Quality questions",
        help_text="Asked of each peer summary before its model summary is shown; not of targets up to 10.",
    )
    own_questions = forms.JSONField(
        required=False,
        label="The project's own questions",
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text='A list such as [{"id": "clear", "text": "Is it clear?", "answers": ["no", "yes"]}]. '
        'Answers count from 0, or from "first".',
    )
    repeat_share = forms.FloatField(
        min_value=0,
        max_value=1,
        label="Share of hidden repeats",
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="0 to 1: how many of an assessor's summaries come twice, unsaid. They never count in scores.",
    )
    lease_minutes = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_LEASE_MINUTES,
        label="Lease in minutes",
        help_text="A set pulled from the queue goes back to it when nobody has worked at it for this long.",
    )
    reveal = forms.ChoiceField(
        choices=Project.Reveal.choices,
        label="Reviewers see the judge's verdict",
        help_text="Seeing it first biases people towards it: after the own answer is the safe choice. Where it is "
        "shown at once, no random sample of checks can be taken.",
    )
    planted_share = forms.FloatField(
        min_value=0,
        max_value=1,
        label="Share of control items",
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="0 to 1: how many of a reviewer's checks show a wrong verdict as the judge's, to see who follows "
        "it. They are told after their answer and may change it; what they leave stands as theirs, and the control "
        "item itself never counts. Fewer come where the answer is uncertain, or where nothing that the judge "
        "said of other claims would look like it there. At 0 no more are shown; reviewers who were "
        "shown one earlier are told after their answer.",
    )
    dispute_threshold = forms.FloatField(
        min_value=0,
        max_value=1,
        label="Answers differ beyond",
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="0 to 1: answers further apart than this go to the adjudicators. "
        f"{LABEL_VALUES_IN_WORDS.capitalize()}; "
        "100 % is 1.",
    )
    dispute_voices = forms.ChoiceField(
        choices=Project.Voices.choices,
        label="Whose answers are compared with each other",
        help_text="Both for the adjudicators' queue and for the columns that they see.",
    )
    audit_share = forms.FloatField(
        min_value=0,
        max_value=1,
        label="Share to be audited",
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="0 to 1: how much of what people agree on adjudicators audit, as a random sample.",
    )
    own_adjudication = forms.BooleanField(
        required=False,
        label="Adjudicators may resolve what they have judged themselves",
        help_text="Otherwise the queue leaves it to others.",
    )
    deciding_judge = forms.ModelChoiceField(
        queryset=Judge.objects.none(),
        to_field_name="name",
        required=False,
        empty_label="none",
        help_text="Its verdicts stand where no person has decided. Others are stored and compared.",
    )

    def clean_own_questions(self) -> object:
        given = self.cleaned_data["own_questions"]
        return [] if given is None else given

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        deciding: Any = self.fields["deciding_judge"]
        deciding.queryset = judges_of(project)
        for name, field in self.fields.items():
            described = [f"{name}-help"] if field.help_text else []
            described += [f"{name}-fault"] if name in self.errors else []
            if described:
                field.widget.attrs["aria-describedby"] = " ".join(described)


@screen("GET", "POST")
def project_settings(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="project-settings")
    form = RulesForm(request.POST or None, initial=_rules(room.project), project=room.project)
    status = 200
    if request.method == "POST":
        if form.is_valid() and _changed(request, room.project, form):
            messages.success(request, "Saved. The scores follow the new rules.")
            if not request.htmx:
                return redirect("project-settings", slug=slug)
            room = enter(request, slug, Verb.CHANGE_PROJECT, here="project-settings")
            form = RulesForm(initial=_rules(room.project), project=room.project)
        else:
            status = 422
    context = {"room": room, "form": form}
    return page_or_fragment(
        request,
        page="projects/settings/page.html",
        fragment="projects/settings/_form.html",
        context=context,
        status=status,
    )


def _changed(request: Request, project: Project, form: RulesForm) -> bool:
    """Whether the service took the changes; what it refuses becomes the form's own error."""
    try:
        change_project(project=project, by=request.user, **form.cleaned_data)
    except (Invalid, Conflict) as refusal:
        field = getattr(refusal, "field", None)
        form.add_error(field if field in form.fields else None, refusal.message)
        return False
    return True


def _rules(project: Project) -> dict[str, object]:
    rules = {name: getattr(project, name) for name in RulesForm.base_fields if name != "deciding_judge"}
    return {**rules, "deciding_judge": project.deciding_judge.name if project.deciding_judge else None}

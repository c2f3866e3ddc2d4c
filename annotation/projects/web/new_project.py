from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.core.permissions import may_create_projects
from annotation.core.refusals import Invalid, NotAllowed
from annotation.models import Project
from annotation.projects.services.change_project import create_project
from annotation.web.htmx import Request
from annotation.web.refusals import status_of
from annotation.web.screen import screen

EXPLAINED = (
    (
        Project.Compares.REFERENCE,
        "Measures how much of the reference a summary covers, its length, and whether the source supports "
        "it. Each row has a document, a reference and a summary.",
    ),
    (
        Project.Compares.SOURCE,
        "Measures whether the source supports the summary, and how much of the source it covers. Each row "
        "has a document and a summary.",
    ),
    (
        Project.Compares.CLAIMS,
        "The file contains the claims, with or without answers. One line of JSON per document.",
    ),
)


class NewProjectForm(forms.Form):
    name = forms.CharField(max_length=120)
    compares = forms.ChoiceField(choices=Project.Compares.choices, initial=Project.Compares.REFERENCE)


@screen("GET", "POST")
def new_project(request: Request) -> HttpResponse:
    if not may_create_projects(request.user):
        raise NotAllowed(
            "You cannot create projects here. Ask the administrator of this installation.",
            code="no_new_projects",
        )
    form = NewProjectForm(request.POST or None)
    status = 200
    if request.method == "POST":
        if form.is_valid():
            try:
                made = create_project(by=request.user, **form.cleaned_data)
            except Invalid as refusal:
                status = status_of(refusal)
                form.add_error(refusal.field if refusal.field in form.fields else None, refusal.message)
            else:
                return redirect("import", slug=made.slug)
        else:
            status = 422
    context = {"form": form, "chosen": form["compares"].value(), "choices": EXPLAINED}
    return render(request, "projects/new/page.html", context, status=status)

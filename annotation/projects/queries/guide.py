"""The three steps from a new project to its first run."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from annotation.core.permissions import Verb
from annotation.models import DocumentSet, Project, Run

NEEDED = frozenset({Verb.CHANGE_PROJECT, Verb.IMPORT, Verb.RUN})


class GuideStep(NamedTuple):
    name: str
    url_name: str
    is_done: bool


def guide_steps(project: Project, verbs: Collection[Verb]) -> list[GuideStep]:
    """Return the steps; none if the person may not take all of them, or if a run has finished."""
    if not set(verbs) >= NEEDED:
        return []
    runs = Run.objects.filter(project=OuterRef("pk"))
    has_texts, has_run, is_over, judge = (
        Project.objects.filter(pk=project.pk)
        .values_list(
            Exists(DocumentSet.objects.filter(project=OuterRef("pk"))),
            Exists(runs),
            Exists(runs.filter(state=Run.State.FINISHED)),
            "deciding_judge",
        )
        .get()
    )
    if is_over:
        return []
    return [
        GuideStep("File", "import", has_texts),
        GuideStep("Judge", "judges", judge is not None),
        GuideStep("Start", "runs", has_run),
    ]

"""The way from a new project to its first judged run, in five steps that may be taken in any order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from annotation.core.permissions import Verb
from annotation.models import Project, Run, Summary

NEEDED = frozenset({Verb.CHANGE_PROJECT, Verb.IMPORT, Verb.RUN})


@dataclass(frozen=True, slots=True)
class GuideStep:
    """`url_name` is the page where it is taken; an optional step is never what has to be done next."""

    name: str
    url_name: str
    is_done: bool
    is_optional: bool = False


def guide_steps(project: Project, verbs: Collection[Verb]) -> list[GuideStep]:
    """The steps for somebody who may take them; none for others, and once a run has finished. One query."""
    if not set(verbs) >= NEEDED:
        return []
    runs = Run.objects.filter(project=OuterRef("pk"))
    facts = (
        Project.objects.filter(pk=project.pk)
        .annotate(members=Count("memberships"))
        .values_list(
            Exists(Summary.objects.filter(document_set__project=OuterRef("pk"), is_peer=True)),
            Exists(runs),
            Exists(runs.filter(state=Run.State.FINISHED)),
            "members",
            "deciding_judge",
        )
    )
    has_texts, has_run, is_over, members, judge = facts.get()
    if is_over:
        return []
    people = [GuideStep("People", "people", members > 1, True)] if Verb.MANAGE_MEMBERS in verbs else []
    return [
        GuideStep("What to compare", "compared", True),
        GuideStep("File", "import", has_texts),
        GuideStep("Judge", "judges", judge is not None),
        *people,
        GuideStep("Start", "runs", has_run),
    ]

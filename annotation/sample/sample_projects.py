"""The sample projects: what they are, and how one is added and removed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.core.events import log
from annotation.core.jobs import hint
from annotation.core.permissions import Verb, may_create_projects, require
from annotation.core.project_rows import remove_rows
from annotation.core.refusals import Conflict, NotAllowed, NotFound
from annotation.imports.background import forget_files_of
from annotation.judging.queries.runs import is_under_way, is_worker_alive
from annotation.judging.services.judge_many import judge_run
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.start_run import start_run
from annotation.models import Event, Project, Run
from annotation.sample import harbour, newsroom

if TYPE_CHECKING:
    from django.contrib.auth.models import User

JUDGED_WITHIN_SECONDS = 120
LOOK_EVERY_SECONDS = 0.2
ADD_SAMPLE = "annotation.add_sample_project"
"""The name of the task that adds one."""
ADDED = "add sample project"
"""The verb in the log under which one is added."""


@dataclass(frozen=True, slots=True)
class SampleProject:
    """One sample project: its name in addresses and on screen, how it is begun and how its people then answer.

    `begin` makes people and texts, and `answer` gives people's answers once the judge's are there; both leave alone
    what is there. `is_answered` tells that nothing is left to do.
    """

    slug: str
    name: str
    about: str
    begin: Callable[[User | None], Project]
    answer: Callable[[Project], None]
    is_answered: Callable[[Project], bool]


SAMPLE_PROJECTS = {
    sample.slug: sample
    for sample in (
        SampleProject(
            harbour.SLUG,
            harbour.NAME,
            harbour.DESCRIPTION,
            harbour.begin_harbour,
            harbour.answer_harbour,
            harbour.is_harbour_answered,
        ),
        SampleProject(
            newsroom.SLUG,
            newsroom.NAME,
            newsroom.DESCRIPTION,
            newsroom.begin_newsroom,
            newsroom.answer_newsroom,
            newsroom.is_newsroom_answered,
        ),
    )
}
"""By the name in addresses, in the order in which they are offered."""


def samples_for(person: User) -> list[tuple[str, SampleProject, Project | None]]:
    """The samples by their address, each with the project of that address. Raises NotAllowed, as adding one would."""
    if not may_create_projects(person):
        raise NotAllowed("Sample projects are for people who may make projects here.")
    there = {each.slug: each for each in Project.objects.filter(slug__in=SAMPLE_PROJECTS)}
    return [(slug, sample, there.get(slug)) for slug, sample in SAMPLE_PROJECTS.items()]


def ask_for_sample(*, name: str, by: User) -> None:
    """Have a worker add a sample project, whose owner `by` becomes. To ask again does no harm.

    Raises NotAllowed where the person may make no projects, NotFound for a name that is no sample's, Conflict where
    it is there (code `slug_taken`) or there is nobody to make it (`no_worker`).
    """
    if not may_create_projects(by):
        raise NotAllowed("Only people who may make projects here can add a sample project.")
    _require_absent(name)
    asked = {"name": name, "by_id": by.pk}
    if not (is_worker_alive() and hint(ADD_SAMPLE, kwargs=asked, waits="a sample project")):
        raise Conflict(
            "No worker is running to make it. Ask whoever runs this installation to start one.",
            code="no_worker",
        )


def _require_absent(name: str) -> SampleProject:
    """The sample of that name, which is not there, or not finished. Raises as `ask_for_sample`."""
    sample = sample_project(name)
    there = Project.objects.filter(slug=name).first()
    if there is not None and not is_sample(there):
        raise Conflict(f"There is already a project {name!r}, which is no sample.", code="slug_taken")
    if there is not None and sample.is_answered(there):
        raise Conflict(f"There is already a project {name!r}.", code="slug_taken")
    return sample


def add_sample_project(*, name: str, by: User | None) -> Project:
    """Make a sample project with everything in it; `by` becomes an owner. It takes some seconds.

    Workers judge it, or where there are none this process, by the lexical judge. What a broken call left is finished.
    Raises NotFound for a name that is no sample's, Conflict (code `slug_taken`) where a project of that name is there.
    """
    sample = _require_absent(name)
    project = begin_sample_project(name=name, by=by)
    run = Run.objects.filter(project=project).earliest("pk")
    until = time.monotonic() + JUDGED_WITHIN_SECONDS
    while is_under_way(run):
        if time.monotonic() > until:
            raise Conflict("The sample project is not judged yet. Ask for it again in a minute.", code="busy")
        if not is_worker_alive():
            judge_run(run)
        time.sleep(LOOK_EVERY_SECONDS)
    sample.answer(project)
    return project


def begin_sample_project(*, name: str, by: User | None) -> Project:
    """The sample project with its people and texts and a run that workers have to do; what is there is left alone."""
    sample = sample_project(name)
    there = Project.objects.filter(slug=name).first()
    if there is not None and sample.is_answered(there):
        return there
    if there is not None and not is_sample(there):
        raise Conflict(f"There is already a project {name!r}, which is no sample.", code="slug_taken")
    project = sample.begin(by)
    if there is None:
        log(project=project, actor=by, verb="add sample project", target=project)
    if not Run.objects.filter(project=project).exists():
        start_run(project=project, judge=judge_by_name("lexical"), metrics=("coverage", "alignment"), by=None)
    return project


def remove_sample_project(*, project: Project, by: User | None) -> None:
    """Take a sample project away with everything in it, its log too; owners may. Its people stay.

    Raises Conflict for a project that is no sample (code `no_sample`), and while its claims are being judged (`busy`).
    """
    require(by, project, Verb.MANAGE_MEMBERS)
    if not is_sample(project):
        raise Conflict(
            f"{project.name} is no sample project, so it cannot be removed here.", code="no_sample"
        )
    if Run.objects.filter(project=project, state=Run.State.ACTIVE).exists():
        raise Conflict(
            "Its claims are being judged. Cancel the run or wait for it, then remove it.", code="busy"
        )
    forget_files_of(project)
    remove_rows(project)


def is_sample(project: Project) -> bool:
    """Whether a project was made as a sample, and not by somebody who gave it the same name."""
    return Event.objects.filter(project=project, verb=ADDED).exists()


def sample_project(name: str) -> SampleProject:
    """The sample project of that name. Raises NotFound with the names that there are."""
    sample = SAMPLE_PROJECTS.get(name)
    if sample is None:
        raise NotFound(f"There is no sample project {name!r}; there are {', '.join(SAMPLE_PROJECTS)}.")
    return sample

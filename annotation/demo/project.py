"""The sample project: how it is added and removed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from annotation.core.events import log
from annotation.core.jobs import hint
from annotation.core.permissions import Verb, may_create_projects, require
from annotation.core.project_rows import remove_rows
from annotation.core.refusals import Conflict, NotAllowed
from annotation.demo.harbour import SLUG, answer_harbour, begin_harbour, is_harbour_answered
from annotation.imports.background import forget_files_of
from annotation.judging.queries.runs import is_under_way, is_worker_alive
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.running.turn import judge_run
from annotation.judging.services.start_run import start_run
from annotation.models import Event, Project, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

JUDGED_WITHIN_SECONDS = 120
LOOK_EVERY_SECONDS = 0.2
ADD_SAMPLE = "annotation.add_sample_project"
"""The name of the task that adds it."""
ADDED = "add sample project"
"""The verb in the log under which it is added."""


def sample_for(person: User) -> Project | None:
    """The project of that address, if it is there. Raises NotAllowed for people who may make no projects."""
    if not may_create_projects(person):
        raise NotAllowed("The sample project is for people who may make projects here.")
    return Project.objects.filter(slug=SLUG).first()


def ask_for_sample(*, by: User) -> None:
    """Have a worker add the sample project, whose owner `by` becomes. To ask again does no harm.

    Raises as `sample_for`, and Conflict where it is there (code `slug_taken`) or nobody can make it (`no_worker`).
    """
    _require_absent(sample_for(by))
    if not (is_worker_alive() and hint(ADD_SAMPLE, kwargs={"by_id": by.pk}, waits="the sample project")):
        raise Conflict(
            "No worker is running to make it. Ask the operator to start one.",
            code="no_worker",
        )


def _require_absent(there: Project | None) -> None:
    if there is not None and (not is_sample(there) or is_harbour_answered(there)):
        raise Conflict(f"There is already a project {SLUG!r}.", code="slug_taken")


def add_sample_project(*, by: User | None) -> Project:
    """Make the sample project with everything in it; `by` becomes an owner. It takes some seconds.

    Workers judge it, or where there are none this process, by the lexical judge. A call that broke off is finished.
    Raises Conflict (code `slug_taken`) where a project of its address is there.
    """
    _require_absent(Project.objects.filter(slug=SLUG).first())
    project = begin_sample_project(by=by)
    run = Run.objects.filter(project=project).earliest("pk")
    until = time.monotonic() + JUDGED_WITHIN_SECONDS
    while is_under_way(run):
        if time.monotonic() > until:
            raise Conflict("The sample project is not judged yet. Ask for it again in a minute.", code="busy")
        if not is_worker_alive():
            judge_run(run)
        time.sleep(LOOK_EVERY_SECONDS)
    answer_harbour(project)
    return project


def begin_sample_project(*, by: User | None) -> Project:
    """The project with its people and texts and a run that workers have to do; what is there is left alone."""
    there = Project.objects.filter(slug=SLUG).first()
    if there is not None and is_harbour_answered(there):
        return there
    _require_absent(there)
    project = begin_harbour(by)
    if there is None:
        log(project=project, actor=by, verb=ADDED, target=project)
    if not Run.objects.filter(project=project).exists():
        start_run(project=project, judge=judge_by_name("lexical"), metrics=("coverage", "alignment"), by=None)
    return project


def remove_sample_project(*, project: Project, by: User | None) -> None:
    """Take the sample project away with everything in it, its log too; owners may. Its people stay.

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

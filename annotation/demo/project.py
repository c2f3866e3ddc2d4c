"""Adding and removing the sample project."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.events import log
from annotation.core.jobs import hint
from annotation.core.permissions import Verb, may_create_projects, require
from annotation.core.refusals import Conflict, NotAllowed
from annotation.demo.harbour import SLUG, answer_harbour, begin_harbour, is_harbour_answered
from annotation.imports.work import forget_files_of
from annotation.judging.queries.runs import is_under_way, is_worker_alive
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.running.turn import judge_run
from annotation.judging.services.start_run import start_run
from annotation.models import Event, Project, Run
from annotation.privacy.project_rows import remove_in_steps

if TYPE_CHECKING:
    from django.contrib.auth.models import User

JUDGED_WITHIN_SECONDS = 120
LOOK_EVERY_SECONDS = 0.2
ADD_SAMPLE = "annotation.add_sample_project"
ADDED = "add sample project"
"""The verb in the log for adding the sample project."""


def sample_for(person: User) -> Project | None:
    """Return the project with the sample's slug; None if there is none. Raises NotAllowed if the person may not create
    projects.
    """
    if not may_create_projects(person):
        raise NotAllowed("The sample project is for people who may make projects here.")
    return Project.objects.filter(slug=SLUG).first()


def ask_for_sample(*, by: User) -> None:
    """Ask a worker to add the sample project with `by` as owner.

    Raises the errors of `sample_for`, and Conflict if a complete sample or another project has the slug (code
    `slug_taken`) or no worker can be asked (`no_worker`).
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
    """Create the complete sample project with `by` as an owner, or complete it.

    Workers judge the project with the lexical judge; without workers, this process does. Raises Conflict with code
    `slug_taken` if a complete sample or another project has the slug, and with code `busy` if judging takes too long.
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
    """Create the missing parts of the project with people, texts and a run.

    Raises Conflict (code `slug_taken`) if another project has the slug, unless it has a verdict of a reviewer.
    """
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
    """Remove the sample project with all its rows, including its log. Accounts remain.

    Raises Conflict if the project is not a sample (code `no_sample`) and during a run (`busy`). Raises the errors of
    `require` for the verb `MANAGE_MEMBERS`.
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
    with transaction.atomic():
        remove_in_steps(project)


def is_sample(project: Project) -> bool:
    """Return True if the log says that the project was added as the sample."""
    return Event.objects.filter(project=project, verb=ADDED).exists()

"""Runs whose jobs the test itself does, and texts for runs."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from annotation.core import jobs
from annotation.judging.services.judges import at_work
from annotation.judging.services.running.turn import Turn, judge_run
from annotation.judging.services.start_run import start_run
from annotation.models import Comparison, Document, DocumentSet, Job, Judge, Project, Run, Summary, System
from evaluation.judging.protocol import one_pass
from tests.annotation.cast import add_units


def run_to_end(project: Project, judge: Judge, metrics: Sequence[str] = ("coverage",)) -> Run:
    run = start_run(project=project, judge=judge, metrics=metrics, by=None)
    perform_all(run)
    return run


def perform_all(run: Run) -> None:
    for _ in range(run.jobs.count()):
        judge_run(Run.objects.select_related("project", "judge").get(pk=run.pk), most=1)
    run.refresh_from_db()


def due(run: Run) -> QuerySet[Job]:
    return jobs.due(Job.Kind.RUN).filter(run=run)


def claim_job(job: Job) -> jobs.Claimed | None:
    taken = jobs.take(jobs.due(Job.Kind.RUN).filter(pk=job.pk))
    return taken[0] if taken else None


def judge_claimed(claimed: jobs.Claimed) -> None:
    run = claimed.job.run
    assert run is not None
    with one_pass(), at_work(run.judge, run=run) as judge:
        turn = Turn(run, judge, claimed.token)
        turn.begin([claimed])
        turn.pull(most=None, is_stopping=lambda: True)


def judge_to_end(project: Project, judge: Judge, metrics: Sequence[str] = ("coverage",)) -> Run:
    run = start_run(project=project, judge=judge, metrics=metrics, by=None)
    judge_all(run)
    return run


def judge_all(run: Run) -> None:
    while run.jobs.filter(state=Job.State.WAITING, attempt=0).exists():
        assert judge_run(run)
    run.refresh_from_db()


def add_document_set(
    project: Project,
    *documents: str,
    external_id: str = "a",
    reference: str | None = None,
    target_words: int | None = None,
    **summaries: str,
) -> DocumentSet:
    document_set = DocumentSet.objects.create(project=project, external_id=external_id)
    first = 1
    for position, text in enumerate(documents, start=1):
        document = Document.objects.create(document_set=document_set, position=position, text=text)
        units = add_units(text, document=document)
        for number, unit in enumerate(units, start=first):
            unit.position = number
            unit.save(update_fields=["position"])
        first += len(units)
    row = None
    if reference is not None:
        row = Summary.objects.create(document_set=document_set, is_reference=True, text=reference)
        add_units(reference, summary=row)
    for name, text in summaries.items():
        system, _ = System.objects.get_or_create(project=project, name=name)
        summary = Summary.objects.create(
            document_set=document_set, system=system, is_summary=True, text=text, target_words=target_words
        )
        add_units(text, summary=summary)
        if row is not None:
            Comparison.objects.create(summary=summary, reference=row)
    return document_set

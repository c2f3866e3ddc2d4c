from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.judging.queries.run_estimate import run_estimate
from annotation.models import Document, DocumentSet, Judge, JudgeCall, Project, Summary, System


def study(sets: int = 2, systems: int = 3) -> Project:
    project = Project.objects.create(slug="study", name="Study")
    makers = [System.objects.create(project=project, name=f"s{number}") for number in range(systems)]
    for number in range(sets):
        row = DocumentSet.objects.create(project=project, external_id=str(number))
        Document.objects.create(document_set=row, position=1, text="x" * 4000)
        for maker in makers:
            Summary.objects.create(document_set=row, system=maker, is_summary=True, text="y" * 400)
    return project


def server(**changes: object) -> Judge:
    return Judge.objects.create(name="m", kind="openai", model="m", concurrency=4, **changes)


def test_calls_are_one_a_document_and_two_a_summary(db: None) -> None:
    judge = server(prompt_price=1.0, completion_price=10.0)
    found = run_estimate(project=study(), judge=judge, parts={"coverage", "alignment"})
    # 2 documents are read, and 6 summaries are covered and aligned: 2 + 6 + 6 calls.
    assert (found.document_sets, found.summaries, found.calls) == (2, 6, 14)
    # The texts have 2 x 4,000 (read) + 6 x (400 + .3 x 4,000) (covered) + 6 x (400 + 4,000) (aligned) = 44,000
    # characters, which is 11,000 tokens. Each call has 800 more tokens of instructions, and 400 tokens of reply.
    assert found.prompt_tokens == 11_000 + 14 * 800
    assert found.completion_tokens == 14 * 400
    # The cost is (22,200 x 1 + 5,600 x 10) per million.
    assert found.cost is not None
    assert abs(found.cost - 0.0782) < 1e-9
    # 14 calls take 3 s each, 4 at a time, and our own work takes .01 s for each of 6 summaries: 14 x 3 / 4 + .06 =
    # 10.56.
    assert abs(found.seconds - 10.56) < 1e-9
    assert not found.is_measured


def test_replies_made_before_tell_the_size_of_the_next(db: None) -> None:
    judge = server(prompt_price=1.0)
    for step, prompt, seconds in (("read_document", 1000, 4.0), ("align_summary", 500, 2.0)):
        JudgeCall.objects.create(
            judge=judge,
            key=step,
            step=step,
            prompt_version="1",
            request="{}",
            prompt_tokens=prompt,
            completion_tokens=100,
            seconds=seconds,
        )
    project = study()
    alignment = run_estimate(project=project, judge=judge, parts={"alignment"})
    # Replies are expected to be as long and slow as earlier ones, 100 tokens and 3 s; prompts follow from the texts.
    assert (alignment.is_measured, alignment.completion_tokens) == (True, 600)
    assert alignment.prompt_tokens == 6 * (800 + 4400 // 4)
    assert abs(alignment.seconds - (6 * 3.0 / 4 + 0.06)) < 1e-9


def test_a_limit_by_the_minute_takes_its_time(db: None) -> None:
    judge = server(calls_per_minute=5)
    # The sixth of 6 calls waits for the second minute.
    assert run_estimate(project=study(), judge=judge, parts={"alignment"}).seconds == 60.06


def test_a_panel_asks_each_of_its_members_that_makes_calls(db: None) -> None:
    panel = Judge.objects.create(name="panel", kind="panel")
    first = server(prompt_price=1.0)
    second = Judge.objects.create(name="n", kind="openai", model="n")
    panel.members.set([first, second, Judge.objects.create(name="lexical", kind="lexical")])
    project = study()
    found = run_estimate(project=project, judge=panel, parts={"alignment"})
    assert found.calls == 12
    assert found.cost == run_estimate(project=project, judge=first, parts={"alignment"}).cost


def test_what_makes_no_calls_is_free(db: None) -> None:
    project = study()
    lexical = Judge.objects.create(name="lexical", kind="lexical")
    offline = run_estimate(project=project, judge=lexical, parts={"coverage", "alignment"})
    assert (offline.calls, offline.cost) == (0, None)
    assert run_estimate(project=project, judge=server(prompt_price=1.0), parts={"completeness"}).calls == 0
    empty = Project.objects.create(slug="empty", name="Empty")
    assert run_estimate(project=empty, judge=lexical, parts={"coverage"}).summaries == 0


def test_statements_do_not_grow_with_sets(db: None) -> None:
    judge, counts = server(), []
    for sets in (2, 20):
        Project.objects.filter(slug="study").update(slug=f"old-{sets}")
        project = study(sets)
        with CaptureQueriesContext(connection) as asked:
            run_estimate(project=project, judge=judge, parts={"coverage"})
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 5

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from annotation.core.tables.pseudonyms import People
from annotation.exports import pairs, summaries
from annotation.exports.levels import LEVELS, TABLES
from annotation.exports.write import snapshot
from annotation.models import Check, Comparison, Summary, System
from annotation.reviewing.services.review import override
from annotation.scoring.rescore import rescore
from tests.annotation.asking import answer, make_question
from tests.annotation.cast import World

MOST_QUERIES = 30


def add_systems(world: World, numbers: range) -> None:
    pattern = world.summaries["port", "alder"]
    claims = [check.claim for check in world.checks("alder")]
    for number in numbers:
        system = System.objects.create(project=world.project, name=f"cedar {number:03}")
        summary = Summary.objects.create(
            document_set=pattern.document_set,
            system=system,
            is_summary=True,
            target_words=20,
            text=pattern.text,
        )
        Comparison.objects.create(summary=summary, reference=world.references["port"])
        for claim in claims:
            check = Check.objects.create(
                project=world.project,
                claim=claim,
                summary=summary,
                document_set_id=summary.document_set_id,
                side="reference",
            )
            check.verdicts.create(role="judge", judge=world.judge, origin_name="lexical|v:1", label="yes")
            check.verdicts.create(role="reviewer", person=world.rex, label="no")
    rescore(project=world.project)


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow_with_rows(
    world: World, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    def counted(level: str) -> tuple[int, int]:
        with django_assert_max_num_queries(MOST_QUERIES) as seen:
            rows = sum(1 for _ in LEVELS[level].rows(world.project, People(world.project)))
        return rows, len(seen)

    # Four summaries exist already. The totals of 10 and 200 are one batch each.
    add_systems(world, range(6))
    few = {level: counted(level) for level in LEVELS}
    add_systems(world, range(6, 196))
    many = {level: counted(level) for level in LEVELS}
    assert {level: queries for level, (_, queries) in many.items()} == {
        level: queries for level, (_, queries) in few.items()
    }
    assert all(many[level][0] > 10 * few[level][0] for level in TABLES)


@pytest.mark.django_db
@pytest.mark.parametrize("level", [level for level in LEVELS if level not in {"systems", "nested"}])
def test_batches_hold_no_more_summaries_than_they_may(
    world: World, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(make_question(world.sets["port"], "Does it close?"), "yes", judge=world.judge)
    whole = list(LEVELS[level].rows(world.project, People(world.project)))
    monkeypatch.setattr(summaries, "SUMMARIES_AT_ONCE", 1)
    monkeypatch.setattr(pairs, "_GROUPS_AT_ONCE", 1)
    assert list(LEVELS[level].rows(world.project, People(world.project))) == whole


@pytest.mark.django_db
def test_summaries_come_by_document_system_and_target_without_a_target_first(world: World) -> None:
    pattern = world.summaries["port", "alder"]
    for target in (100, None, 10):
        Summary.objects.create(
            document_set=pattern.document_set,
            system=pattern.system,
            is_summary=True,
            target_words=target,
            text="A text.",
        )
    rows = LEVELS["scores"].rows(world.project, People(world.project))
    assert [row[1:4] for row in rows] == [
        ("bridge", "alder", 20),
        ("bridge", "birch", 20),
        ("port", "alder", None),
        ("port", "alder", 10),
        ("port", "alder", 20),
        ("port", "alder", 100),
        ("port", "birch", 20),
    ]


@pytest.mark.django_db
def test_another_projects_rows_are_not_there(world: World) -> None:
    for level in LEVELS.values():
        assert list(level.rows(world.other_project, People(world.other_project))) == []


def in_another_thread(act: Callable[[], object]) -> None:
    failures: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as failure:  # noqa: BLE001 - handed to the test
            failures.append(failure)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(timeout=60)
    assert not thread.is_alive(), "the writer waits for the reader"
    if failures:
        raise failures[0]


@pytest.mark.django_db(transaction=True)
def test_an_export_sees_one_moment_and_holds_up_nobody(world: World) -> None:
    check = world.check("alder", 2)
    with snapshot():
        before = list(LEVELS["claims"].rows(world.project, People(world.project)))
        in_another_thread(lambda: override(check=check, by=world.rex, label="yes"))
        during = list(LEVELS["claims"].rows(world.project, People(world.project)))
    after = list(LEVELS["claims"].rows(world.project, People(world.project)))
    assert during == before
    assert after != before

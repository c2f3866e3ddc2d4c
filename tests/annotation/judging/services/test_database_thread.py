from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
from django.db import DatabaseError, connection

from annotation.judging.services.running.database_thread import DatabaseThread, Grouped
from annotation.models import Project

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def thread(transactional_db: None) -> Iterator[DatabaseThread]:
    made = DatabaseThread("test")
    yield made
    made.close()


def make(slug: str) -> Project:
    return Project.objects.create(slug=slug, name=slug)


def slugs() -> set[str]:
    return set(Project.objects.values_list("slug", flat=True))


def makers(thread: DatabaseThread) -> Grouped[str, Project]:
    return Grouped(thread.begin, lambda names: [make(name) for name in names])


def test_a_loop_gets_the_result(thread: DatabaseThread) -> None:
    assert asyncio.run(makers(thread).do("mill")).slug == "mill"
    assert slugs() == {"mill"}


@pytest.mark.parametrize("surely", [False, True])
def test_what_goes_wrong_is_raised_and_the_next_work_is_done(thread: DatabaseThread, *, surely: bool) -> None:
    def fail(names: object) -> list[None]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM no_such_table")
        return []

    with pytest.raises(DatabaseError):
        asyncio.run(Grouped(thread.begin, fail).do("mill", surely=surely))
    asyncio.run(makers(thread).do("mill"))
    assert slugs() == {"mill"}


def test_a_connection_that_was_cut_is_replaced(thread: DatabaseThread) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no server to cut a connection")

    def own_number() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])

    number = thread.begin(own_number).result()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [number])
    with pytest.raises(DatabaseError):
        thread.begin(own_number).result()
    assert thread.begin(own_number).result() != number


def cancelled_while_another_works(thread: DatabaseThread, *, surely: bool) -> None:
    async def ask(gate: threading.Event) -> None:
        before = thread.begin(lambda: gate.wait(60))
        asking = asyncio.create_task(makers(thread).do("mill", surely=surely))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        assert not before.done()
        gate.set()

    asyncio.run(ask(threading.Event()))
    # The thread works in order, so all earlier work is done when this call returns.
    thread.begin(lambda: None).result()


def test_what_a_cancelled_task_wanted_is_not_begun(thread: DatabaseThread) -> None:
    cancelled_while_another_works(thread, surely=False)
    assert slugs() == set()


def test_what_must_be_done_is_done_for_a_cancelled_task_too(thread: DatabaseThread) -> None:
    cancelled_while_another_works(thread, surely=True)
    assert slugs() == {"mill"}


def test_closing_waits_for_what_was_begun(transactional_db: None) -> None:
    thread = DatabaseThread("test")
    thread.begin(lambda: make("mill"))
    thread.close()
    assert slugs() == {"mill"}

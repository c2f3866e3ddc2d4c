"""The stored count of what reviewers answered by day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.analysis import make_analysis
from annotation.analysis.pictures.work_done import answered_so_far
from annotation.core.refusals import NotReady
from annotation.models import Analysis
from annotation.reviewing.services.review import override
from annotation.workers import report_alive

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def done(world: World) -> int:
    counts, _ = answered_so_far(world.project)
    assert counts is not None
    return counts.done


def test_an_answer_is_counted_at_once_in_a_small_project(world: World) -> None:
    assert done(world) == 0
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    assert done(world) == 1


def test_an_answer_that_is_the_judges_own_counts_too(world: World) -> None:
    done(world)
    check = world.check("alder", 1)
    override(check=check, by=world.rex, label=check.judge_label or "no")
    assert done(world) == 1


def test_while_nothing_changes_no_check_is_counted_again(world: World) -> None:
    done(world)
    with CaptureQueriesContext(connection) as asked:
        done(world)
    assert not any('FROM "annotation_check"' in query["sql"] for query in asked.captured_queries)


def test_where_a_worker_lives_it_counts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_analysis, "WAITED_SECONDS", 0.1)
    report_alive("nearby")
    counts, stored = answered_so_far(world.project)
    assert (counts, stored.is_missing) == (None, True)
    with pytest.raises(NotReady):
        answered_so_far(world.project, wait=True)
    # The plan is another row.
    assert list(Analysis.objects.values_list("kind", "key")) == [("plan", "work by day")]

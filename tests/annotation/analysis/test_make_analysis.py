"""Statistics that are kept until what they were made from changes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from celery.signals import before_task_publish
from django.utils import timezone

from annotation.analysis import make_analysis
from annotation.analysis.leaderboard.leaderboards import board
from annotation.analysis.make_analysis import ASKED_SECONDS, MAKE_ANALYSIS, Making, made, make, make_again
from annotation.models import Analysis, Summary, System, Worker
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from annotation.models import Project
    from tests.annotation.cast import World

KIND = Analysis.Kind.LEADERBOARD


class Counting:
    """Makes how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, project: Project, key: str) -> dict[str, Any]:
        self.calls += 1
        return {"project": project.slug, "key": key, "call": self.calls}


@pytest.fixture
def counting(world: World, monkeypatch: pytest.MonkeyPatch) -> Counting:
    compute = Counting()
    monkeypatch.setattr(make_analysis, "MAKINGS", {KIND: Making(compute)})
    return compute


@pytest.fixture
def sent(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, object]]]:
    """What the workers were asked for, a worker being alive and no project small."""
    hints: list[dict[str, object]] = []

    def hear(sender: str, body: tuple[Any, dict[str, object], Any], **_: object) -> None:
        assert sender == MAKE_ANALYSIS
        hints.append(body[1])

    Worker.objects.create(name="worker", started_at=timezone.now(), seen_at=timezone.now())
    monkeypatch.setattr(make_analysis, "WAITED_FOR", 0)
    before_task_publish.connect(hear)
    yield hints
    before_task_publish.disconnect(hear)


def answer(world: World, label: str = "yes") -> None:
    override(check=world.check("alder", 1), by=world.rex, label=label)


def test_what_is_stored_is_shown_while_nothing_changes(world: World, counting: Counting) -> None:
    first = made(project=world.project, kind=KIND, key="a")
    again = made(project=world.project, kind=KIND, key="a")
    assert first == again
    assert (counting.calls, first.payload) == (1, {"project": "harbour", "key": "a", "call": 1})
    assert not first.is_stale


def test_keys_are_stored_apart(world: World, counting: Counting) -> None:
    made(project=world.project, kind=KIND, key="a")
    other = made(project=world.project, kind=KIND, key="b")
    assert other.payload == {"project": "harbour", "key": "b", "call": 2}


def test_a_small_project_waits_for_new_statistics(world: World, counting: Counting) -> None:
    made(project=world.project, kind=KIND, key="a")
    answer(world)
    found = made(project=world.project, kind=KIND, key="a")
    assert (counting.calls, found.is_stale) == (2, False)
    assert Analysis.objects.count() == 1


def test_a_large_project_is_shown_the_old_ones_while_a_worker_makes_new_ones(
    world: World,
    counting: Counting,
    sent: list[dict[str, object]],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    make(project=world.project, kind=KIND, key="a")
    answer(world)
    with django_capture_on_commit_callbacks(execute=True):
        found = made(project=world.project, kind=KIND, key="a")
    assert (found.payload["call"], found.is_stale, counting.calls) == (1, True, 1)
    assert sent == [{"project_id": world.project.pk, "kind": "leaderboard", "key": "a"}]
    make_again(project_id=world.project.pk, kind="leaderboard", key="a")
    fresh = made(project=world.project, kind=KIND, key="a")
    assert (fresh.payload["call"], fresh.is_stale, counting.calls) == (2, False, 2)


def test_a_worker_is_asked_once(
    world: World,
    counting: Counting,
    sent: list[dict[str, object]],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = made(project=world.project, kind=KIND, key="a")
        made(project=world.project, kind=KIND, key="a")
    assert first.is_missing
    assert len(sent) == 1
    # It may have died: after a while it is asked again.
    Analysis.objects.update(asked_at=timezone.now() - timedelta(seconds=ASKED_SECONDS + 1))
    with django_capture_on_commit_callbacks(execute=True):
        made(project=world.project, kind=KIND, key="a")
    assert len(sent) == 2


def test_who_waits_has_the_first_ones_made_here(
    world: World,
    counting: Counting,
    sent: list[dict[str, object]],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = made(project=world.project, kind=KIND, key="a", wait=True)
    assert (first.payload["call"], first.is_stale, sent) == (1, False, [])
    # Old ones are good enough, while a worker makes new ones.
    answer(world)
    with django_capture_on_commit_callbacks(execute=True):
        old = made(project=world.project, kind=KIND, key="a", wait=True)
    assert (old.payload["call"], old.is_stale, len(sent)) == (1, True, 1)


def test_without_a_worker_they_are_made_at_once(
    world: World, counting: Counting, sent: list[dict[str, object]]
) -> None:
    Worker.objects.all().delete()
    assert not made(project=world.project, kind=KIND, key="a").is_missing
    assert sent == []


def test_a_worker_makes_nothing_that_somebody_has_made_meanwhile(world: World, counting: Counting) -> None:
    make(project=world.project, kind=KIND, key="a")
    make_again(project_id=world.project.pk, kind="leaderboard", key="a")
    make_again(project_id=0, kind="leaderboard", key="a")
    assert counting.calls == 1


def test_another_shape_counts_as_never_made(
    world: World,
    counting: Counting,
    sent: list[dict[str, object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make(project=world.project, kind=KIND, key="a")
    monkeypatch.setattr(make_analysis, "MAKINGS", {KIND: Making(counting, shape=2)})
    assert made(project=world.project, kind=KIND, key="a").is_missing


def test_the_stored_leaderboard_follows_an_answer(world: World) -> None:
    before, made_before = board(world.project)
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    after, made_after = board(world.project)
    assert before is not None
    assert after is not None
    # Alder: (.5 + 1) / 2 before, (1 + 1) / 2 after.
    assert before.tables[0].rows[0].scores["coverage"].mean == pytest.approx(0.75)
    assert after.tables[0].rows[0].scores["coverage"].mean == pytest.approx(1.0)
    assert made_before.made_at is not None
    assert made_after.made_at is not None
    assert made_before.made_at < made_after.made_at
    assert Analysis.objects.get().seed == after.seed


def test_of_many_pairs_of_systems_a_worker_is_asked(
    world: World, sent: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, counting: Counting
) -> None:
    monkeypatch.setattr(make_analysis, "WAITED_FOR", 3_000)
    monkeypatch.setattr(
        make_analysis, "MAKINGS", {KIND: Making(counting, pairs=make_analysis.pairs_of_systems)}
    )
    # Alder and birch at 20 words are one pair.
    monkeypatch.setattr(make_analysis, "PAIRS_WAITED_FOR", 1)
    assert not made(project=world.project, kind=KIND, key="few").is_missing
    monkeypatch.setattr(make_analysis, "PAIRS_WAITED_FOR", 0)
    assert made(project=world.project, kind=KIND, key="many").is_missing
    assert counting.calls == 1


def test_pairs_are_those_at_each_target_length(world: World) -> None:
    assert make_analysis.pairs_of_systems(world.project) == 1
    port = world.peers["port", "alder"].document_set
    for number in range(4):
        system = System.objects.create(project=world.project, name=f"more {number}")
        for target in (20, 50):
            Summary.objects.create(
                document_set=port, system=system, is_peer=True, target_words=target, text="It is old."
            )
    # Six systems at 20 words are 15 pairs, four at 50 are 6.
    assert make_analysis.pairs_of_systems(world.project) == 21

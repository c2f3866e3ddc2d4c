from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from annotation import perform_job
from annotation.analysis import make_analysis
from annotation.analysis.leaderboard.leaderboards import board
from annotation.analysis.make_analysis import (
    FAILED_SECONDS,
    MADE_EVERY_SECONDS,
    MADE_EVERY_TIMES,
    StatisticsRecipe,
    compute,
    current_statistics,
    recompute,
)
from annotation.core import jobs
from annotation.core.refusals import NotReady
from annotation.models import Analysis, Job, Worker
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from annotation.models import Project
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

KIND = Analysis.Kind.LEADERBOARD


class Counting:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, project: Project, key: str) -> dict[str, Any]:
        self.calls += 1
        return {"project": project.slug, "key": key, "call": self.calls}


@pytest.fixture
def counting(world: World, monkeypatch: pytest.MonkeyPatch) -> Counting:
    compute = Counting()
    monkeypatch.setattr(make_analysis, "RECIPES", {KIND: StatisticsRecipe(compute)})
    return compute


@pytest.fixture
def worker(world: World) -> None:
    Worker.objects.create(name="worker", started_at=timezone.now(), seen_at=timezone.now())


def asked() -> list[str]:
    return list(jobs.due(Job.Kind.ANALYSIS).order_by("pk").values_list("analysis__key", flat=True))


def work() -> None:
    perform_job.work_on(Job.Kind.ANALYSIS)


def answer(world: World, label: str = "yes") -> None:
    override(check=world.check("alder", 1), by=world.rex, label=label)


def test_what_is_stored_is_shown_while_nothing_changes(world: World, counting: Counting) -> None:
    first = current_statistics(project=world.project, kind=KIND, key="a")
    again = current_statistics(project=world.project, kind=KIND, key="a")
    assert first == again
    assert (counting.calls, first.payload) == (1, {"project": "harbour", "key": "a", "call": 1})
    assert not first.is_stale


def test_keys_are_stored_apart(world: World, counting: Counting) -> None:
    current_statistics(project=world.project, kind=KIND, key="a")
    other = current_statistics(project=world.project, kind=KIND, key="b")
    assert other.payload == {"project": "harbour", "key": "b", "call": 2}


def test_without_a_worker_new_ones_are_made_at_once(world: World, counting: Counting) -> None:
    current_statistics(project=world.project, kind=KIND, key="a")
    answer(world)
    found = current_statistics(project=world.project, kind=KIND, key="a")
    assert (counting.calls, found.is_stale) == (2, False)
    assert Analysis.objects.count() == 1


def test_the_old_ones_are_shown_while_a_worker_makes_new_ones(
    world: World, counting: Counting, worker: None
) -> None:
    compute(project=world.project, kind=KIND, key="a")
    Analysis.objects.update(made_at=timezone.now() - timedelta(seconds=MADE_EVERY_SECONDS + 1))
    answer(world)
    found = current_statistics(project=world.project, kind=KIND, key="a")
    assert (found.payload["call"], found.is_stale, counting.calls) == (1, True, 1)
    assert asked() == ["a"]
    work()
    fresh = current_statistics(project=world.project, kind=KIND, key="a")
    assert (fresh.payload["call"], fresh.is_stale, counting.calls) == (2, False, 2)


def test_a_worker_is_asked_once(world: World, counting: Counting, worker: None) -> None:
    assert current_statistics(project=world.project, kind=KIND, key="a").is_missing
    current_statistics(project=world.project, kind=KIND, key="a")
    assert asked() == ["a"]
    work()
    assert (asked(), counting.calls) == ([], 1)
    # Newer statistics are requested with the same job.
    answer(world)
    Analysis.objects.update(made_at=timezone.now() - timedelta(seconds=MADE_EVERY_SECONDS + 1))
    current_statistics(project=world.project, kind=KIND, key="a")
    assert (asked(), Job.objects.count()) == (["a"], 1)


def test_while_answers_arrive_new_ones_are_made_every_few_seconds(
    world: World, counting: Counting, worker: None
) -> None:
    compute(project=world.project, kind=KIND, key="a")
    answer(world)
    assert current_statistics(project=world.project, kind=KIND, key="a").is_stale
    assert asked() == []


def test_what_was_taken_back_meanwhile_is_not_made(world: World, counting: Counting, worker: None) -> None:
    current_statistics(project=world.project, kind=KIND, key="a")
    compute(project=world.project, kind=KIND, key="a")
    work()
    assert (asked(), counting.calls) == ([], 1)


@pytest.mark.django_db(transaction=True)
def test_who_waits_is_given_what_a_worker_makes(world: World, counting: Counting, colleague: None) -> None:
    first = current_statistics(project=world.project, kind=KIND, key="a", wait=True)
    assert (first.payload["call"], first.is_stale) == (1, False)
    # The call returns the old statistics while a worker computes new ones.
    answer(world)
    old = current_statistics(project=world.project, kind=KIND, key="a", wait=True)
    assert (old.payload["call"], old.is_stale) == (1, True)


def test_who_has_waited_for_long_is_told_to_come_again(
    world: World, counting: Counting, worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_analysis, "WAITED_SECONDS", 0.1)
    with pytest.raises(NotReady) as refused:
        current_statistics(project=world.project, kind=KIND, key="a", wait=True)
    assert (refused.value.code, refused.value.wait, counting.calls) == ("not_ready", 0.1, 0)


def test_what_took_long_is_made_less_often(world: World, counting: Counting, worker: None) -> None:
    compute(project=world.project, kind=KIND, key="a")
    answer(world)
    for ago, times in ((MADE_EVERY_TIMES * 4 - 1, 0), (MADE_EVERY_TIMES * 4 + 1, 1)):
        Analysis.objects.update(seconds=4, made_at=timezone.now() - timedelta(seconds=ago))
        assert current_statistics(project=world.project, kind=KIND, key="a").is_stale
        assert len(asked()) == times


def test_what_cannot_be_made_keeps_no_other_waiting(
    world: World, worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(project: Project, key: str) -> str:
        if key == "broken":
            raise ZeroDivisionError
        return "made"

    monkeypatch.setattr(make_analysis, "RECIPES", {KIND: StatisticsRecipe(broken)})
    current_statistics(project=world.project, kind=KIND, key="broken")
    current_statistics(project=world.project, kind=KIND, key="a")
    work()
    assert current_statistics(project=world.project, kind=KIND, key="a").payload == "made"
    # The job is tried again, and a request that waits meanwhile gets the reason.
    assert Job.objects.get(analysis__key="broken").state == "waiting"
    assert current_statistics(project=world.project, kind=KIND, key="broken").failed_at is not None
    with pytest.raises(NotReady, match="worker's log for the reason"):
        current_statistics(project=world.project, kind=KIND, key="broken", wait=True)
    # After the last attempt, the statistics are not requested again at once.
    Job.objects.filter(analysis__key="broken").update(state="failed")
    current_statistics(project=world.project, kind=KIND, key="broken")
    assert asked() == []
    Job.objects.update(started_at=timezone.now() - timedelta(seconds=FAILED_SECONDS + 1))
    current_statistics(project=world.project, kind=KIND, key="broken")
    assert asked() == ["broken"]


def test_a_page_says_that_its_numbers_could_not_be_made(
    world: World, worker: None, signed_in: SignIn
) -> None:
    job = Job.objects.create(
        kind=Job.Kind.ANALYSIS, project=world.project, error="away", started_at=timezone.now()
    )
    Analysis.objects.create(project=world.project, kind="judge", key="", job=job)
    shown = signed_in(world.mona).get("/p/harbour/scores/judge/").content.decode()
    assert "Computing these numbers failed on" in shown
    assert "Computing these numbers. " not in shown


FILES = (
    "/api/v1/projects/harbour/agreement/",
    "/api/v1/projects/harbour/leaderboard/",
    "/p/harbour/scores/file/",
    "/api/v1/projects/harbour/judge-quality/",
    "/p/harbour/scores/pairs/file/?format=csv",
)


@pytest.mark.parametrize("path", FILES)
def test_no_file_and_no_api_makes_statistics_where_a_worker_lives(
    path: str, world: World, worker: None, signed_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_analysis, "WAITED_SECONDS", 0.1)
    answered = signed_in(world.mona).get(path)
    assert (answered.status_code, answered["Retry-After"]) == (503, "1")
    assert Analysis.objects.exclude(payload={}).count() == 0


PAGES = ("", "scores/", "scores/agreement/", "scores/judge/")


@pytest.mark.parametrize("page", PAGES)
def test_no_page_makes_statistics_where_a_worker_lives(
    page: str, world: World, worker: None, signed_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []
    recipe = StatisticsRecipe(lambda _, key: computed.append(key))
    monkeypatch.setattr(make_analysis, "RECIPES", dict.fromkeys(Analysis.Kind, recipe))
    shown = signed_in(world.mona).get(f"/p/harbour/{page}")
    assert (shown.status_code, computed) == (200, [])
    assert asked()


def test_a_worker_makes_nothing_that_somebody_has_made_meanwhile(world: World, counting: Counting) -> None:
    compute(project=world.project, kind=KIND, key="a")
    recompute(project=world.project, kind=KIND, key="a")
    assert counting.calls == 1


def test_another_shape_counts_as_never_made(
    world: World, counting: Counting, worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute(project=world.project, kind=KIND, key="a")
    monkeypatch.setattr(make_analysis, "RECIPES", {KIND: StatisticsRecipe(counting, shape=2)})
    assert current_statistics(project=world.project, kind=KIND, key="a").is_missing


def test_the_stored_leaderboard_follows_an_answer(world: World) -> None:
    before, made_before = board(world.project)
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    after, made_after = board(world.project)
    # Alder has (.5 + 1) / 2 before and (1 + 1) / 2 after.
    assert before.tables[0].rows[0].scores["coverage"].mean == pytest.approx(0.75)
    assert after.tables[0].rows[0].scores["coverage"].mean == pytest.approx(1.0)
    assert made_before.made_at < made_after.made_at
    assert Analysis.objects.get().seed == after.seed

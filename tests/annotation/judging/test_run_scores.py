"""The mean scores of finished runs: known answers, and the page that shows them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.assessing.services.assign import assign
from annotation.judging.queries.run_scores import run_scores
from annotation.models import Check, Job, Run, Verdict
from tests.annotation.cast import JUDGED

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

HOUR = timedelta(hours=1)


def finished_run(world: World, ago: timedelta, *sets: str, state: str = "finished", **columns: object) -> Run:
    run = Run.objects.create(
        project=world.project, judge=world.judge, state=state, finished_at=timezone.now() - ago, **columns
    )
    for name in sets or ("port",):
        Job.objects.create(
            kind="run", project=run.project, run=run, document_set=world.sets[name], state="done"
        )
    return run


def judged_again(check: Check, label: str, *, signature: str, run: Run | None = None) -> None:
    Verdict.objects.create(
        check_row=check,
        role="judge",
        judge=check.project.deciding_judge,
        origin_name=signature,
        label=label,
        run=run,
    )


@pytest.fixture
def judged(world: World) -> World:
    """The judge gave the answers of the small world three hours ago."""
    Verdict.objects.update(created_at=timezone.now() - 3 * HOUR)
    return world


def test_a_run_has_the_mean_of_its_sets_and_none_without_answers(judged: World) -> None:
    run = finished_run(judged, HOUR, "port", "bridge")
    [found] = run_scores(judged.project)
    # In "port" two of six answers are yes (JUDGED); "bridge" has no checks. Nobody checked claims of summaries.
    assert (found.id, found.judge, found.document_sets) == (run.public_id, "lexical", 2)
    assert (found.coverage, found.alignment) == (pytest.approx(2 / 6), None)


def test_a_mean_weighs_sets_equally(judged: World) -> None:
    finished_run(judged, HOUR, "port", "bridge")
    # One answer in "bridge", yes: (2/6 + 1) / 2 = 2/3. The claim is of "port", which does not matter here.
    Verdict.objects.filter(check_row=judged.check("alder", 1)).delete()
    Check.objects.filter(pk=judged.check("alder", 1).pk).update(document_set=judged.sets["bridge"])
    judged_again(judged.check("alder", 1), "yes", signature="lexical|v:1")
    Verdict.objects.update(created_at=timezone.now() - 3 * HOUR)
    # "port" has five answers left, of which one is yes: (1/5 + 1) / 2 = 3/5.
    assert run_scores(judged.project)[0].coverage == pytest.approx(3 / 5)


def test_later_answers_under_another_signature_leave_an_earlier_run_as_it_was(judged: World) -> None:
    first = finished_run(judged, 2 * HOUR)
    second = finished_run(judged, HOUR)
    for check in judged.checks("alder"):
        judged_again(check, "yes", signature="lexical|v:2", run=second)
    # The second run counts only the three answers under the newer signature: 3/3.
    assert [(each.id, each.coverage) for each in run_scores(judged.project)] == [
        (second.public_id, 1.0),
        (first.public_id, pytest.approx(2 / 6)),
    ]


def test_reused_answers_count_in_a_later_run_and_unusable_ones_never(judged: World) -> None:
    run = finished_run(judged, HOUR)
    Verdict.objects.filter(check_row=judged.check("birch", 1)).delete()
    judged_again(judged.check("birch", 1), "yes", signature="lexical|v:1", run=run)
    judged_again(judged.check("birch", 2), "unsure", signature="lexical|v:1", run=run)
    Verdict.objects.filter(label="unsure").update(label=None)
    # Five answers from before, two of them yes, and a new yes: 3/6.
    assert run_scores(judged.project)[0].coverage == pytest.approx(3 / 6)


def test_removed_claims_trials_and_other_ends_are_left_out(judged: World) -> None:
    finished_run(judged, HOUR, is_trial=True)
    finished_run(judged, HOUR, state="stopped")
    assert run_scores(judged.project) == []
    finished_run(judged, HOUR)
    Check.objects.filter(summary=judged.summaries["port", "birch"]).update(is_current=False)
    # Alder's alone remain: two of three.
    assert run_scores(judged.project)[0].coverage == pytest.approx(JUDGED["alder"].count("yes") / 3)


def test_the_page_shows_scores_to_those_who_may_see_them(judged: World, signed_in: SignIn) -> None:
    finished_run(judged, HOUR)
    # The only run stands in the list of runs; its means are those of the leaderboard.
    assert "data-chart=" not in signed_in(judged.vic).get("/p/harbour/runs/").content.decode()
    finished_run(judged, HOUR)
    page = signed_in(judged.vic).get("/p/harbour/runs/").content.decode()
    assert 'data-chart="runs"' in page
    assert "0.333" in page
    judged.project.memberships.filter(user=judged.vic).update(roles=["assessor", "manager"])
    assign(document_set=judged.sets["port"], assessor=judged.vic, by=None)
    blind = signed_in(judged.vic).get("/p/harbour/runs/")
    assert blind.status_code == 200
    assert "0.333" not in blind.content.decode()

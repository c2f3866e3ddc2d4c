"""The manager's page of progress, and an assessor's page of their own work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.assessing.queries.flags import Flags
from annotation.assessing.services.assign import assign
from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.pull_sitting import pull
from annotation.assessing.services.recall_sitting import lapse_leases
from annotation.core import paging
from annotation.models import Assignment, Project, Sitting, SummaryJudgment
from annotation.projects.web.progress import flags_in_words
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.cast import PEERS, finish
from tests.annotation.conftest import HTMX
from tests.annotation.laying import add_sets, add_system, begin, judge_and_close
from tests.annotation.sitting import repeat, say, sit
from tests.says import says

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

    SignIn = Callable[[User], Client]

PROGRESS = "/p/harbour/progress/"
WORK = "/p/harbour/work/"
VIEWS = ("sets", "people", "systems", "closed", "draws")


def hasty(world: World, name: str) -> Sitting:
    """A closed sitting on "port": everything in a millisecond, 60 % without marks."""
    sitting = sit(world, name, "port")
    for system in PEERS:
        say(sitting, system, (60, [], 1), (60, [], 1))
    return finish(sitting)


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_where_nothing_is_assigned_progress_is_that_of_reviewers(world: World, signed_in: SignIn) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    mona = signed_in(world.mona)
    page = text_of(mona, PROGRESS)
    assert "1 of 6 checks are decided by people." in page
    assert "Random samples for review" in page
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    assert "0 assignments closed, 1 open" in text_of(mona, PROGRESS)
    assert mona.get(PROGRESS).context["view"] == "sets"


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_is_a_page_and_a_fragment(world: World, signed_in: SignIn, view: str) -> None:
    hasty(world, "ana")
    client = signed_in(world.mona)
    page = client.get(f"{PROGRESS}?view={view}")
    fragment = client.get(f"{PROGRESS}?view={view}", headers=HTMX)
    assert b"<main" in page.content
    assert b"<main" not in fragment.content
    assert fragment.content.strip() in page.content


def test_how_far_sets_are_and_what_has_stalled(world: World, signed_in: SignIn) -> None:
    hasty(world, "ana")
    carry_out(project=world.project, order=AssignmentOrder(way=Way.QUEUE, seed=1), by=world.mona)
    held = pull(project=world.project, by=world.ben)
    Sitting.objects.filter(pk=held.pk).update(lease_until=timezone.now())
    page = text_of(signed_in(world.mona), PROGRESS)
    assert "1 assignment closed, 1 open, 0 waiting in the queue." in page
    assert "4 of 4" in page
    assert "0 of 4" in page
    assert "Expired assignments" in page
    assert "inactive since the lease expired on" in page


def test_the_flags_of_a_person_lead_to_their_closed_work(world: World, signed_in: SignIn) -> None:
    hasty(world, "ana")
    judge_and_close(assign(document_set=world.sets["port"], assessor=world.ben, by=None))
    client = signed_in(world.mona)
    page = text_of(client, f"{PROGRESS}?view=people")
    assert "2 of 2 summaries faster than reading" in page
    assert "4 of 4 units faster than reading" in page
    assert "4 percents without marks" in page
    closed = f"{PROGRESS}?view=closed&person=ana"
    assert closed.replace("&", "&amp;") in page
    page = text_of(client, closed)
    assert "2 of 2 summaries faster than reading" in page
    assert ">ben<" not in page


def test_an_unknown_view_or_page_is_refused(world: World, signed_in: SignIn) -> None:
    client = signed_in(world.mona)
    assert client.get(f"{PROGRESS}?view=magic").status_code == 422
    assert client.get(f"{PROGRESS}?view=sets&after=nowhere").status_code == 422


def test_long_lists_go_on(world: World, signed_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "ROWS_ON_A_PAGE", 1)
    client = signed_in(world.mona)
    first = text_of(client, f"{PROGRESS}?view=sets")
    assert ">bridge<" in first
    assert ">port<" not in first
    after = world.sets["bridge"].public_id
    assert f"after={after}" in first
    second = text_of(client, f"{PROGRESS}?view=sets&after={after}")
    assert ">port<" in second
    assert "More</a>" not in second


def test_the_blind_see_how_much_was_done_and_nothing_of_what_was_said(
    world: World, signed_in: SignIn
) -> None:
    hasty(world, "ben")
    sit(world, "ana", "port")
    world.ana.memberships.update(roles=["assessor", "manager", "viewer"])
    client = signed_in(world.ana)
    page = text_of(client, f"{PROGRESS}?view=sets")
    assert "open by you" in page
    assert "4 of 8" not in page
    page = text_of(client, f"{PROGRESS}?view=people")
    for told in (
        "faster than reading",
        "without marks",
        "Same again",
        "alder",
        "view=systems",
        "view=closed",
    ):
        assert not says(page, told)
    for view in ("systems", "closed"):
        assert client.get(f"{PROGRESS}?view={view}").status_code == 403


def test_flags_in_words() -> None:
    assert flags_in_words(Flags(sittings=2, units=9, summaries=3)) == []
    raised = Flags(2, 9, 3, 2, 1, 1, 1, 2, 1, 1)
    assert flags_in_words(raised) == [
        "1 of 3 summaries faster than reading",
        "2 of 9 units faster than reading",
        "the same percent throughout in 1 of 2 sets",
        "1 percent without marks",
        "2 marked units at 0 %",
        "1 with their own model summary",
        "1 peer summary of their own",
    ]
    assert flags_in_words(Flags(sittings=1, alike_sittings=1)) == ["the same percent throughout"]


def test_own_work_shows_time_and_agreement_with_oneself(world: World, signed_in: SignIn) -> None:
    sitting = sit(world, "ana", "port")
    repeat(sitting, "alder")
    for system in PEERS:
        say(sitting, system, (60, [1], 120_000), (20, [2], 120_000))
    say(sitting, "alder", (60, [1], 120_000), (100, [2], 120_000), again=True)
    client = signed_in(world.ana)
    assert "Self-consistency" not in text_of(client, WORK)
    finish(sitting)
    page = text_of(client, WORK)
    # Six units of two minutes: 12 minutes, 30 an hour. 60 and 60, 20 and 100: half the same, 40 apart.
    for told in (
        "<dt>Units per hour</dt><dd>30</dd>",
        "<dt>Units judged twice</dt><dd>2</dd>",
        "<dt>Same percent</dt><dd>50 %</dd>",
        "<dt>Mean difference in points</dt><dd>40.0</dd>",
        "<dt>Sets submitted</dt><dd>1</dd>",
    ):
        assert told in page
    assert "Self-consistency" not in text_of(signed_in(world.ben), WORK)


def test_the_queue_is_offered_held_and_given_back(world: World, signed_in: SignIn) -> None:
    carry_out(project=world.project, order=AssignmentOrder(way=Way.QUEUE, seed=1), by=world.mona)
    client = signed_in(world.ana)
    page = text_of(client, WORK)
    assert "Take the next set" in page
    assert "2 sets waiting." in page
    client.post(f"{WORK}pull/")
    page = text_of(client, WORK)
    assert "Take the next set" not in page
    assert "From the queue, reserved for you until" in page
    held = Sitting.objects.get(assessor=world.ana)
    assert "will not count" not in page
    begin(held)
    assert "will not count" in text_of(client, WORK)
    client.post(f"{WORK}sets/{held.public_id}/give-back/")
    assert "1 set waiting." in text_of(client, WORK)


def test_what_lapsed_is_offered_again(world: World, signed_in: SignIn) -> None:
    carry_out(project=world.project, order=AssignmentOrder(way=Way.QUEUE, seed=1), by=world.mona)
    sitting = pull(project=world.project, by=world.ana)
    begin(sitting)
    Sitting.objects.filter(pk=sitting.pk).update(lease_until=timezone.now())
    lapse_leases(project=world.project)
    client = signed_in(world.ana)
    assert "Resume" in text_of(client, WORK)
    client.post(f"{WORK}sets/{sitting.public_id}/take-up/")
    assert "Continue" in text_of(client, WORK)


def test_sets_beyond_the_next_one_take_a_line_each(world: World, signed_in: SignIn) -> None:
    add_sets(world, ["third"])
    for name in ("port", "bridge", "third"):
        sit(world, "ana", name)
    page = text_of(signed_in(world.ana), WORK)
    assert page.count('class="panel set"') == 1
    assert page.count("2 summaries</span>") == 2


def test_quality_answers_stand_beside_the_leaderboard(world: World, signed_in: SignIn) -> None:
    Project.objects.update(question_set="duc2006")
    sitting = sit(world, "ana", "port")
    SummaryJudgment.objects.create(
        sitting=sitting, peer=world.peers["port", "alder"], quality_answers={"focus": 4}
    )
    Sitting.objects.update(closed_at=timezone.now())
    Assignment.objects.update(state="submitted", submitted_at=timezone.now())
    client = signed_in(world.mona)
    page = text_of(client, "/p/harbour/scores/")
    assert "Quality ratings by people" in page
    assert '<td class="num" data-name="focus">4.00</td>' in page
    Project.objects.update(question_set="none")
    assert "Quality ratings by people" not in text_of(client, "/p/harbour/scores/")


@pytest.mark.parametrize("address", [*(f"{PROGRESS}?view={view}" for view in VIEWS), WORK])
def test_the_number_of_queries_does_not_grow(world: World, signed_in: SignIn, address: str) -> None:
    Project.objects.update(repeat_share=0.5)
    world.project.refresh_from_db()
    client = signed_in(world.ana if address == WORK else world.mona)
    judge_and_close(sit(world, "ana", "port"))
    # A set of which a summary waits for its last question, so that this is asked for from the start.
    add_sets(world, ["first"])
    begin(sit(world, "ana", "first"))

    def count() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(address).status_code == 200
        return len(asked)

    before = count()
    for name in ("cedar", "dogwood"):
        add_system(world, name)
    for number, row in enumerate(add_sets(world, [f"more-{n}" for n in range(6)], targets=(100, 10))):
        for person in ("ana", "ben"):
            sitting = assign(document_set=row, assessor=getattr(world, person), by=None)
            judge_and_close(sitting) if number < 4 else begin(sitting)
    assert Assignment.objects.filter(repeat_of__isnull=False).exists()
    assert count() == before


def test_draws_for_reviewers_are_followed(world: World, signed_in: SignIn) -> None:
    client = signed_in(world.mona)
    assert "No claims have been sampled for review yet." in text_of(client, f"{PROGRESS}?view=draws")
    sample_checks(project=world.project, by=world.mona, method="uniform", share=0.5, seed=1)
    page = text_of(client, f"{PROGRESS}?view=draws")
    # Three of six checks, each with a chance of a half; nobody has answered.
    assert '<td class="num" data-name="probability">0.5</td>' in page
    assert '<td class="num" data-name="checks">3 of 6</td>' in page
    assert '<td class="num" data-name="open">3</td>' in page
    assert "unassigned" in page
    assert '<td data-name="by"><bdi>mona</bdi></td>' in page

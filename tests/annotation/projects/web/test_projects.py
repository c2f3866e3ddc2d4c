from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.assessing.services.assign import assign
from annotation.models import Project
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.cast import add_imported_verdict
from tests.annotation.laying import open_queue
from tests.says import says

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


def test_the_overview_counts_what_is_there(world: World, signed_in: SignIn) -> None:
    held = signed_in(world.mona).get("/p/harbour/").context["contents"]
    # There are two sets with two summaries each, and three claims, each checked in two summaries.
    assert (held.document_sets, held.systems, held.summaries) == (2, 2, 4)
    assert (held.checks, held.answered) == (6, 0)


def test_an_assessor_with_open_work_sees_no_leaderboard(world: World, signed_in: SignIn) -> None:
    world.ana.memberships.update(roles=["assessor", "viewer"])
    client = signed_in(world.ana)
    assert b'data-low="0" data-high="80"' in client.get("/p/harbour/").content
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    page = client.get("/p/harbour/")
    assert page.context["excerpt"] is None
    assert not says(page.content.decode(), "alder")


def test_each_role_is_told_its_own_next_step(world: World, signed_in: SignIn) -> None:
    def first(person: User) -> str | None:
        steps = signed_in(person).get("/p/harbour/").context["steps"]
        return steps[0].what if steps else None

    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    assert first(world.ana) == "Continue your judgments"
    assert first(world.rex) == "Review claims"
    assert first(world.cleo) == "Review claims"
    assert first(world.vic) == "View the ranking"
    assert first(world.mona) == "View the ranking"


def test_an_adjudicator_is_told_of_disputes(world: World, signed_in: SignIn) -> None:
    check = world.check("alder", 1)
    override(check=check, by=world.rex, label="no")
    add_imported_verdict(check, "yes")
    cleo = signed_in(world.cleo)
    first = cleo.get("/p/harbour/").context["steps"][0]
    assert (first.what, first.why) == ("Resolve disagreements", "1 disagreement waits for a decision.")
    assert "1 dispute to resolve" in cleo.get("/").content.decode()
    page = signed_in(world.rex).get("/").content.decode()
    assert "to resolve" not in page
    # Of the six checks, one has been answered above.
    assert "5 checks to answer" in page


def test_whoever_is_blind_is_told_of_their_own_work_alone(world: World, signed_in: SignIn) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    add_imported_verdict(world.check("alder", 1), "yes")
    world.cleo.memberships.update(roles=["adjudicator", "assessor"])
    assign(document_set=world.sets["port"], assessor=world.cleo, by=None)
    cleo = signed_in(world.cleo)
    page = cleo.get("/").content.decode()
    assert "2 summaries to judge" in page
    assert "to resolve" not in page
    assert "to answer" not in page
    assert [step.what for step in cleo.get("/p/harbour/").context["steps"]] == ["Continue your judgments"]


def test_a_sample_and_a_queue_that_wait_are_steps(world: World, signed_in: SignIn) -> None:
    sample = sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0)
    client = signed_in(world.rex)
    page = client.get("/p/harbour/")
    assert page.context["steps"][0].why == "6 of 6 claims in a random sample wait for your answer."
    assert f"/p/harbour/review/?sample={sample.public_id}" in page.content.decode()
    open_queue(world)
    assert signed_in(world.ana).get("/p/harbour/").context["steps"][0].what == "Take a set from the queue"


def test_decided_by_people_counts_decisions_too(world: World, signed_in: SignIn) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    # Only the judge has answered this check.
    decide_check(check=world.check("alder", 2), by=world.cleo, label="unsure", reason="Half of it.")
    page = signed_in(world.mona).get("/p/harbour/")
    assert "people answered 2 of 6 checks" in " ".join(page.content.decode().split())


def test_an_archived_project_says_so_and_its_owner_can_open_it(world: World, signed_in: SignIn) -> None:
    Project.objects.update(archived_at=timezone.now())
    pages = [signed_in(person).get("/p/harbour/").content for person in (world.olga, world.vic)]
    assert [b"Archived: nothing here changes." in page for page in pages] == [True, True]
    assert [b">Unarchive<" in page for page in pages] == [True, False]


def test_an_empty_project_says_how_to_fill_it(world: World, signed_in: SignIn) -> None:
    page = signed_in(world.dan).get("/p/quarry/").content.decode()
    assert '<a href="/p/quarry/import/"><strong>Import summaries</strong></a>' in page

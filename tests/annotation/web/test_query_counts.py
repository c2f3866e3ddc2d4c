from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assessing.services.assign import assign
from annotation.models import Comparison, Judge, Membership, Project, Run, Summary, System, Unit, Verdict
from annotation.projects.services.invite import invite
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.review import override
from annotation.scoring.rescore import rescore
from tests.annotation.answering import add_checks
from tests.annotation.asking import answer, make_question
from tests.annotation.cast import SUMMARIES, add_set

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

MORE = 4


def grow(world: World) -> None:
    for check in add_checks(world, MORE):
        Verdict.objects.create(check_row=check, role="judge", judge=world.judge, label="no")
        override(check=check, by=world.cleo, label="yes")
        override(check=check, by=world.rex, label="no")
    add_questions(world, MORE, first=2)
    for number in range(MORE):
        name = f"more-{number}"
        add_set(world, name)
        system = System.objects.create(project=world.project, name=name)
        summary = Summary.objects.create(
            document_set=world.sets[name],
            system=system,
            is_summary=True,
            target_words=20,
            text=SUMMARIES["alder"],
        )
        Comparison.objects.create(summary=summary, reference=world.references[name])
        assign(document_set=world.sets[name], assessor=world.ben, by=None)
        Unit.objects.create(summary=world.references["port"], position=9 + number, start=1, end=2)
        write_here(world, name)
        other = Project.objects.create(slug=name, name=name, deciding_judge=world.judge)
        Membership.objects.create(project=other, user=world.olga, roles=["owner"])
        Run.objects.create(project=other, judge=world.judge, metrics=["coverage"])
    rescore(project=world.project)


def write_here(world: World, name: str) -> None:
    Membership.objects.create(project=world.project, user=User.objects.create_user(name), roles=["reviewer"])
    invite(project=world.project, roles=["viewer"], by=world.olga)
    write_guidelines(project=world.project, text=f"As in {name}.", by=world.mona)
    comment_on_claim(project=world.project, claim=world.check("alder", 1).claim, by=world.rex, text="Hm.")
    judge = Judge.objects.create(project=world.project, name=name, kind="openai", model="m")
    Judge.objects.create(project=world.project, name=f"{name}-panel", kind="panel").members.add(judge)


def add_questions(world: World, number: int, *, first: int) -> None:
    for position in range(first, first + number):
        question = make_question(world.sets["port"], f"Is it {position}?", position=position, origin="person")
        for summary in (None, world.summaries["port", "alder"]):
            answer(question, "yes", judge=world.judge, summary=summary)


def addresses(world: World) -> dict[str, tuple[User, str]]:
    reading = world.ben.assignments.earliest("pk").readings.earliest("pk").public_id
    return {
        "projects": (world.olga, "/"),
        "project": (world.olga, "/p/harbour/"),
        "work": (world.ben, "/p/harbour/work/"),
        "assess": (world.ben, f"/p/harbour/work/{reading}/"),
        "review": (world.olga, "/p/harbour/review/?only=all"),
        "check": (world.olga, f"/p/harbour/review/{world.check('alder', 1).public_id}/"),
        "scores": (world.olga, "/p/harbour/scores/"),
        "system": (world.olga, f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/"),
        "system claims": (
            world.olga,
            f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/claims/?verdict=yes",
        ),
        "summary": (world.olga, f"/p/harbour/scores/summaries/{world.summaries['port', 'alder'].public_id}/"),
        "questions": (world.olga, f"/p/harbour/scores/sets/{world.sets['port'].public_id}/questions/"),
        "runs": (world.olga, "/p/harbour/runs/"),
        "assignments": (world.olga, "/p/harbour/assignments/"),
        "exports": (world.olga, "/p/harbour/exports/"),
        "settings": (world.olga, "/p/harbour/settings/"),
        "judges": (world.olga, "/p/harbour/settings/judges/"),
        "people": (world.olga, "/p/harbour/settings/people/"),
        "guidelines": (world.olga, "/p/harbour/settings/guidelines/"),
        "log": (world.olga, "/p/harbour/settings/log/"),
        "comments": (world.olga, f"/p/harbour/comments/claims/{world.check('alder', 1).claim.public_id}/"),
        "claims": (world.olga, f"/p/harbour/claims/{world.references['port'].public_id}/"),
        "texts": (world.olga, "/p/harbour/units/"),
        "units": (world.olga, f"/p/harbour/units/{world.references['port'].public_id}/"),
        "adjudicate": (world.olga, "/p/harbour/adjudicate/"),
    }


def test_the_number_of_queries_does_not_grow(world: World, signed_in: SignIn) -> None:
    assign(document_set=world.sets["port"], assessor=world.ben, by=None)
    override(check=world.check("alder", 1), by=world.cleo, label="no")
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    add_questions(world, 1, first=1)
    write_here(world, "first")
    pages = {page: (signed_in(person), address) for page, (person, address) in addresses(world).items()}

    def counts() -> dict[str, int]:
        # The first request stores looks and statistics; later requests write nothing.
        for client, address in pages.values():
            client.get(address)
        found = {}
        for page, (client, address) in pages.items():
            with CaptureQueriesContext(connection) as asked:
                assert client.get(address).status_code == 200, page
            found[page] = len(asked)
        return found

    before = counts()
    grow(world)
    assert counts() == before

"""No page asks the database more often because there is more in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assessing.services.assign import assign
from annotation.models import (
    Check,
    Claim,
    Comparison,
    Document,
    DocumentSet,
    Membership,
    Project,
    Summary,
    System,
    Verdict,
)
from annotation.reviewing.services.review import override
from annotation.scoring.rescore import rescore
from tests.annotation.asking import answer, make_question
from tests.annotation.cast import PEERS, SOURCE, add_units

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

MORE = 4


def grow(world: World) -> None:
    """More sets, systems, claims, verdicts, assignments and projects."""
    claim_set = Claim.objects.earliest("pk").claim_set
    unit = world.units("port")[0]
    for number in range(MORE):
        claim = Claim.objects.create(
            claim_set=claim_set, unit=unit, position=10 + number, text=f"claim {number}", origin="judge"
        )
        for name in PEERS:
            check = Check.objects.create(
                project=world.project,
                claim=claim,
                peer=world.peers["port", name],
                document_set=world.sets["port"],
                side="reference",
            )
            Verdict.objects.create(
                check_row=check, role="judge", judge=world.judge, origin_name="lexical|v:1", label="no"
            )
            override(check=check, by=world.cleo, label="yes")
    add_questions(world, MORE, first=2)
    for number in range(MORE):
        _add_set(world, number)
        other = Project.objects.create(slug=f"other-{number}", name=f"Other {number}")
        Membership.objects.create(project=other, user=world.olga, roles=["owner"])
    rescore(project=world.project)


def add_questions(world: World, number: int, *, first: int) -> None:
    """Questions about "port" that the judge has answered from the source and from alder's summary."""
    for position in range(first, first + number):
        question = make_question(world.sets["port"], f"Is it {position}?", position=position, origin="person")
        for summary in (None, world.peers["port", "alder"]):
            answer(question, "yes", judge=world.judge, summary=summary)


def _add_set(world: World, number: int) -> None:
    row = DocumentSet.objects.create(project=world.project, external_id=f"set-{number}")
    add_units(SOURCE, document=Document.objects.create(document_set=row, position=1, text=SOURCE))
    model = Summary.objects.create(document_set=row, is_model=True, text=SOURCE)
    add_units(SOURCE, summary=model)
    system = System.objects.create(project=world.project, name=f"system-{number}")
    for author in (system, *world.systems.values()):
        peer = Summary.objects.create(
            document_set=row, system=author, is_peer=True, target_words=20, text=PEERS["alder"]
        )
        add_units(PEERS["alder"], summary=peer)
        Comparison.objects.create(peer=peer, model=model)
    assign(document_set=row, assessor=world.ben, by=None)


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
        "summary": (world.olga, f"/p/harbour/scores/summaries/{world.peers['port', 'alder'].public_id}/"),
        "questions": (world.olga, f"/p/harbour/scores/sets/{world.sets['port'].public_id}/questions/"),
        "runs": (world.olga, "/p/harbour/runs/"),
        "assignments": (world.olga, "/p/harbour/assignments/"),
        "exports": (world.olga, "/p/harbour/exports/"),
        "settings": (world.olga, "/p/harbour/settings/"),
    }


def test_the_number_of_queries_does_not_grow(world: World, signed_in: Callable[[User], Client]) -> None:
    assign(document_set=world.sets["port"], assessor=world.ben, by=None)
    override(check=world.check("alder", 1), by=world.cleo, label="no")
    add_questions(world, 1, first=1)
    pages = {page: (signed_in(person), address) for page, (person, address) in addresses(world).items()}

    def counts() -> dict[str, int]:
        # The first sight of a check is kept, and so are statistics after a change; later sights write nothing.
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

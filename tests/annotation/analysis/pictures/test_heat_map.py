"""Claims against systems, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.analysis.pictures import heat_map
from annotation.analysis.pictures.heat_map import heat_map_page
from annotation.core.refusals import Invalid
from annotation.models import Check, Claim, Verdict
from annotation.reviewing.services.review import override
from annotation.texts.services.change_claims import delete_claim
from tests.annotation.cast import CLAIMS

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db
TARGET = 20


def labels(world: World, **asked: str) -> list[tuple[str, dict[str, str | None]]]:
    page = heat_map_page(world.project, target_words=TARGET, **asked)
    return [(row.claim, {name: answer.label for name, answer in row.answers.items()}) for row in page.rows]


def test_every_claim_has_the_answer_of_each_system(world: World) -> None:
    assert labels(world) == [
        (CLAIMS[0][0], {"alder": "yes", "birch": "no"}),
        (CLAIMS[1][0], {"alder": "no", "birch": "no"}),
        (CLAIMS[2][0], {"alder": "yes", "birch": "no"}),
    ]


def test_an_answer_of_a_person_is_told_as_one(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="unsure")
    row = heat_map_page(world.project, target_words=TARGET).rows[0]
    assert (row.answers["alder"].label, row.answers["alder"].by_person) == ("unsure", True)
    assert not row.answers["birch"].by_person


def test_a_check_without_a_usable_answer_stays_without_one(world: World) -> None:
    Check.objects.filter(pk=world.check("birch", 3).pk).update(final_label=None, final_source=None)
    assert labels(world)[2][1] == {"alder": "yes", "birch": None}


def test_pages_follow_each_other_without_gap_or_repetition(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heat_map, "CLAIMS_ON_A_PAGE", 2)
    first = heat_map_page(world.project, target_words=TARGET)
    second = heat_map_page(world.project, target_words=TARGET, after=first.after)
    assert [row.claim for row in (*first.rows, *second.rows)] == [text for text, _ in CLAIMS]
    assert first.after == first.rows[-1].claim_id
    assert second.after == ""


def test_a_claim_that_is_gone_leaves_the_map(world: World) -> None:
    delete_claim(claim=world.check("alder", 2).claim, by=world.rex)
    assert [claim for claim, _ in labels(world)] == [CLAIMS[0][0], CLAIMS[2][0]]


def test_another_target_length_has_no_claims_of_this_one(world: World) -> None:
    assert heat_map_page(world.project, target_words=None).rows == ()


@pytest.mark.parametrize("after", ["nowhere", "another project's"])
def test_a_page_after_a_claim_that_is_not_there_is_refused(world: World, after: str) -> None:
    project = world.project
    if after != "nowhere":
        after = world.check("alder", 1).claim.public_id
        project = world.other_project
    with pytest.raises(Invalid):
        heat_map_page(project, target_words=TARGET, after=after)


def test_the_number_of_queries_does_not_grow(world: World) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as asked:
            heat_map_page(world.project, target_words=TARGET)
        return len(asked)

    before = count()
    first = world.check("alder", 1).claim
    for number in range(4):
        claim = Claim.objects.create(
            claim_set=first.claim_set,
            unit=first.unit,
            position=10 + number,
            text=f"claim {number}",
            origin="judge",
        )
        for peer in (world.peers["port", "alder"], world.peers["port", "birch"]):
            check = Check.objects.create(
                project=world.project,
                claim=claim,
                peer=peer,
                document_set_id=peer.document_set_id,
                side="reference",
            )
            Verdict.objects.create(
                check_row=check, source="judge", judge=world.judge, origin_name="lexical|v:1", label="no"
            )
    assert count() == before
    assert len(labels(world)) == 7

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection

from annotation.core.lists import Listing, Viewer
from annotation.models import Check
from annotation.reviewing.queries.review_queue import QUEUE
from annotation.reviewing.services.lease_check import hand_out
from annotation.reviewing.services.review import override
from tests.annotation.cast import add_claims

if TYPE_CHECKING:
    from tests.annotation.cast import World


def queue(world: World, **given: str) -> Listing:
    return QUEUE.look(Viewer.now(world.rex, world.project), given)


def test_a_reader_keeps_to_a_document_set_and_answers_move_no_claim(world: World) -> None:
    _ask_of_bridge(world)
    Check.objects.filter(pk=world.check("alder", 1).pk).update(side="summary")
    # The import order is port, bridge. In each set, closed questions come first, then claims of references, then claims
    # of summaries, one summary after the other. In a summary, the most uncertain claims come first, and equal ones are
    # sorted by their random key.
    sides = ["question", "reference", "summary"]
    expected = [
        check.public_id
        for name in ("port", "bridge")
        for check in sorted(
            world.sets[name].checks.all(),
            key=lambda check: (
                sides.index(check.side),
                check.summary_id or 0,
                -check.uncertainty,
                check.queue_key,
            ),
        )
    ]
    seen: list[str] = []
    after = ""
    while after or not seen:
        rows, after = queue(world, after=after, limit="2").page()
        for row in rows:
            override(check=Check.objects.get(pk=row.pk), by=world.rex, label="unsure")
        seen += [row.public_id for row in rows]
    assert (seen, len(seen)) == (expected, 8)


def test_the_next_claim_is_the_next_of_the_list(world: World) -> None:
    _ask_of_bridge(world)
    found = list(queue(world).found)
    here, walked = None, []
    for _ in found:
        here = hand_out(look=queue(world), after=here)
        walked.append(here)
    assert walked == found


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads so few rows without an index")
@pytest.mark.parametrize("only", ["waiting", "disputed", "against", "all"])
def test_an_index_gives_the_first_of_each_part(world: World, only: str) -> None:
    look = queue(world, only=only)
    for part in (look.found, *look.beyond(world.check("birch", 1))):
        plan = part.values("pk")[:1].explain()
        assert "by_set" in plan
        assert "TEMP B-TREE" not in plan


def _ask_of_bridge(world: World) -> None:
    for claim in add_claims(world, "bridge", [("claim 1", 1), ("claim 2", 1)]):
        Check.objects.create(
            project=world.project,
            claim=claim,
            summary=world.summaries["bridge", "alder"],
            document_set=world.sets["bridge"],
            side="reference",
            queue_key=claim.position,
        )

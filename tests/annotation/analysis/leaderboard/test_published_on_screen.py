"""Published tables on the screens of scores, and sets that came without documents in the form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.imports.services import import_files
from annotation.models import DocumentSet, Summary
from tests.annotation.conftest import HTMX
from tests.annotation.imports.duc.packages import MODEL_UNITS, PEER_UNITS, ROW_2002, see_page, stored

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World


@pytest.fixture
def duc(world: World, tmp_path: Path) -> DocumentSet:
    """A document set of SEE's files in the cast's project, with the table of 2002."""
    files = {
        "models/D061.M.050.J.I.html": see_page(*MODEL_UNITS),
        "peers/D061.M.050.J.19.html": see_page(*PEER_UNITS),
        "short.results.table": ROW_2002,
        "results.table.R.paired": "d061 t 19 A 3 B 2\n",
    }
    import_files(project=world.project, files=stored(tmp_path, files), by=None)
    return DocumentSet.objects.get(external_id="D061")


def test_the_scores_page_shows_the_means_of_published_tables(
    world: World, duc: DocumentSet, signed_in: Callable[[User], Client]
) -> None:
    vic = signed_in(world.vic)
    page = vic.get("/p/harbour/scores/").content.decode()
    assert "As published" in page
    assert "DUC 2002 · <span" in page
    assert "<strong>0.400</strong>" in page
    # The mean of 3 and 2.
    assert "<strong>2.500</strong>" in page
    fragment = vic.get("/p/harbour/scores/", headers=HTMX).content.decode()
    assert "As published" not in fragment


def test_without_tables_nothing_is_said_of_them(world: World, signed_in: Callable[[User], Client]) -> None:
    assert "As published" not in signed_in(world.vic).get("/p/harbour/scores/").content.decode()


def test_the_page_of_a_summary_shows_what_was_published_of_it(
    world: World, duc: DocumentSet, signed_in: Callable[[User], Client]
) -> None:
    peer = Summary.objects.get(document_set=duc, is_peer=True)
    page = signed_in(world.vic).get(f"/p/harbour/scores/summaries/{peer.public_id}/").content.decode()
    assert "assessor I" in page
    assert "DUC 2002, short.results.table. Not part of the scores above." in page
    for words, value in (("Mean coverage", "0.400"), ("Length-adjusted median", "0.420"), ("Scores", "3 2")):
        assert f'<th scope="row">{words}</th><td class="num">{value}</td>' in page


def test_a_set_without_documents_can_be_assessed(
    world: World, duc: DocumentSet, signed_in: Callable[[User], Client]
) -> None:
    sitting = assign(document_set=duc, assessor=world.ana, by=world.mona)
    ana = signed_in(world.ana)
    assignment = sitting.assignments.get()
    for address in ("", "source/"):
        answer = ana.get(f"/p/harbour/work/{assignment.public_id}/{address}")
        assert answer.status_code == 200
        assert "0.400" not in answer.content.decode()

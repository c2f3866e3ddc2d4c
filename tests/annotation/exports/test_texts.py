"""Level `texts`: every text of a project, whole."""

import pytest

from annotation.core.tables.pseudonyms import People
from annotation.exports import texts
from annotation.models import Document, Summary
from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def test_each_text_has_a_row_beside_what_it_belongs_to(world: World) -> None:
    rows = list(texts.rows(world.project, People(world.project)))
    names = [column.name for column in texts.COLUMNS]
    found = [dict(zip(names, row, strict=True)) for row in rows]
    assert [row["document_id"] for row in found] == sorted(row["document_id"] for row in found)
    of_port = [row for row in found if row["document_id"] == "port"]
    assert [row["kind"] for row in of_port] == sorted(row["kind"] for row in of_port)
    assert [row["text"] for row in of_port if row["kind"] == "document"] == list(
        Document.objects.filter(document_set=world.sets["port"]).values_list("text", flat=True)
    )
    [alder] = [row for row in of_port if row["kind"] == "summary" and row["system"] == "alder"]
    peer = world.peers["port", "alder"]
    assert (alder["text"], alder["target_words"], alder["position"]) == (peer.text, 20, None)
    [model] = [row for row in of_port if row["kind"] == "reference"]
    assert model["text"] == world.models["port"].text


def test_one_that_serves_as_both_has_two_rows(world: World) -> None:
    Summary.objects.filter(pk=world.peers["port", "alder"].pk).update(is_model=True)
    rows = texts.rows(world.project, People(world.project))
    kinds = [row[4] for row in rows if row[1:3] == ("port", "alder")]
    assert kinds == ["reference", "summary"]

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.refusals import NotFound
from annotation.models import Document, Unit
from annotation.reviewing.queries.check_view import check_of, check_view
from annotation.texts.queries.check_text import PASSAGES_FOUND, WHOLE_TEXT_UP_TO, found_passages

if TYPE_CHECKING:
    from tests.annotation.cast import World


def test_the_passage_that_shares_the_rarest_words_is_found() -> None:
    texts = ["The port is old.", "The wall costs 41 million.", "The ferry moves."]
    assert found_passages("Repairing the wall costs much.", texts) == [1]


def test_a_claim_and_its_denial_find_the_same_passage() -> None:
    texts = ["The ferry sank in fog.", "Nobody was hurt."]
    assert found_passages("The ferry sank.", texts) == found_passages("The ferry never sank.", texts) == [0]


def test_nothing_shared_finds_nothing() -> None:
    assert found_passages("Quite another matter", ["The port is old."]) == []
    assert found_passages("anything", []) == []


@given(claim=st.text(max_size=60), texts=st.lists(st.text(max_size=60), max_size=12))
def test_what_is_found_is_there_and_little(claim: str, texts: list[str]) -> None:
    found = found_passages(claim, texts)
    assert len(found) <= PASSAGES_FOUND
    assert set(found) <= set(range(len(texts)))


def test_a_check_of_another_project_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        check_of(world.other_project, world.check("alder", 1).public_id)


def long_source(world: World, sentences: int) -> None:
    document = Document.objects.get(document_set=world.sets["port"])
    document.units.all().delete()
    words = [f"Sentence {n} fills space." for n in range(1, sentences + 1)]
    words[sentences // 2] = "Ferries use the southern quay."
    document.text = " ".join(words)
    document.save(update_fields=["text"])
    start = 0
    for number, sentence in enumerate(words, start=1):
        Unit.objects.create(document=document, position=number, start=start, end=start + len(sentence))
        start += len(sentence) + 1


def summary_side(world: World) -> str:
    check = world.check("alder", 3)
    check.side = "summary"
    check.save(update_fields=["side"])
    return check.public_id


def test_a_long_text_is_shown_around_what_was_found(world: World) -> None:
    long_source(world, WHOLE_TEXT_UP_TO * 2)
    check = check_of(world.project, summary_side(world))
    view = check_view(check, world.rex)
    # Sentence 41 of 80 names the quay; two sentences on each side are shown, after a gap.
    assert [passage.number for passage in view.passages] == [39, 40, 41, 42, 43]
    assert [passage.is_found for passage in view.passages] == [False, False, True, False, False]
    assert view.passages[0].follows_gap
    assert (view.is_whole_text, view.text_units) == (False, 80)


def test_the_whole_of_a_long_text_is_shown_when_asked_for(world: World) -> None:
    long_source(world, WHOLE_TEXT_UP_TO * 2)
    view = check_view(check_of(world.project, summary_side(world)), world.rex, whole_text=True)
    assert len(view.passages) == 80
    assert view.is_whole_text

"""Files in the layouts of other projects, with invented texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.imports.containers import NamedFile
from annotation.imports.guess import Guess, guess, look_at_files
from annotation.imports.layout import document_hash, layout_of
from annotation.imports.problems import ImportRefused
from annotation.imports.read import FileReading, read_dataset
from tests.annotation.imports.files import LAYOUTS, jsonl, raw, refusal_of


def read(name: str, *corrections: str, target: str = "") -> FileReading:
    assert len(corrections) <= 2
    return read_dataset(LAYOUTS / name, layout=layout_of(corrections, target=target))


def guessed(path: Path) -> Guess:
    look = look_at_files([NamedFile(path.name, path)])
    assert look
    return guess(look)


def test_a_file_without_documents_is_read_beside_references(tmp_path: Path) -> None:
    reading = read_dataset(LAYOUTS / "summeval_unpaired.jsonl")
    assert reading.problems.count == 0
    assert {one.documents for one in reading.dataset.sets.values()} == {()}
    assert any("document sets have no document here" in line for line in reading.warnings.texts)
    alone = jsonl(tmp_path, {"decoded": "It rained all day.", "model_id": "M1"})
    assert "there is no column `document`" in refusal_of(alone)


def test_a_layout_without_doubt_is_read_unasked_and_told() -> None:
    reading = read_dataset(LAYOUTS / "cnn_dailymail_outputs.csv")
    assert len(reading.dataset.sets) == 3
    assert (
        "Columns are read as CNN/DailyMail: document=article, summary=output, reference=highlights, system=model."
        in reading.warnings.texts
    )


def test_rows_with_the_same_document_are_one_set() -> None:
    sets = read("cnn_dailymail_outputs.csv").dataset.sets
    assert {name: len(one.summaries) for name, one in sets.items()} == dict.fromkeys(
        (document_hash(one.documents) for one in sets.values()), 2
    )


@pytest.mark.parametrize(("target", "expected"), [("30", 30), ("none", None), ("", None)])
def test_the_target_length_is_one_for_the_file(target: str, expected: int | None) -> None:
    reading = read("cnn_dailymail_outputs.csv", target=target)
    targets = {target for one in reading.dataset.sets.values() for _, target in one.summaries}
    assert targets == {expected}
    assert reading.lacks_target == (expected is None)


def test_an_id_that_changes_within_a_document_does_not_name_it(tmp_path: Path) -> None:
    rows = [
        {"id": number, "article": "A text.", "model": f"m{number}", "output": "Two."} for number in (1, 2)
    ]
    path = jsonl(tmp_path, *rows)
    found = guessed(path)
    assert "document_id" not in found.layout.mapping
    assert found.doubts == ("`id` does not name the documents: the same text stands under several.",)
    [one] = read_dataset(path, layout=found.layout).dataset.sets.values()
    assert len(one.summaries) == 2


@pytest.mark.parametrize("named", ["document_id", "example_id"])
def test_an_id_that_changes_within_a_document_is_a_doubt(tmp_path: Path, named: str) -> None:
    rows = "1,A text.,m1,Two.\n2,A text.,m2,Three.\n"
    path = raw(tmp_path, f"{named},article,model,output\n{rows}", "a.csv")
    assert f"`{named}` does not name the documents" in refusal_of(path)


def test_without_documents_an_id_that_changes_within_a_reference_names_no_set(tmp_path: Path) -> None:
    rows = "1,A text.,m1,Two.\n2,A text.,m2,Three.\n"
    path = raw(tmp_path, f"id,reference,model,output\n{rows}", "a.csv")
    assert "`id` does not name the documents" in refusal_of(path)
    reading = read_dataset(path, layout=layout_of(["system=model", "summary=output"]))
    assert reading.warnings.texts[0] == (
        "`document_id` is made from a hash of the reference: equal texts are one set."
    )
    [one] = reading.dataset.sets.values()
    assert {system for system, _ in one.summaries} == {"m1", "m2"}


def test_the_surest_of_several_columns_is_taken_and_the_others_told(tmp_path: Path) -> None:
    path = raw(
        tmp_path,
        "article,highlights,output,response\nA text of some more words.,A.,One of three words.,Two of three words.\n",
        "a.csv",
    )
    found = guessed(path)
    assert found.layout.mapping["summary"] == ("output",)
    assert found.doubts == ("`response` is not read, and it may hold the summaries or references.",)


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ("article_text,editor_summary,model,generated", "editor_summary"),
        ("article,house_summary,gold_text,output", "house_summary"),
        ("article,human_feedback,output", ""),
        ("article,headline,output", ""),
    ],
)
def test_an_unread_text_named_like_a_reference_is_a_doubt(tmp_path: Path, header: str, named: str) -> None:
    columns = header.split(",")
    texts = ["alder" if column == "model" else f"The trams of {column} stopped." for column in columns]
    found = guessed(raw(tmp_path, f"{header}\n{','.join(texts)}\n", "a.csv"))
    told = f"`{named}` is not read, and it may hold the summaries or references."
    assert (told in found.doubts) == bool(named)


@pytest.mark.parametrize(
    "header", ["Artikel;Referenz;Modell;Zusammenfassung", "Texte source;Résumé de référence;Modèle;Résumé"]
)
def test_german_and_french_names_are_known(tmp_path: Path, header: str) -> None:
    text = f"{header}\nIt rained in the town all day.;It rained all day.;alder;It rained in town.\n"
    found = guessed(raw(tmp_path, text, "a.csv"))
    fields = ("document", "reference", "system", "summary")
    assert found.layout.mapping == {name: (one,) for name, one in zip(fields, header.split(";"), strict=True)}
    assert not found.doubts


def test_a_summary_beside_columns_of_systems_is_a_doubt(tmp_path: Path) -> None:
    texts = ["It rained in the town all day long.", *(f"It rained all day in {town}." for town in "abc")]
    path = raw(tmp_path, f"document,summary,lead,sprout\n{','.join(texts)}\n", "a.csv")
    assert "`lead` is not read, and it may hold" in refusal_of(path)
    typed = layout_of(["document=document", "reference=summary", "summary=lead", "summary=sprout"])
    [one] = read_dataset(path, layout=typed).dataset.sets.values()
    assert (len(one.references), {system for system, _ in one.summaries}) == (1, {"lead", "sprout"})


def test_a_rated_summary_beside_texts_of_systems_is_a_doubt(tmp_path: Path) -> None:
    texts = ["It rained in the town all day long.", *(f"It rained all day in {town}." for town in "ab")]
    path = raw(tmp_path, f"article,Summary,alder,fluency\n{','.join(texts)},4\n", "a.csv")
    assert "`alder` is not read, and it may hold the summaries or references." in refusal_of(path)


def test_columns_named_like_references_are_no_systems(tmp_path: Path) -> None:
    texts = ["It rained in the town all day long.", *(f"It rained all day in {town}." for town in "abcd")]
    text = f"article,alder,reference_a,birch,referentie_b\n{','.join(texts)}\n"
    found = guessed(raw(tmp_path, text, "a.csv"))
    assert found.layout.mapping["summary"] == ("alder", "birch")
    assert found.doubts[1:] == tuple(
        f"`{name}` is not read, and it may hold the summaries or references."
        for name in ("reference_a", "referentie_b")
    )


def test_a_system_without_a_summary_of_a_row_is_told_and_left_out(tmp_path: Path) -> None:
    long = "It rained in the town all day."
    rows = [
        {"document": long * 3, "reference": long, "alder": long, "birch": long + " Yes."},
        {"document": long * 4, "reference": long, "alder": long, "birch": None},
    ]
    path = jsonl(tmp_path, *rows)
    reading = read_dataset(path, layout=guessed(path).layout)
    assert [len(one.summaries) for one in reading.dataset.sets.values()] == [2, 1]
    told = "Some systems lack summaries of some of the 2 document sets: birch (1)."
    assert told in reading.warnings.texts


def test_references_by_a_short_name_and_messages_are_read(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "It rained all day in town."},
    ]
    record = {
        "messages": messages,
        "prediction": "It rained a lot.",
        "ref1": "It rained all day.",
        "ref2": "Rain fell on the town.",
    }
    [one] = read_dataset(jsonl(tmp_path, record)).dataset.sets.values()
    assert one.documents == ("It rained all day in town.",)
    assert list(one.references) == ["1", "2"]


def test_a_document_shorter_than_its_summary_is_doubted_until_both_are_named(tmp_path: Path) -> None:
    long = "It rained in the town all day long, and all trams stopped."
    path = raw(
        tmp_path,
        f"id,summary,document,system\n1,{long},It rained.,x\n".replace("long, and", "long and"),
        "a.csv",
    )
    with pytest.raises(ImportRefused) as refused:
        read_dataset(path, layout=layout_of(["document_id=id"]))
    [problem] = refused.value.problems
    assert problem.pair == "document_id=id\ndocument=document\nsummary=summary"
    assert read_dataset(path, layout=layout_of(problem.pair.split("\n"))).problems.count == 0


def test_a_text_column_named_like_a_rating_is_no_system(tmp_path: Path) -> None:
    texts = ["It rained in the town all day long.", *(f"It rained all day in {town}." for town in "abc")]
    content = f"document,reference,gpt,gpt_rating\n{','.join(texts)}\n"
    found = guessed(raw(tmp_path, content, "a.csv"))
    assert found.layout.mapping["summary"] == ("gpt",)


@pytest.mark.parametrize("header", ["reference,alder,birch", "reference,birch,alder"])
@pytest.mark.parametrize(("times", "is_doubted"), [(1, False), (5, True)])
def test_a_much_longer_text_among_the_systems_is_doubted(
    tmp_path: Path, header: str, times: int, *, is_doubted: bool
) -> None:
    texts = {
        "reference": "It rained in town.",
        "alder": "It rained in town.",
        "birch": "All day it rained. " * times,
    }
    content = f"{header}\n{','.join(texts[name] for name in header.split(','))}\n"
    found = guessed(raw(tmp_path, content, "a.csv"))
    assert {*found.layout.mapping["summary"]} == {"alder", "birch"}
    told = "The texts in `alder` are shorter than those in `birch`."
    assert (told in found.doubts) == is_doubted

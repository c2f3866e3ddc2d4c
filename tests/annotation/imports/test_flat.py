from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.imports.layout import layout_of
from annotation.imports.read import read_dataset
from tests.annotation.imports.files import (
    DOCUMENT,
    HEADER,
    REFERENCE,
    jsonl,
    problems_of,
    raw,
    refusal_of,
    row,
)


@pytest.mark.parametrize("field", ["document_id", "document", "system", "summary"])
def test_missing_field_is_named_with_what_is_there(tmp_path: Path, field: str) -> None:
    bad = row(**{"system": "birch", "reference": ..., field: ...})
    [(line, column, reason)] = problems_of(jsonl(tmp_path, row(), bad))
    assert (line, column) == (2, field)
    assert reason.startswith("is missing. Fields that are there: ")


@pytest.mark.parametrize(
    ("field", "value", "fragment"),
    [
        ("document_id", "  ", "has no value"),
        ("document_id", "x" * 201, "has 201 characters; a name may have 200"),
        ("document_id", 1.5, "is 1.5, not a text"),
        ("document_id", True, "is True, not a text"),
        ("document", " \n", "is empty. A summary needs the text"),
        ("document", [], "is empty. A summary needs the text"),
        ("document", ["One.", ""], "is empty. A summary needs the text"),
        ("document", ["One.", 2], "is 2, not a text"),
        ("summary", ["One."], "is a list, not a text"),
        ("summary", "a\x00b", "contains a NUL character at position 2"),
        ("summary", "\ud83d", "contains half a surrogate pair (U+D83D) at position 1"),
        ("system", "a\x00b", "contains a NUL character"),
        ("target_words", 0, "is 0 and must be greater than or equal to 1"),
        ("target_words", 2.5, "must be a whole number, or empty for no target"),
        ("target_words", True, "is True, not a whole number"),
        ("target_words", "ten", "must be a whole number, or empty for no target"),
        ("target_words", "١٠", "is '١٠', not a whole number"),
        ("target_words", 2**31, "must be less than or equal to 2147483647"),
        ("target_words", 10**400, "is a number of very many digits and must be"),
        ("language", "Deutsch!", "must be a language code such as en or pt-BR"),
        ("language", "zh-Hant-variant", "must be a language code such as en or pt-BR"),
        ("metadata", "{", "is not JSON"),
        ("metadata", {"a": "\x00"}, "contains a NUL character"),
        ("metadata", {"\udc80": 1}, "contains half a surrogate pair"),
        ("metadata", {"a": "x" * 20_001}, "is longer than 20,000 characters"),
    ],
)
def test_bad_value_is_named(tmp_path: Path, field: str, value: Any, fragment: str) -> None:
    [(line, column, reason)] = problems_of(jsonl(tmp_path, row(), row(**{"system": "b", field: value})))[-1:]
    assert (line, column) == (2, field)
    assert fragment in reason


@pytest.mark.parametrize("value", [10, "10", " 10 ", 10.0, "10.0"])
def test_whole_targets_are_read_however_they_are_written(tmp_path: Path, value: Any) -> None:
    assert list(read_dataset(jsonl(tmp_path, row(target_words=value))).dataset.sets["d1"].summaries) == [
        ("alder", 10)
    ]


@pytest.mark.parametrize("value", [None, "", " ", ...])
def test_target_may_be_left_out(tmp_path: Path, value: Any) -> None:
    assert list(read_dataset(jsonl(tmp_path, row(target_words=value))).dataset.sets["d1"].summaries) == [
        ("alder", None)
    ]


def test_text_of_20_megabytes_is_refused_by_its_length(tmp_path: Path) -> None:
    path = jsonl(tmp_path, row(), row(document_id="d2", document="x" * 20_000_000))
    assert problems_of(path) == [
        (
            2,
            "document",
            "has 20,000,000 characters, and one text may have 1,000,000 at most. Cut it, or split a long "
            "source into a list of documents.",
        )
    ]


@pytest.mark.parametrize("summary", ["", " \n "])
def test_empty_summary_is_taken_with_a_warning(tmp_path: Path, summary: str) -> None:
    reading = read_dataset(jsonl(tmp_path, row(summary=summary)))
    assert reading.problems.count == 0
    assert reading.warnings.texts == [
        "Line 1: the summary of 'd1' by 'alder' is empty. It is flagged empty_summary."
    ]


def test_csv_without_a_column_is_refused_with_what_is_there(tmp_path: Path) -> None:
    path = raw(tmp_path, HEADER.replace("summary", "digest") + f"d1,{DOCUMENT},,alder,Two.,10\n", "a.csv")
    assert refusal_of(path) == (
        "there is no column `summary`. Columns that are there: document_id, document, reference, system, digest, "
        "target_words. Say which column is which, or remove what you do not need. If there is none, write one row per "
        "summary, with columns `document_id`, `document`, `reference`, `system` and `summary`, or the nested layout, "
        "with `doc_id`, `source_text`, `reference_text` and `systems`, a list of objects with `system` and "
        "`summary_text`."
    )


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_mapping_to_a_column_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    path = raw(tmp_path, HEADER + f"d1,{DOCUMENT},,alder,Two.,10\n", "a.csv")
    path = path if name == "a.csv" else jsonl(tmp_path, row())
    assert "the column 'topic' is given for group, and there is no such column" in refusal_of(
        path, layout=layout_of(["group=topic"])
    )


def test_rows_of_one_key_are_told_to_name_the_system(tmp_path: Path) -> None:
    lines = (f"{d},{DOCUMENT} {d}.,{REFERENCE},{m},The {m} stopped all trams." for d in "12" for m in "ab")
    path = raw(tmp_path, "\n".join(("id,article,highlights,m,out", *lines, "")), "a.csv")
    pairs = ["document=article", "summary=out"]
    problem = read_dataset(path, layout=layout_of(pairs)).problems.shown[0]
    assert (problem.line, problem.pair) == (3, "system=COLUMN")
    mapped = read_dataset(path, layout=layout_of([*pairs, "system=m"]))
    assert (mapped.problems.count, [len(one.summaries) for one in mapped.dataset.sets.values()]) == (
        0,
        [2, 2],
    )


def test_reference_that_is_named_but_not_there_is_a_problem(tmp_path: Path) -> None:
    [(line, column, reason)] = problems_of(jsonl(tmp_path, row(reference="", reference_id="A")))
    assert (line, column) == (1, "reference")
    assert "Repeat the reference's text" in reason


def test_problems_with_one_cause_are_one_with_three_examples(tmp_path: Path) -> None:
    reading = read_dataset(jsonl(tmp_path, *[row(system=f"s{i}", target_words=0) for i in range(80)]))
    assert reading.problems.count == reading.problems.bad_lines == 80
    [problem] = reading.problems.shown
    assert (problem.times, problem.lines, problem.place) == (80, (1, 2, 3), "1, 2, 3 and 77 more")


def test_a_row_that_repeats_another_is_read_once(tmp_path: Path) -> None:
    reading = read_dataset(jsonl(tmp_path, row(), row(system="birch"), row(), row()))
    assert reading.problems.count == 0
    assert [len(one.summaries) for one in reading.dataset.sets.values()] == [2]
    assert reading.warnings.texts == [
        "Duplicate rows are read once: line 3 repeats 1, 4 repeats 1. If these hold ratings, map `rating` and "
        "`rater`, or name columns `criterion`, `score` and `rater`."
    ]


@pytest.mark.parametrize("changes", [{}, {"reference_id": "B"}])
def test_duplicate_key_with_another_summary_names_both_lines(tmp_path: Path, changes: Any) -> None:
    other = row(summary="Other.", **changes)
    [(line, column, reason)] = problems_of(jsonl(tmp_path, row(**changes and {"reference_id": "A"}), other))
    assert (line, column) == (2, "")
    assert reason.startswith(
        "repeats the key of line 1 (document_id 'd1', system 'alder', target_words 10). Remove one of the two, "
    )


def test_a_repeated_row_may_bring_the_reference(tmp_path: Path) -> None:
    reading = read_dataset(jsonl(tmp_path, row(reference=""), row()))
    assert list(reading.dataset.sets["d1"].references) == [""]
    assert reading.warnings.texts == []


def test_references_are_a_list_of_references(tmp_path: Path) -> None:
    several = row(document_id="d2", reference=..., references=["Rain.", "Trams."])
    reading = read_dataset(jsonl(tmp_path, row(reference=...), several))
    assert list(reading.dataset.sets["d2"].references) == ["1", "2"]
    assert reading.dataset.sets["d2"].references["2"].text == "Trams."
    assert not any("Not read" in one for one in reading.warnings.texts)


def test_an_empty_list_of_ids_names_no_reference(tmp_path: Path) -> None:
    references = read_dataset(jsonl(tmp_path, row(reference_id=[]))).dataset.sets["d1"].references
    assert references[""].text == REFERENCE


def test_a_file_with_reference_and_references_is_refused_unless_one_is_named(tmp_path: Path) -> None:
    path = jsonl(tmp_path, row(references=["Rain.", "Trams."]))
    assert "there are both `reference` and `references`" in refusal_of(path)
    for column, number in (("reference", 1), ("references", 2)):
        layout = layout_of([f"reference={column}"])
        assert len(read_dataset(path, layout=layout).dataset.sets["d1"].references) == number


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        (0, []),
        (1, ["1 of 2 document sets have no reference here."]),
        (2, ["2 of 2 document sets have no reference here."]),
    ],
)
def test_a_file_with_references_for_some_sets_says_so(tmp_path: Path, lacking: int, said: list[str]) -> None:
    rows = [row(document_id=name) for name in ("a", "b")]
    for one in rows[:lacking]:
        one["reference"] = ""
    told = [line for line in read_dataset(jsonl(tmp_path, *rows)).warnings.texts if "no reference" in line]
    assert [line.split(" Without")[0] for line in told] == said


def test_a_system_that_lacks_summaries_is_told(tmp_path: Path) -> None:
    rows = [row(document_id=f"a{number}", document=f"Text {number}.") for number in range(1, 7)]
    rows += [{**one, "system": "terse"} for one in rows if one["document_id"] != "a3"]
    reading = read_dataset(jsonl(tmp_path, *rows))
    assert reading.warnings.texts == [
        "Some systems lack summaries of some of the 6 document sets: terse (1)."
    ]
    rows = [row(document_id=f"a{number}", system=f"s{number}") for number in range(1, 9)]
    told = read_dataset(jsonl(tmp_path, *rows)).warnings.texts
    assert told == [
        "Some systems lack summaries of some of the 8 document sets: s1 (7), s2 (7), s3 (7), s4 (7), s5 (7) and 3 more."
    ]


@pytest.mark.parametrize(
    ("field", "one", "other"),
    [("group", "g1", "g2"), ("language", "en", "de"), ("reference_author", "ada", "bob")],
)
def test_what_a_set_shares_must_agree(tmp_path: Path, field: str, one: str, other: str) -> None:
    [(line, column, _)] = problems_of(
        jsonl(tmp_path, row(**{field: one}), row(system="birch", **{field: other}))
    )
    assert (line, column) == (2, field)


def test_a_reference_of_another_target_length_needs_an_id(tmp_path: Path) -> None:
    rows = [row(), row(target_words=5, reference="Rain.")]
    [(line, column, reason)] = problems_of(jsonl(tmp_path, *rows))
    assert (line, column) == (2, "reference")
    assert reason.endswith("Rows that differ need another reference_id.")
    twice = row(reference=["One.", "Two."], reference_id=["A", "A"])
    assert problems_of(jsonl(tmp_path, twice))[0][:2] == (1, "reference")
    named = [one | {"reference_id": name} for one, name in zip(rows, "ab", strict=True)]
    [one] = read_dataset(jsonl(tmp_path, *named)).dataset.sets.values()
    assert set(one.pairs) == {("alder", 10, "a"), ("alder", 5, "b")}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (2019, {"year": 2019}),
        ([2019, 2020], {"year": [2019, 2020]}),
        ("2019", {"year": "2019"}),
        ({"of": 2019}, {"of": 2019}),
        ('{"of": 2019}', {"of": 2019}),
        (None, {}),
    ],
)
def test_a_column_read_as_metadata_keeps_its_name(tmp_path: Path, given: Any, read: dict[str, Any]) -> None:
    path = jsonl(tmp_path, row(year=given))
    assert read_dataset(path, layout=layout_of(["metadata=year"])).dataset.sets["d1"].metadata == read


def test_metadata_of_a_set_is_what_its_rows_share(tmp_path: Path) -> None:
    rows = [
        row(metadata={"domain": "news", "run": 1}),
        row(system="birch", metadata={"domain": "news", "run": 2}),
    ]
    one = read_dataset(jsonl(tmp_path, *rows)).dataset.sets["d1"]
    assert one.metadata == {"domain": "news"}
    assert one.summaries["birch", 10].metadata == {"domain": "news", "run": 2}

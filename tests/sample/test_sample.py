import json
import re
from pathlib import Path
from typing import Any

import pytest

from evaluation.text import count_words, split_sentences

SAMPLE = Path(__file__).parents[2] / "annotation" / "demo"

Row = dict[str, Any]
Key = tuple[str, str, int]

ROWS: list[Row] = [
    json.loads(line) for line in (SAMPLE / "harbour.jsonl").read_text(encoding="utf-8").splitlines()
]
JUDGMENTS: dict[str, list[Row]] = json.loads((SAMPLE / "judgments.json").read_text(encoding="utf-8"))


def _key(row: Row) -> Key:
    return row["document_id"], row["system"], row["target_words"]


def _named(row: Row) -> str:
    return "-".join(str(part) for part in _key(row))


BY_KEY: dict[Key, Row] = {_key(row): row for row in ROWS}
PERCENTS = pytest.mark.parametrize(
    "judged", JUDGMENTS["unit_percents"], ids=lambda judged: f"{_named(judged)}-{judged['assessor']}"
)


def _documents(row: Row) -> list[str]:
    document = row["document"]
    return document if isinstance(document, list) else [document]


def _errors() -> list[tuple[str, int, str, str | None]]:
    cells = re.findall(
        r"^\| ([\w-]+)(?: \((\d+)\))? \| `([^`]+)` \| (?:`([^`]+)`|nothing) \|$",
        (SAMPLE / "README.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    return [(name, int(target or 60), summary, source or None) for name, target, summary, source in cells]


@pytest.mark.parametrize("row", [row for row in ROWS if row["system"] == "lead"], ids=_named)
def test_lead_is_the_most_whole_sentences_that_fit(row: Row) -> None:
    first = _documents(row)[0]
    fitting = len(split_sentences(row["summary"], row["language"]))
    one_more = split_sentences(first, row["language"])[: fitting + 1]
    assert first.startswith(row["summary"])
    assert split_sentences(row["summary"], row["language"]) == one_more[:-1]
    assert count_words(row["summary"]) <= row["target_words"] < count_words(" ".join(one_more))


@pytest.mark.parametrize(("name", "target", "summary", "source"), _errors())
def test_an_error_is_where_the_readme_says(name: str, target: int, summary: str, source: str | None) -> None:
    row = BY_KEY[name, "cedar-1", target]
    documents = "\n".join(_documents(row))
    assert summary in row["summary"]
    assert source is None or source in documents
    # Words that also occur in the source are an error only if the source's own words contain them.
    assert summary not in documents or (source is not None and summary in source)


def test_every_cedar_summary_but_one_has_an_error() -> None:
    cedar = {(row["document_id"], row["target_words"]) for row in ROWS if row["system"] == "cedar-1"}
    errors = {(name, target) for name, target, _, _ in _errors()}
    assert cedar - errors == {("news-bridge-repair", 60)}
    assert errors <= cedar


@PERCENTS
def test_marks_name_summary_units_exactly_where_something_is_expressed(judged: Row) -> None:
    row = BY_KEY[_key(judged)]
    summary_units = range(1, len(split_sentences(row["summary"], row["language"])) + 1)
    for percent, marks in zip(judged["percents"], judged["marks"], strict=True):
        assert bool(marks) == (percent > 0)
        assert all(mark in summary_units for mark in marks)
        assert marks == sorted(set(marks))
    is_all_marked = {mark for marks in judged["marks"] for mark in marks} == set(summary_units)
    assert judged.get("unmarked") in ([None] if is_all_marked else [0, 20, 40, 60, 80, 100])


def test_assessors_judge_once_and_agree_on_most_units_but_not_all() -> None:
    given = {(_key(judged), judged["assessor"]): judged["percents"] for judged in JUDGMENTS["unit_percents"]}
    assert len(given) == len(JUDGMENTS["unit_percents"])
    pairs = [
        pair
        for (key, assessor), percents in given.items()
        if assessor == "ben"
        for pair in zip(given[key, "ana"], percents, strict=True)
    ]
    same = sum(ana == ben for ana, ben in pairs)
    assert len(pairs) * 0.6 < same < len(pairs)
    # Answers that differ by more than the project's threshold are disputed.
    assert sum(abs(ana - ben) > 20 for ana, ben in pairs) == 4

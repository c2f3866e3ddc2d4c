from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from annotation.core.criteria import criteria_in_force
from annotation.imports.layout import layout_of
from annotation.imports.problems import ImportRefused
from annotation.imports.read import read_dataset
from annotation.models import Project, Rating
from annotation.projects.services.change_project import change_project
from tests.annotation.imports.files import DOCUMENT, REFERENCE, import_dataset, jsonl, raw, refusal_of

if TYPE_CHECKING:
    from pathlib import Path

LATE, EARLY = "The trams of Oslo stopped.", "It rained hard in Oslo."
FLAT = {"id": "d1", "article": DOCUMENT, "model": "alder", "summary": LATE}
LONG = " ".join([DOCUMENT] * 5)


def texts(path: Path, *pairs: str) -> dict[str, str]:
    [one] = read_dataset(path, layout=layout_of(pairs)).dataset.sets.values()
    return {system: summary.summary for (system, _), summary in one.summaries.items()}


@pytest.mark.parametrize("end", ["", ".text"])
def test_an_object_by_system_is_refused_until_its_paths_are_named(tmp_path: Path, end: str) -> None:
    outputs: dict[str, Any] = {"alder": LATE, "birch": EARLY}
    held = {name: {"text": text, "tokens": 5} for name, text in outputs.items()} if end else outputs
    path = jsonl(tmp_path, {"id": 0, "article": DOCUMENT, "outputs": held})
    assert "there is no column `summary`" in refusal_of(path)
    typed = ("document=article", *(f"summary=outputs.{name}{end}" for name in outputs))
    assert texts(path, *typed) == {f"outputs.{name}{end}": text for name, text in outputs.items()}


def test_a_list_of_summaries_by_system_is_not_one_summary(tmp_path: Path) -> None:
    outputs = [{"model": "alder", "text": LATE}, {"model": "birch", "text": EARLY}]
    assert "`summary`" in refusal_of(jsonl(tmp_path, {"id": "d1", "document": DOCUMENT, "outputs": outputs}))


@pytest.mark.parametrize("rater", ["average", "Mean", "gpt-4o", "LLM judge"])
def test_a_rater_who_is_no_person_is_left_out(tmp_path: Path, rater: str) -> None:
    rows = f"d1,{DOCUMENT},alder,{LATE},anna,4\nd1,{DOCUMENT},alder,{LATE},{rater},3\n"
    reading = read_dataset(raw(tmp_path, f"id,article,model,summary,rater,fluency\n{rows}", "rows.csv"))
    assert [one.rated for one in reading.dataset.summaries()] == [{("fluency", "anna"): 4}]
    assert f"Line 3: Ratings by `{rater}` are left out: that is no person." in reading.warnings.texts


@pytest.mark.django_db
def test_a_criterion_in_two_spellings_is_one(tmp_path: Path) -> None:
    project = Project.objects.create(slug="trams", name="Trams")
    import_dataset(project=project, path=jsonl(tmp_path, FLAT | {"fluency_1": 4, "Fluency_2": 2}), by=None)
    rated = Rating.objects.values_list("criterion__name", "origin_name", "value").order_by("value")
    assert [*rated] == [("summeval_fluency", "rater 2", 2), ("summeval_fluency", "rater 1", 4)]


@pytest.mark.parametrize(
    ("given", "rated"),
    [
        (
            {
                "fluency": [
                    {"user_id": "u1", "value": 4, "status": "submitted"},
                    {"user_id": "u2", "value": 1, "status": "discarded"},
                ]
            },
            {("fluency", "u1"): 4},
        ),
        ({"ratings": {"anna": {"fluency": 4}}}, {("fluency", "anna"): 4}),
        ({"ratings": {"fluency": {"anna": 4}}}, {("fluency", "anna"): 4}),
    ],
)
def test_ratings_have_their_criterion_and_rater(tmp_path: Path, given: dict[str, Any], rated: object) -> None:
    [summary] = read_dataset(jsonl(tmp_path, FLAT | given)).dataset.summaries()
    assert summary.rated == rated


def test_numbers_beside_ratings_are_named_if_they_are_not_read(tmp_path: Path) -> None:
    given = [{"annotator": "anna", "fluency": 4, "tone": 2, "comment": "good"}]
    found = read_dataset(jsonl(tmp_path, FLAT | {"annotations": given}))
    [summary] = found.dataset.summaries()
    assert summary.rated == {("fluency", "anna"): 4}
    [told] = [remark.reason for remark in found.warnings.shown if "stands beside" in remark.reason]
    assert told.startswith("`tone` stands beside ratings and is not read")


def test_sentence_tags_are_dropped_from_references(tmp_path: Path) -> None:
    path = jsonl(tmp_path, FLAT | {"reference": f"<t> {REFERENCE} </t> <t> {EARLY} </t>\n"})
    [one] = read_dataset(path).dataset.sets.values()
    assert one.references[""].text == f"{REFERENCE} {EARLY}"


def test_a_list_of_sentences_is_one_document(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path, FLAT | {"article": ["Rain fell in Oslo on Monday.", LATE], "summary": [LATE, EARLY]}
    )
    pairs = ("document=article[]", "document_id=id", "system=model", "summary=summary[]")
    [one] = read_dataset(path, layout=layout_of(pairs)).dataset.sets.values()
    assert one.documents == (f"Rain fell in Oslo on Monday. {LATE}",)


def test_rows_of_rules_are_skipped(tmp_path: Path) -> None:
    path = raw(
        tmp_path, f"id;article;model;summary\n---;---;---;---\nd1;{DOCUMENT};alder;{LATE}\n", "rows.csv"
    )
    assert texts(path) == {"alder": LATE}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"d1,{LONG},alder,{LATE}\n", "looks like data. Add a header line with the names of the columns"),
        (f"{DOCUMENT},{LATE}\n{EARLY},{LATE}\n", "there is no column"),
        (f"1,alder,{EARLY}\n2,birch,{LATE}\n", "there is no column"),
        ("雨が降った。,雨。\n", "there is no column"),
        (
            f"Lfd. Nr.,Text of the press release,Is it fluent? Rate it.\n1,{DOCUMENT},2\n",
            "there is no column",
        ),
        (
            f"Results,,,\nid,article,model,summary\nd1,{DOCUMENT},alder,{LATE}\n",
            "is a title",
        ),
        (
            json.dumps({"columns": ["id"], "index": [0], "data": [["d1"]]}, indent=1),
            "to_json(path, orient='records')",
        ),
        (json.dumps({"id": "d1", "article": LONG, "outputs": [LATE, EARLY]}), ""),
    ],
)
def test_other_shapes_are_refused_with_the_way_out(tmp_path: Path, content: str, told: str) -> None:
    if told:
        assert told in refusal_of(raw(tmp_path, content, "rows.json" if content[0] == "{" else "rows.csv"))
    else:
        problems = read_dataset(raw(tmp_path, content)).problems.shown
        assert "Each system needs a row of its own." in problems[0].reason


def test_messages_are_no_document_without_a_path(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"messages": [{"role": "user", "content": DOCUMENT}]})
    typed = layout_of(["document=messages", "summary=messages[-1].content"])
    [problem] = read_dataset(path, layout=typed).problems.kept
    assert (problem.column, problem.reason) == ("messages", "is a dict, not a text.")


BOTH = {"id": "d1", "article": DOCUMENT, "summary_finch": LATE, "summary_heron_2": EARLY}
OF_BOTH = layout_of(
    ["document=article", "summary=summary_finch", "summary=summary_heron_2", "rating=fluency"]
)


def label_studio(name: str, about: str) -> dict[str, Any]:
    rated = {"type": "rating", "from_name": name, "to_name": about, "value": {"rating": 4}}
    return {"data": BOTH, "annotations": [{"completed_by": 7, "result": [rated]}]}


def test_a_dot_in_the_name_of_a_plain_column_belongs_to_the_system(tmp_path: Path) -> None:
    path = raw(tmp_path, f"id,article,gpt-4.1,gpt-4.5\nd1,{DOCUMENT},{LATE},{EARLY}\n", "rows.csv")
    typed = ("document_id=id", "document=article", "summary=gpt-4.1", "summary=gpt-4.5")
    assert texts(path, *typed) == {"gpt-4.1": LATE, "gpt-4.5": EARLY}


def test_columns_of_summaries_name_their_systems(tmp_path: Path) -> None:
    path = jsonl(tmp_path, BOTH)
    with pytest.raises(ImportRefused) as refused:
        read_dataset(path)
    assert "summary=summary_finch\nsummary=summary_heron_2" in refused.value.problems[0].pair
    for record in (BOTH, BOTH | {"model": "alder"}):
        read = texts(jsonl(tmp_path, record), *OF_BOTH.pairs()[:3])
        assert read == {"summary_finch": LATE, "summary_heron_2": EARLY}


@pytest.mark.parametrize(
    ("record", "column"),
    [
        (BOTH | {"fluency": 4}, "fluency"),
        (BOTH | {"fluency": {"summary_finch": {"anna": 4}}}, "summary_finch"),
        (label_studio("fluency", "summary_heron_2"), "fluency"),
    ],
)
def test_a_rating_of_a_row_with_several_summaries_is_refused(
    tmp_path: Path, record: dict[str, Any], column: str
) -> None:
    pairs = OF_BOTH.pairs()[: 3 if "data" in record else 4]
    told = refusal_of(jsonl(tmp_path, record), layout=layout_of(pairs))
    assert f"{column}: rates a row that holds 2 summaries: write one row per summary, with columns" in told


@pytest.mark.parametrize(
    ("one", "two"),
    [("system_a", "system_b"), ("Model 1", "Model 2"), ("modelA", "modelB"), ("system_10", "system_11")],
)
def test_pairs_with_columns_of_their_systems_are_refused(tmp_path: Path, one: str, two: str) -> None:
    shown = {"article": DOCUMENT, "summary_a": LATE, "summary_b": EARLY}
    path = jsonl(
        tmp_path, {"id": 1, one: "alder", two: "birch"} | shown, {"id": 2, one: "birch", two: "alder"} | shown
    )
    for pairs in ([], ["document=article", "summary=summary_a", "summary=summary_b"]):
        told = refusal_of(path, layout=layout_of(pairs))
        assert f"{one}: names a system, and a row holds 2 summaries, each of one system:" in told


def test_texts_of_systems_without_names_are_read(tmp_path: Path) -> None:
    path = raw(tmp_path, f"id,article,System A,System B\nd1,{DOCUMENT},{LATE},{EARLY}\n", "rows.csv")
    typed = ("document=article", "summary=System A", "summary=System B")
    assert texts(path, *typed) == {"System A": LATE, "System B": EARLY}


def test_a_header_inside_a_file_is_a_problem(tmp_path: Path) -> None:
    """Joined files have a header above each part."""
    header, row = "id,article,model,output\n", f"d1,{DOCUMENT},alder,{LATE}\n"
    reading = read_dataset(raw(tmp_path, header + row + header + row.replace("alder", "birch"), "rows.csv"))
    assert [(one.line, one.reason) for one in reading.problems.kept] == [
        (3, "repeats the header. Remove the line.")
    ]
    assert [system for one in reading.dataset.sets.values() for system, _ in one.summaries] == [
        "alder",
        "birch",
    ]


def test_every_column_that_lacks_has_its_place_in_the_line_to_type(tmp_path: Path) -> None:
    path = raw(tmp_path, f"ticket,call_log,bot_version,bot_note\n7,{DOCUMENT},v2,{LATE}\n", "rows.csv")
    with pytest.raises(ImportRefused) as caught:
        read_dataset(path)
    assert caught.value.problems[0].pair == "document=COLUMN\nsummary=COLUMN"


@pytest.mark.parametrize(
    "named", ["document_{}", "source {}", "article_{}", "documents.{}", "article_text.{}"]
)
def test_numbered_columns_are_several_documents_or_pieces_of_one(tmp_path: Path, named: str) -> None:
    one, two = named.format(1), named.format(2)
    path = raw(
        tmp_path,
        f"document_id,{one},{two},system,summary\nd1,{DOCUMENT},{EARLY},alder,{LATE}\nd2,{EARLY},,alder,{LATE}\n",
        "rows.csv",
    )
    reading = read_dataset(path)
    assert reading.dataset.sets["d2"].documents == (EARLY,)
    is_one = named == "article_text.{}"
    assert reading.dataset.sets["d1"].documents == ((f"{DOCUMENT} {EARLY}",) if is_one else (DOCUMENT, EARLY))
    assert f"document={one}, document={two}" in reading.warnings.texts[0]


@pytest.mark.django_db
def test_the_report_states_a_guessed_scale_and_a_changed_scale_is_used(tmp_path: Path) -> None:
    project = Project.objects.create(slug="trams", name="Trams")
    path = jsonl(
        tmp_path, *(FLAT | {"model": name, "readability": name == "b" or 3, "fluency": 4} for name in "ab")
    )
    told = import_dataset(project=project, path=path, by=None).warnings
    scales = (
        "with a usual scale that holds the values: `readability` is 1 to 3; `summeval_fluency` is 1 to 5."
    )
    assert [each for each in told if scales in each and "To use another scale, change it under" in each]
    first, second = (row.fact for row in criteria_in_force(project))
    wider = replace(first, points=tuple((value, "") for value in range(1, 6)))
    change_project(project=project, by=None, criteria=[wider, second])
    assert not [
        each for each in import_dataset(project=project, path=path, by=None).warnings if "scale" in each
    ]
    current = Rating.objects.filter(criterion__retired_at=None, criterion__name="readability")
    assert sorted(current.values_list("value", flat=True)) == [1, 3]


@pytest.mark.parametrize(
    ("written", "value"),
    [("3,0", 3), ("4 - gut", 4), ("2 (poor)", 2), ("5: très bien", 5), ("1 – schlecht", 1)],
)
def test_a_decimal_comma_and_words_after_a_rating_are_read(
    tmp_path: Path, written: str, value: float
) -> None:
    header = "Fall-Nr.;Dokument;Modellname;KI-Kurzfassung;Musterlösung;Bewerter;Verständlichkeit"
    path = raw(tmp_path, f"{header}\nd1;{DOCUMENT};alder;{LATE};{REFERENCE};anna;{written}\n", "rows.csv")
    dataset = read_dataset(path).dataset
    assert dataset.sets["d1"].references[""].text == REFERENCE
    assert [one.rated for one in dataset.summaries()] == [{("Verständlichkeit", "anna"): value}]


@pytest.mark.parametrize("written", ["3/3", "3-5", "20%", "4 5", "1.000,5"])
def test_other_numbers_are_no_ratings(tmp_path: Path, written: str) -> None:
    path = jsonl(tmp_path, FLAT | {"fluency": written})
    assert not next(read_dataset(path, layout=layout_of(["rating=fluency"])).dataset.summaries()).rated


@pytest.mark.parametrize(
    ("column", "rated"),
    [
        ("fluency (anna)", {("fluency", "anna"): 4}),
        ("factual consistency [R2]", {("factual_consistency", "R2"): 4}),
        ("fluency (mean)", {}),
        ("fluency (max 5)", {}),
    ],
)
def test_a_rater_in_brackets_is_read(tmp_path: Path, column: str, rated: object) -> None:
    [summary] = read_dataset(jsonl(tmp_path, FLAT | {column: 4})).dataset.summaries()
    assert summary.rated == rated


def test_rows_that_differ_in_columns_not_read_are_told_with_a_way_to_read_ratings(tmp_path: Path) -> None:
    cells = f"d1,{DOCUMENT},alder,{LATE}"
    content = f"id,article,model,summary,question,points\n{cells},tone,4\n{cells},style,2\n"
    told = " ".join(read_dataset(raw(tmp_path, content, "rows.csv")).warnings.texts)
    assert "Duplicate rows are read once: line 3 repeats 2." in told
    assert "map `rating` and `rater`, or name columns `criterion`, `score` and `rater`." in told


def test_percents_without_accounts_are_named(tmp_path: Path) -> None:
    told = read_dataset(jsonl(tmp_path, FLAT | {"percent_covered": 80})).warnings.texts
    assert "Not read: `percent_covered`." in told


def test_one_text_a_row_is_refused_with_the_layout_to_write(tmp_path: Path) -> None:
    rows = f"doc,kind,by,text\nd1,source,,{DOCUMENT}\nd1,reference,eve,{REFERENCE}\nd1,summary,alder,{LATE}\n"
    told = refusal_of(path := raw(tmp_path, rows, "rows.csv"))
    for said in (told, refusal_of(path, layout=layout_of(["document=text"]))):
        assert "write one row per summary, with columns `document_id`, `document`" in said


def test_other_nested_names_are_refused_with_the_layout_to_write(tmp_path: Path) -> None:
    article = {"id": "d1", "body": DOCUMENT, "candidates": [{"model": "alder", "text": LATE}]}
    for record in ({"study": "a", "articles": [article]}, article):
        told = refusal_of(jsonl(tmp_path, record))
        assert "write one row per summary" in told
        assert "or the nested layout, with `doc_id`, `source_text`" in told
        assert "COLUMN" not in told

"""Files that other projects publish and other tools export, compared with the rows that they become.

The layouts follow the named sources, and the texts are invented.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from pyarrow import csv, parquet

from annotation.imports.containers import NamedFile
from annotation.imports.layout import layout_of
from annotation.imports.problems import ImportRefused
from annotation.imports.services import import_new_project
from annotation.models import Document, DocumentSet, Event, Project, Summary, System

pytestmark = pytest.mark.django_db

FOREIGN = Path(__file__).parent / "foreign"
HUB = "huggingface.co/datasets/"
PARQUET = "cnn_dailymail.parquet"

Pairs = tuple[str, ...]


class Layout(NamedTuple):
    file: str
    source: str
    corrections: Pairs
    documents: int
    summaries: int
    references: int
    systems: int
    sets: int = 4


LAYOUTS = [
    # Data sets
    Layout("cnn_dailymail.csv", HUB + "abisee/cnn_dailymail", ("summary=highlights",), 4, 4, 0, 1),
    Layout(PARQUET, HUB + "abisee/cnn_dailymail", ("summary=highlights",), 4, 4, 0, 1),
    Layout("xsum.jsonl", HUB + "EdinburghNLP/xsum", (), 4, 4, 0, 1),
    Layout("samsum.json", HUB + "Samsung/samsum", (), 3, 3, 0, 1, sets=3),
    Layout("newsroom.jsonl", HUB + "lil-lab/newsroom", (), 4, 4, 0, 1),
    Layout("multi_news.jsonl", HUB + "alexfabbri/multi_news", (), 3, 3, 0, 1, sets=3),
    Layout("pubmed.jsonl", HUB + "ccdv/pubmed-summarization", ("summary=abstract",), 3, 3, 0, 1, sets=3),
    Layout(
        "pubmed_release.jsonl",
        "github.com/armancohan/long-summarization",
        ("document=article_text[]", "summary=abstract_text[]"),
        *(3, 3, 0, 1),
        sets=3,
    ),
    Layout("xlsum_arabic.jsonl", HUB + "csebuetnlp/xlsum", (), 3, 3, 0, 1, sets=3),
    Layout("hub_viewer.json", "huggingface.co/docs/dataset-viewer/rows", (), 4, 4, 0, 1),
    # Judged summaries. SummEval: three articles with two models and two references each. QAGS: four articles with one
    # model. FRANK: four articles with two models.
    Layout(
        "summeval.jsonl", "github.com/Yale-LILY/SummEval, data_processing/pair_data.py", (), 3, 6, 6, 2, 3
    ),
    Layout("qags.jsonl", "github.com/W4ngatang/qags, data/mturk_cnndm.jsonl", (), 4, 4, 0, 1),
    Layout("frank.json", "github.com/artidoro/frank, data/benchmark_data.json", (), 4, 8, 4, 2),
    # Tools for evaluation
    Layout("deepeval.csv", "deepeval.com/docs/evaluation-datasets, save_as", (), 4, 4, 4, 1),
    Layout("deepeval.json", "deepeval.com/docs/evaluation-datasets, test cases", (), 4, 4, 4, 1),
    Layout(
        "langfuse_items.csv", "langfuse.com/docs, export from UI", ("summary=expectedOutput",), 4, 4, 0, 1
    ),
    Layout("langfuse_traces.jsonl", "langfuse.com/docs, export from UI", (), 4, 4, 4, 1),
    Layout("langsmith.csv", "docs.langchain.com/langsmith, ExperimentResults.to_pandas", (), 4, 4, 4, 1),
    Layout(
        "langsmith.jsonl", "docs.langchain.com/langsmith, inputs, outputs, reference_outputs", (), 4, 4, 4, 1
    ),
    Layout(
        "openai_evals.jsonl", "github.com/openai/evals, docs/build-eval.md", ("summary=ideal",), 4, 4, 0, 1
    ),
    Layout("openai_items.jsonl", "developers.openai.com, evals: item and sample", (), 4, 4, 4, 1),
    Layout("ragas.jsonl", "docs.ragas.io, SingleTurnSample", (), 4, 4, 4, 1),
    # Tools for annotation
    Layout(
        "label_studio.json",
        "labelstud.io/guide/task_format",
        ("summary=annotations[0].result[0].value.text[0]",),
        *(4, 4, 0, 1),
    ),
    Layout("argilla.json", "docs.argilla.io, import_export: Record.to_dict", (), 4, 4, 0, 1),
    # Tables made by hand, with pandas or with Excel
    Layout("wide.csv", "a column per system", (), 4, 8, 4, 2),
    Layout("wide.tsv", "a column per system", ("reference=human",), 4, 8, 4, 2),
    Layout("long.csv", "CNN/DailyMail with outputs", (), 4, 8, 4, 2),
    Layout("quoted.csv", "line breaks and quotes in cells", ("system=author",), 4, 4, 0, 2),
    Layout("pandas_index.csv", "pandas.pydata.org, DataFrame.to_csv with its index", (), 4, 4, 4, 1),
    Layout("excel_utf8.csv", "Excel, CSV UTF-8 in a German locale", (), 3, 3, 3, 1, sets=3),
    Layout("excel_cp1252.csv", "Excel, CSV in a German locale", (), 3, 3, 3, 1, sets=3),
    Layout(
        "lcsts_chinese.tsv", "a table in Chinese", ("document=正文", "reference=摘要"), 3, 3, 3, 1, sets=3
    ),
]

REFUSED = [
    # Each entry has a file, the fault in the message, and the remedy in the message.
    ("word.rtf", "word.rtf is no table", "Save its table as CSV in UTF-8."),
    ("langfuse_items_json.csv", "line 2: holds JSON in every cell", "Save the table as JSONL."),
    ("promptfoo.csv", "the header names the column 'Status' twice", "Rename one of the two."),
    ("label_studio_min.csv", "Tables of Label Studio are not read", "Export the project as JSON"),
    ("pandas_columns.json", "objects that are no rows", "to_json(path, orient='records')"),
    ("book.xlsx", "book.xlsx is a zip or spreadsheet file", "save the sheet as CSV in UTF-8"),
    (
        "cnn_dailymail.csv",
        "there is no column `summary`",
        "Say which column is which, or remove what you do not need.",
    ),
]


ASKED = {
    *("xsum.jsonl", "samsum.json", "newsroom.jsonl", "xlsum_arabic.jsonl", "hub_viewer.json"),
    *("wide.csv", "wide.tsv", "lcsts_chinese.tsv"),
}
"""Files that are refused with the line to type."""


def bring_in(path: Path, *corrections: str) -> None:
    layout = layout_of(corrections)
    import_new_project(slug="foreign", by=None, files=[NamedFile(path.name, path)], layout=layout)


def path_of(name: str, folder: Path) -> Path:
    if name != PARQUET:
        return FOREIGN / name
    path = folder / name
    table = csv.read_csv(FOREIGN / "cnn_dailymail.csv")
    parquet.write_table(table, path)
    return path


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.file)
def test_a_foreign_file_comes_in(layout: Layout, tmp_path: Path) -> None:
    path, typed = path_of(layout.file, tmp_path), layout.corrections
    assert len(typed) <= 2
    if layout.file in ASKED:
        with pytest.raises(ImportRefused) as refused:
            bring_in(path, *typed)
        typed = tuple(refused.value.problems[0].pair.splitlines())
    bring_in(path, *typed)
    assert (
        DocumentSet.objects.count(),
        Document.objects.count(),
        Summary.objects.filter(is_summary=True).count(),
        Summary.objects.filter(is_reference=True).count(),
        System.objects.filter(summaries__is_summary=True).distinct().count(),
    ) == (layout.sets, layout.documents, layout.summaries, layout.references, layout.systems)
    texts = [
        *Document.objects.values_list("text", flat=True),
        *Summary.objects.values_list("text", flat=True),
    ]
    # No text begins with syntax of the file format.
    assert not [text for text in texts if text[:1] in {"{", "[", '"'}]


@pytest.mark.parametrize(("name", "what", "way_out"), REFUSED)
def test_what_cannot_come_in_is_refused_with_the_way_out(name: str, what: str, way_out: str) -> None:
    with pytest.raises(ImportRefused) as caught:
        bring_in(FOREIGN / name)
    told = " ".join((caught.value.message, *(problem.describe() for problem in caught.value.problems)))
    assert what in told
    assert way_out in told
    assert not Project.objects.exists()
    assert not Event.objects.exists()


def test_every_foreign_file_is_in_a_table() -> None:
    tabled = {layout.file for layout in LAYOUTS} | {name for name, _, _ in REFUSED}
    assert {path.name for path in FOREIGN.iterdir()} | {PARQUET} == tabled

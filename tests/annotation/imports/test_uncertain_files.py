from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command

from annotation.command_line.main import main
from annotation.models import Check, Claim, Project, Summary
from annotation.scoring.rescore import rescore
from tests.annotation.cast import World
from tests.annotation.imports.test_api import upload

if TYPE_CHECKING:
    from pathlib import Path

    from tests.annotation.conftest import ApiDoor

ARTICLE = "The ferry to the island was late on Friday. Its crew had stayed ashore because of the storm."
FERRY = {"document_id": "d1", "document": ARTICLE, "system": "v1", "summary": "The ferry was late."}
NESTED = {"doc_id": "d1", "source_text": ARTICLE}
OF_V1 = {"system": "v1", "summary_text": "The ferry was late."}
GAPS = {
    "summary": "NaN",
    "reference": "None",
    "group": "nan",
    "language": "nan",
    "reference_id": "None",
    "document_id": " nan ",
    "questions": "nan",
    "document": " n/a ",
}
"""Marks for an empty cell, by field."""


def with_gap(field: str, gap: str) -> str:
    cells = {"document_id": "d1", "document": "The ferry was late.", "reference": "Late.", "system": "v1"}
    cells |= {"summary": "It was late.", field: gap}
    return f"{','.join(cells)}\n{','.join(cells.values())}\n"


ROWS = {
    **{
        f"{gap} as {field}": (with_gap(field, gap), f"{field}: is '{gap.strip()}'")
        for field, gap in GAPS.items()
    },
    "an index of pandas and no summary": (
        ",document_id,document,system\n0,d1,The ferry was late.,v1\n",
        "summary",
    ),
    "a list of references as Python writes it": (
        "document_id,document,reference,system,summary\n"
        'd1,The ferry was late.,"[\'It\\\'s late.\', ""The crew\'s ashore.""]",v1,It was late.\n',
        "line 2, reference: is a list or an object written as one text, whose brackets and quotes would be scored. "
        "Save the table as JSONL, as pandas does by to_json(path, orient='records', lines=True), or write one text "
        "there.",
    ),
    "a document of sentences as JSON writes them": (
        'document_id,document,system,summary\nd1,"[""The ferry was late."", ""It rained.""]",v1,It was late.\n',
        "line 2, document: is a list or an object",
    ),
    "a summary of sentences as numpy writes them": (
        "document_id,document,system,summary\nd1,The ferry was late.,v1,\"['It was late.'\n 'It left.']\"\n",
        "line 2, summary: is a list or an object",
    ),
    "documents by their files' names": (
        "document_id,document,system,summary\nd1,articles/d1.txt,v1,It was late.\n",
        "line 2, document: is 'articles/d1.txt', the name of a file and not its text. Put the text there.",
    ),
    "a nan system in a nested line": (
        json.dumps(NESTED | {"systems": [{"system": "N/A", "summary_text": "Late."}]}),
        "systems[1].system: is 'N/A'",
    ),
    "examples beside results": (
        '{"examples": [{"document_id": "d0"}],\n"results": [' + json.dumps(FERRY) + "]}",
        "holds several lists of rows, or objects that are no rows. Write one list of rows",
    ),
    "several objects over several lines": (
        "\n".join(json.dumps({"document_id": name, "document": ARTICLE}, indent=1) for name in ("d1", "d2")),
        "Write several objects one per line (JSONL), as jq -c . does.",
    ),
    "an edited summary beside its original": (
        json.dumps(
            [{"id": "1", "doc": ARTICLE, "summary": "It left.", "original_summary": "It was late again."}]
        ),
        "`original_summary` is not read, and it may hold the summaries or references.",
    ),
    "a document shorter than its summary": (
        f"text,output\nThe ferry.,{ARTICLE}\nThe storm.,{ARTICLE}\n",
        "The texts in `text` are shorter than those in `output`.",
    ),
    "a longer text that is not read": (
        f"source,summary,report\nThe ferry was late.,It was late.,{ARTICLE}\n",
        "`report` is not read, and it may hold the summaries or references.",
    ),
    "tags in place of texts": (
        f"source,story_told,verdict\ncnndm,{ARTICLE},accept\nxsum,{ARTICLE},reject\n",
        "there is no column",
    ),
    "names with dots": (
        f"Input.story,Reply.words\n{ARTICLE},The ferry was late.\n",
        "Columns that are there: Input.story, Reply.words.",
    ),
    "a summary beside an answer": (
        f"Input.document,Input.summary,Answer.quality\n{ARTICLE},The ferry was late.,It leaves out the storm.\n",
        "`Input.summary` is not read, and it may hold the summaries or references.",
    ),
    "claims in a flat row": (
        json.dumps(FERRY | {"claims": [{"text": "The ferry was late.", "label": 1}]}),
        "`claims` is not read",
    ),
    "a claim that is true and false of one system": (
        json.dumps(
            NESTED
            | {"systems": [OF_V1], "claims": [{"claim_text": "Late.", "verdicts": {"v1": n}} for n in (1, 0)]}
        ),
        "claims[2].claim_text: repeats an earlier claim with another verdict on 'v1'.",
    ),
    "claims inside a system": (
        json.dumps(NESTED | {"systems": [OF_V1 | {"claims": ["The ferry was late."]}]}),
        "systems[1].claims[1]: must be an object",
    ),
}
READ = {
    "a line for Excel before the header": (
        f"sep=;\ndocument_id;document;system;summary\nd1;{ARTICLE};v1;The ferry was late.\n;;;\n"
    ),
    "doc": f"doc,summary,model\n{ARTICLE},The ferry was late.,v1\n",
    "dialogue": f"dialogue,output\n{ARTICLE},The ferry was late.\n",
    "transcript": f"Transcript,Response\n{ARTICLE},The ferry was late.\n",
    "one object over several lines": json.dumps(FERRY, indent=1),
    "a list in an object over several lines": '{"data": [\n' + json.dumps(FERRY) + "\n]}",
    "NaN that nobody reads": json.dumps(FERRY | {"rouge": float("nan")}),
}


def written(folder: Path, content: str) -> Path:
    path = (
        folder
        / f"rows{'.csv' if not content.startswith(('{', '[')) else '.json' if content[0] == '[' else '.jsonl'}"
    )
    path.write_text(content)
    return path


@pytest.mark.parametrize("name", ROWS)
def test_what_would_be_misread_is_refused_on_every_road(
    world: World, client_of: ApiDoor, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    content, told = ROWS[name]
    path = written(tmp_path, content)
    before = Summary.objects.count()
    with pytest.raises(CommandError) as refused:
        call_command("import_dataset", "ferry", str(path), "--create")
    assert told in str(refused.value)
    answer = upload(client_of("mona"), {path.name: content.encode()})
    assert answer.status_code in (400, 422)
    assert told.rpartition(": ")[2] in answer.content.decode()
    assert main(["gate", str(path), "--judge", "lexical"]) == 1
    said = capsys.readouterr()
    assert told in said.out + said.err
    assert Summary.objects.count() == before
    assert not Project.objects.filter(slug="ferry").exists()


@pytest.mark.parametrize("name", READ)
def test_what_has_one_meaning_is_read_on_every_road_and_told(
    world: World, client_of: ApiDoor, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = written(tmp_path, READ[name])
    out = StringIO()
    call_command("import_dataset", "ferry", str(path), "--create", stdout=out)
    summary = Summary.objects.get(document_set__project__slug="ferry", is_summary=True)
    assert (summary.text, summary.document_set.documents.get().text) == ("The ferry was late.", ARTICLE)
    answer = upload(client_of("mona"), {path.name: READ[name].encode()})
    assert answer.json()["report"]["counts"]["summaries"]["created"] == 1
    assert main(["gate", str(path), "--judge", "lexical", "--metrics", "alignment"]) == 0
    if "document_id" not in READ[name]:
        assert "Columns are read: document=" in out.getvalue()
        assert any(
            line.startswith("Columns are read: document=") for line in answer.json()["report"]["warnings"]
        )
        said = capsys.readouterr()
        assert "Columns are read: document=" in said.out + said.err


def test_a_list_in_jsonl_and_a_text_in_brackets_are_read(tmp_path: Path, db: None) -> None:
    rows = {**FERRY, "reference": ["It was late.", "['No', list]"], "summary": "['So' it was] late."}
    path = written(tmp_path, json.dumps(rows))
    call_command("import_dataset", "ferry", str(path), "--create", stdout=StringIO())
    texts = set(Summary.objects.filter(is_summary=False).values_list("text", flat=True))
    assert texts == {"It was late.", "['No', list]"}
    table = tmp_path / "table.csv"
    table.write_text("document,system,summary\nThe ferry was late.,v1,\"[It, ['was' late]\"\n")
    call_command("import_dataset", "table", str(table), "--create", stdout=StringIO())
    assert Summary.objects.get(document_set__project__slug="table").text == "[It, ['was' late]"


def test_a_source_may_be_data_in_json_and_a_summary_may_not(tmp_path: Path, db: None) -> None:
    data = json.dumps({"ferry": "late", "crew": ["ashore"]})
    path = written(tmp_path, json.dumps({**FERRY, "document": data}))
    call_command("import_dataset", "ferry", str(path), "--create", stdout=StringIO())
    assert Summary.objects.get().document_set.documents.get().text == data
    path = written(tmp_path, json.dumps({**FERRY, "summary": data}))
    with pytest.raises(CommandError, match="summary: is a list or an object written as one text"):
        call_command("import_dataset", "other", str(path), "--create")


def test_the_line_to_type_is_shown_and_works(tmp_path: Path, db: None) -> None:
    path = written(tmp_path, ROWS["an edited summary beside its original"][0])
    with pytest.raises(CommandError) as refused:
        call_command("import_dataset", "ferry", str(path), "--create")
    pairs = ["document=doc", "document_id=id", "summary=summary"]
    typed = " ".join(f"--map {pair}" for pair in pairs)
    assert typed in str(refused.value)
    typed = f"{typed} --map reference=original_summary"
    call_command("import_dataset", "ferry", str(path), "--create", *typed.split(), stdout=StringIO())
    assert Summary.objects.get(is_summary=True).text == "It left."
    assert Summary.objects.get(is_summary=False).text == "It was late again."


def line(document: str, claim: str, votes: list[Any]) -> dict[str, Any]:
    return {
        "doc_id": document,
        "source_text": f"{claim} It rained.",
        "systems": [{"system": "a", "summary_text": claim}],
        "claims": [{"claim_text": claim, "raw_votes": {"a": votes}}],
    }


@pytest.mark.parametrize("given", [{"raw_votes": {"a": [None, None]}}, {"verdicts": {"a": None}}])
def test_a_claim_without_a_vote_stays_where_the_others_are(
    tmp_path: Path, db: None, given: dict[str, Any]
) -> None:
    unanswered = line("d2", "The storm came.", [])
    unanswered["claims"] = [{"claim_text": "The storm came.", **given}]
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(map(json.dumps, (line("d1", "The ferry was late.", [1, 1, 0]), unanswered))))
    call_command("import_dataset", "ferry", str(path), "--create", stdout=StringIO())
    project = Project.objects.get(slug="ferry")
    owners = Claim.objects.filter(claim_set__summary__document_set__project=project)
    assert list(owners.values_list("claim_set__summary__is_summary", flat=True)) == [True, True]
    assert list(Check.objects.filter(project=project).values_list("side", "final_label")) == [
        ("summary", "yes")
    ]
    rescore(project=project)
    scores = {score.summary.document_set.external_id: score for score in project.scores.all()}
    # In d1, two of three votes are yes; in d2, nobody answered.
    assert (scores["d1"].alignment, scores["d1"].coverage) == (1.0, None)
    assert (scores["d2"].alignment, scores["d2"].coverage) == (None, None)

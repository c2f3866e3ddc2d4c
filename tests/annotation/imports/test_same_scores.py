from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from annotation.command_line.main import main
from annotation.models import Comparison, Membership, Project, Role, Run, Score
from annotation.projects.services.change_project import create_project
from tests.annotation.api.routes import PREFIX
from tests.annotation.judging.doing import judge_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

pytestmark = pytest.mark.usefixtures("kept_here")

Scores = dict[tuple[str, str, int | None], dict[str, float | None]]

SOURCE = "It rained on Monday. The mayor left the town. Nobody asked why. The bridge stayed open all day."
OTHER = "The mill closes in May. The river is low. Two hundred people lose their work. The union protests."
FIRST = {"document_id": "d1", "document": SOURCE, "system": "alder", "summary": "It rained. It snowed."}
SECOND = {**FIRST, "system": "birch", "summary": "The mayor left the town on Monday."}
THIRD = {
    "document_id": "d2",
    "document": OTHER,
    "system": "alder",
    "summary": "The mill closes. The river is low.",
}
RAIN = {"reference": "It rained. The mayor left."}
BRIDGE = {"reference": "The bridge stayed open. Nobody asked why."}
MILL = {"reference": "The mill closes in May. The union protests."}
OWN = {"reference": SECOND["summary"], "reference_id": "b", "reference_author": "birch"}
CLAIMS = {
    "doc_id": "d1",
    "source_text": SOURCE,
    "reference_text": RAIN["reference"],
    "systems": [{"system": row["system"], "summary_text": row["summary"]} for row in (FIRST, SECOND)],
    "claims": [
        {"claim_text": "It rained.", "weight": 3, "verdicts": {"alder": 1, "birch": 0}},
        {"claim_text": "The mayor left.", "weight": 1, "verdicts": {"birch": "unsure"}},
    ],
}

OF_SUMMARIES = {
    "doc_id": "d1",
    "source_text": SOURCE,
    "reference_text": RAIN["reference"],
    "systems": [{"system": "alder", "summary_text": "It rained. It snowed. Nobody asked why."}],
    "claims": [
        {"claim_text": "It rained.", "verdicts": {"alder": 0}},
        {"claim_text": "It snowed.", "verdicts": {"alder": 1}},
    ],
}
METRICS = (
    *("coverage", "claim_coverage", "alignment", "factual_alignment"),
    *("summarization", "completeness", "redundancy"),
)

FILES: dict[str, list[dict[str, Any]]] = {
    "one reference": [FIRST | RAIN, SECOND | RAIN, THIRD | MILL],
    "named references": [
        FIRST | RAIN | {"reference_id": "a"},
        FIRST | BRIDGE | {"reference_id": "b"},
        SECOND | BRIDGE | {"reference_id": "b"},
    ],
    "named beside unnamed": [FIRST | RAIN | {"reference_id": "a"}, SECOND, FIRST | BRIDGE | {"reference_id": "b"}],
    "a reference on one row alone": [FIRST | RAIN, SECOND],
    "two references, no names": [FIRST | RAIN, SECOND | BRIDGE | {"reference_id": "b"}],
    "no reference": [FIRST, SECOND, THIRD],
    "target lengths": [FIRST | RAIN | {"target_words": 10}, FIRST | RAIN | {"target_words": 20}, SECOND | RAIN],
    "an author's own reference": [FIRST | RAIN, SECOND | OWN],
    "an empty summary": [FIRST | RAIN, SECOND | RAIN | {"summary": ""}],
    "claims": [CLAIMS],
    "claims of the summaries": [OF_SUMMARIES],
}  # fmt: skip


@pytest.mark.parametrize("rows", FILES.values(), ids=FILES)
def test_a_file_gives_the_same_scores_on_every_road(
    rows: list[dict[str, Any]],
    world: World,
    signed_in: Callable[[User], Client],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = _written(rows, tmp_path)
    mona = signed_in(world.mona)
    expected = _by_gate(path, capsys)
    assert any(score is not None for scores in expected.values() for score in scores.values())
    call_command("import_dataset", "by-command", path, "--create", stdout=StringIO(), stderr=StringIO())
    _by_page(path, _project("by-page", world.mona), mona)
    _by_upload(path, _project("by-api", world.mona), mona)
    roads = ["by-command", "by-page", "by-api"]
    if path.suffix == ".csv":
        _by_push(rows, _project("by-push", world.mona), mona)
        roads.append("by-push")
    for slug in roads:
        asked = ("--judge=lexical", f"--metrics={','.join(METRICS)}")
        call_command("evaluate", slug, *asked, stdout=StringIO(), stderr=StringIO())
        judge_all(Run.objects.get(project__slug=slug))
        alike = {key: pytest.approx(scores, abs=1e-9) for key, scores in expected.items()}
        assert _stored(slug) == alike, slug


def test_a_reference_that_comes_later_meets_the_summaries_that_name_none(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    project, mona = _project("by-push", world.mona), signed_in(world.mona)
    _by_push([FIRST | RAIN | {"reference_id": "a"}, SECOND], project, mona)
    _by_push([{"document_id": "d1", "reference_id": "b", **BRIDGE}], project, mona)
    pairs = Comparison.objects.filter(summary__document_set__project=project)
    compared = set(pairs.values_list("summary__system__name", "reference__external_id"))
    assert compared == {("alder", "a"), ("birch", "a"), ("birch", "b")}


def _written(rows: list[dict[str, Any]], folder: Path) -> Path:
    if "systems" in rows[0]:
        path = folder / "rows.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return path
    path = folder / "rows.csv"
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as stream:
        table = csv.DictWriter(stream, columns)
        table.writeheader()
        table.writerows(rows)
    return path


def _project(slug: str, owner: User) -> Project:
    project = create_project(by=None, name=slug, slug=slug)
    Membership.objects.create(project=project, user=owner, roles=[Role.OWNER])
    return project


def _by_gate(path: Path, capsys: pytest.CaptureFixture[str]) -> Scores:
    # No questions are generated, so summarization uses claims.
    words = ["--metrics", ",".join(METRICS), "--format", "json", "--questions", "0"]
    assert main(["gate", str(path), *words]) == 0
    return {
        (row["document_id"], row["system"], row["target_words"]): {**row["scores"], "passed": row["passed"]}
        for row in json.loads(capsys.readouterr().out)["summaries"]
    }


def _by_page(path: Path, project: Project, client: Client) -> None:
    page = f"/p/{project.slug}/import/"
    upload = SimpleUploadedFile(path.name, path.read_bytes())
    address = client.post(f"{page}upload/", {"files": [upload]})["Location"]
    form = _Form()
    form.feed(client.get(address).content.decode())
    answer = client.post(f"{address}begin/", {**form.fields, "act": "import"})
    assert answer.status_code == 302, answer.content.decode()


def _by_upload(path: Path, project: Project, client: Client) -> None:
    upload = SimpleUploadedFile(path.name, path.read_bytes())
    answer = client.post(f"{PREFIX}projects/{project.slug}/imports/", {"files": upload})
    assert answer.status_code == 200, answer.content


def _by_push(rows: list[dict[str, Any]], project: Project, client: Client) -> None:
    answer = client.post(
        f"{PREFIX}projects/{project.slug}/push/", {"rows": rows}, content_type="application/json"
    )
    assert answer.status_code == 200, answer.content


def _stored(slug: str) -> Scores:
    return {
        (score.summary.document_set.external_id, score.summary.system.name, score.summary.target_words): {
            name: getattr(score, name) for name in (*METRICS, "passed")
        }
        for score in Score.objects.filter(summary__document_set__project__slug=slug).select_related(
            "summary__document_set", "summary__system"
        )
        if score.summary.system
    }


class _Form(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if tag == "select":
            self._select = name
        elif tag == "option" and (self._select not in self.fields or "selected" in given):
            self.fields[self._select] = given.get("value") or ""
        elif tag == "input" and name and (given.get("type") != "checkbox" or "checked" in given):
            self.fields[name] = given.get("value") or ""

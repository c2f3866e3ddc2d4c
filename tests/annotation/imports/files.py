"""Small files for the tests of importing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from annotation.imports.containers import NamedFile
from annotation.imports.problems import ImportRefused
from annotation.imports.read import FileReading, read_dataset
from annotation.imports.row import Claim, SetData
from annotation.imports.services import ImportReport, import_files
from annotation.models import Project

LAYOUTS = Path(__file__).parent / "layouts"
DOCUMENT = "Rain fell in Oslo on Monday. Trams stopped for an hour."
REFERENCE = "Rain stopped the trams in Oslo."
HEADER = "document_id,document,reference,system,summary,target_words\n"


def row(**changes: Any) -> dict[str, Any]:
    texts = {"document": DOCUMENT, "reference": REFERENCE, "summary": "Trams stopped."}
    fields = {"document_id": "d1", **texts, "system": "alder", "target_words": 10, **changes}
    return {name: value for name, value in fields.items() if value is not ...}


def nested(**changes: Any) -> dict[str, Any]:
    fields = {
        "doc_id": "d1",
        "source_text": DOCUMENT,
        "reference_text": REFERENCE,
        "systems": [
            {"system": "alder", "summary_text": "Trams stopped."},
            {"system": "birch", "summary_text": "It rained in Oslo."},
        ],
        "claims": [
            {"claim_text": "It rained", "weight": 1, "verdicts": {"alder": 0, "birch": 1}},
            {"claim_text": "Trams stopped", "weight": 1, "verdicts": {"alder": 1, "birch": 0}},
        ],
        **changes,
    }
    return {name: value for name, value in fields.items() if value is not ...}


def jsonl(folder: Path, *records: Any, name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def import_dataset(*, project: Project, path: Path, by: User | None, **choices: Any) -> ImportReport:
    return import_files(project=project, files=[NamedFile(path.name, path)], by=by, **choices)


def raw(folder: Path, content: bytes | str, name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def problems_of(path: Path, **choices: Any) -> list[tuple[int | None, str, str]]:
    try:
        reading: FileReading = read_dataset(path, **choices)
    except ImportRefused as refusal:
        return [(problem.line, problem.column, problem.reason) for problem in refusal.problems]
    return [(problem.line, problem.column, problem.reason) for problem in reading.problems.shown]


def refusal_of(path: Path, **choices: Any) -> str:
    with pytest.raises(ImportRefused) as caught:
        read_dataset(path, **choices)
    return caught.value.message


def claims_of(one: SetData) -> list[Claim]:
    return [claim for claims in one.claims.values() for claim in claims.values()]


def counted(report: ImportReport) -> dict[str, tuple[int, int, int]]:
    counts = report.counts.items()
    return {kind: (count.created, count.changed, count.unchanged) for kind, count in counts}


def row_counts() -> dict[str, int]:
    return {
        reference.__name__: reference._default_manager.count()
        for reference in apps.get_app_config("annotation").get_models()
    }

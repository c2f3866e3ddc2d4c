from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from annotation.imports.layout import layout_of
from annotation.imports.problems import ImportRefused
from annotation.imports.services import ImportReport, import_files
from annotation.models import (
    Check,
    Claim,
    ClaimSet,
    Comparison,
    DocumentSet,
    Project,
    Score,
    Summary,
    System,
    Verdict,
)
from tests.annotation.imports.files import counted, jsonl, row, row_counts
from tests.annotation.imports.test_people import exported_twice
from tests.annotation.imports.tools.packages import (
    BRIDGE,
    MODEL_UNITS,
    PEER_UNITS,
    REPAIR,
    WEIGHTS,
    pan,
    pyr,
    see_page,
    stored,
)

if TYPE_CHECKING:
    pass

MODEL = "models/D061.M.050.J.I.html"
PEER = "peers/D061.M.050.J.19.html"
SEE = {MODEL: see_page(*MODEL_UNITS), PEER: see_page(*PEER_UNITS)}
PAN = {"D0901-A.M.100.F.12.pan": pan(unmatched=["Fish were seen"])}


def bring(project: Project, folder: Path, files: Mapping[str, str | bytes], **choices: Any) -> ImportReport:
    return import_files(project=project, files=stored(folder, files), by=None, **choices)


def the_peer(system: str = "19") -> Summary:
    return Summary.objects.get(is_summary=True, system__name=system)


def pieces(summary: Summary) -> list[str]:
    return [summary.text[unit.start : unit.end] for unit in summary.units.order_by("position")]


def test_see_files_become_summaries_with_their_own_units(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, SEE)
    assert report.format == "SEE HTML or DUCView"
    assert counted(report) == {
        "document_sets": (1, 0, 0),
        "systems": (1, 0, 0),
        "reference_authors": (1, 0, 0),
        "references": (1, 0, 0),
        "summaries": (1, 0, 0),
        "comparisons": (1, 0, 0),
    }
    model = Summary.objects.get(is_reference=True)
    assert model.external_id == "I.50"
    assert pieces(model) == list(MODEL_UNITS)
    assert pieces(the_peer()) == list(PEER_UNITS)
    kinds = dict(System.objects.values_list("name", "kind"))
    assert kinds == {"I": System.Kind.PERSON, "19": System.Kind.SUMMARISER}
    (row,) = DocumentSet.objects.all()
    assert row.external_id == "D061"


def test_a_second_import_changes_nothing(project: Project, tmp_path: Path) -> None:
    files = {**SEE, **PAN}
    bring(project, tmp_path, files)
    before = row_counts()
    report = bring(project, tmp_path, files)
    assert not report.has_changes
    assert row_counts() == before


def test_both_formats_come_in_at_once(project: Project, tmp_path: Path) -> None:
    files = {**SEE, **PAN, "README.txt": "notes"}
    report = bring(project, tmp_path, files, skip_invalid=True)
    assert report.counts["summaries"].created == 2
    assert report.problems[0].describe() == "README.txt: is no SEE HTML or DUCView file."


def compared(project: Project) -> set[tuple[int | None, str]]:
    pairs = Comparison.objects.filter(summary__document_set__project=project)
    return set(pairs.values_list("summary__target_words", "reference__external_id"))


def test_peers_are_compared_with_models_of_their_length(project: Project, tmp_path: Path) -> None:
    long = {MODEL.replace("050", "100"): see_page("Uno."), PEER.replace("050", "100"): see_page("One.")}
    bring(project, tmp_path, {**SEE, **long})
    assert compared(project) == {(50, "I.50"), (100, "I.100")}
    assert compared(exported_twice(project, tmp_path)) == compared(project)


def test_bad_files_are_refused_together_or_left_out(project: Project, tmp_path: Path) -> None:
    files = {**SEE, "odd.html": see_page("One.")}
    before = row_counts()
    with pytest.raises(ImportRefused) as refused:
        bring(project, tmp_path, files)
    assert refused.value.message.startswith(f"{MODEL} and 2 more has 1 problem. Nothing was imported.")
    assert row_counts() == before
    report = bring(project, tmp_path, files, skip_invalid=True)
    assert report.rows_left_out == 1
    assert report.problems[0].file == "odd.html"
    assert Summary.objects.count() == 2


def test_mapping_is_for_files_of_rows(project: Project, tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="apply to files of rows"):
        bring(project, tmp_path, SEE, layout=layout_of(system="lead"))


def test_nothing_to_import_is_refused(project: Project) -> None:
    with pytest.raises(ImportRefused, match="There is no file to import"):
        import_files(project=project, files=[], by=None)


def test_several_files_of_rows_are_refused(project: Project, tmp_path: Path) -> None:
    flat = jsonl(tmp_path, row()).read_bytes()
    with pytest.raises(ImportRefused, match="Import CSV, JSON, JSONL and Parquet files one at a time"):
        bring(project, tmp_path, {"a.jsonl": flat, "b.jsonl": flat})


def test_units_beyond_a_cut_text_are_left_out(db: None, tmp_path: Path) -> None:
    project = Project.objects.create(slug="cut", name="Cut", over_length=Project.OverLength.TRUNCATE)
    # The target of 5 words ends inside the second unit.
    bring(
        project, tmp_path, {"peers/D1.M.005.J.7.html": see_page("One two three.", "Four five six.", "Seven.")}
    )
    assert pieces(the_peer("7")) == ["One two three.", "Four five"]


def test_a_pyramid_becomes_one_virtual_comparison_of_claims(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, PAN)
    assert report.format == "SEE HTML or DUCView"
    assert counted(report) == {
        "document_sets": (1, 0, 0),
        "systems": (1, 0, 0),
        "references": (1, 0, 0),
        "summaries": (1, 0, 0),
        "comparisons": (1, 0, 0),
        "claims": (18, 0, 0),
        "checks": (18, 0, 0),
        "verdicts": (18, 0, 0),
    }
    comparison = Comparison.objects.get()
    assert comparison.reference.external_id == "pyramid"
    assert ClaimSet.objects.get().summary == comparison.reference
    assert dict(Claim.objects.values_list("text", "weight")) == WEIGHTS
    assert not Claim.objects.filter(unit__isnull=False).exists()
    said = Verdict.objects.filter(label="yes").order_by("pk").values_list("check_row__claim__text", flat=True)
    assert sorted(said) == sorted([BRIDGE, REPAIR])
    assert set(Verdict.objects.values_list("origin_name", flat=True)) == {"import:D0901-A.M.100.F.12.pan"}
    assert set(Check.objects.values_list("final_source", flat=True)) == {"reviewer"}
    # The two expressed claims have a weight of 7, and all claims have 28.
    assert Score.objects.get().coverage == 0.25


def test_the_pyramid_may_come_alone(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, {"D0901-A.pyr": pyr()})
    assert counted(report)["claims"] == (18, 0, 0)
    assert not Comparison.objects.exists()

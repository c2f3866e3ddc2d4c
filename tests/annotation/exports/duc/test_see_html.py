"""SEE HTML out: what a reader of it gets, names that fit, and everything that the format does not hold."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from annotation.core.refusals import Invalid
from annotation.exports.manifest import Manifest
from annotation.exports.services import write_export
from annotation.imports.packages import NamedFile
from annotation.imports.services import import_files, import_new_project
from annotation.models import DocumentSet, Project, Summary, System, Unit
from tests.annotation.exports.acts import assess_and_close
from tests.annotation.imports.duc.packages import MODEL_UNITS, PEER_UNITS, pan, see_page, stored
from tests.annotation.imports.files import jsonl, row

if TYPE_CHECKING:
    from tests.annotation.cast import World


def exported(project: Project, folder: Path) -> tuple[dict[str, str], Manifest]:
    path = folder / "out.zip"
    manifest = write_export(project=project, level="see", path=path, by=None)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}, manifest


def left(manifest: Manifest) -> dict[str, int]:
    return {entry["what"]: entry["count"] for entry in manifest["left_out"]}


FILES = {
    "models/D061.M.050.J.I.html": see_page(*MODEL_UNITS),
    "peers/D061.M.050.J.19.html": see_page(*PEER_UNITS),
    "peers/D061.P.010.J.27.AP880911-0016.html": see_page("A “quoted” <b> & more."),
    "peers/D062.M.050.J.19.html": see_page(),
}


def test_what_was_read_is_written_again(db: None, tmp_path: Path) -> None:
    import_new_project(slug="duc", files=stored(tmp_path, FILES), by=None)
    pages, manifest = exported(Project.objects.get(slug="duc"), tmp_path)
    assert set(pages) == set(FILES)
    for name, page in FILES.items():
        assert pages[name].splitlines()[5:] == page.splitlines()[5:]
    assert manifest["rows"] == 4
    assert manifest["left_out"] == []
    assert manifest["renamed"] == []


def test_a_zip_goes_round(world: World, tmp_path: Path) -> None:
    exported(world.project, tmp_path)
    again = Project.objects.create(slug="again", name="Again")
    import_files(project=again, files=[NamedFile("out.zip", tmp_path / "out.zip")], by=None)

    def units(project: Project, **of: bool) -> list[str]:
        rows = Unit.objects.filter(summary__document_set__project=project, **of).select_related("summary")
        return sorted(unit.summary.text[unit.start : unit.end] for unit in rows if unit.summary)

    for of in ({"summary__is_model": True}, {"summary__is_peer": True}):
        assert units(again, **of) == units(world.project, **of)


def test_names_that_do_not_fit_are_mapped_and_told(db: None, tmp_path: Path) -> None:
    flat = jsonl(
        tmp_path,
        row(document_id="a set/1", system="gpt 4", reference_id="r.1", reference_author="Ada Writer"),
        row(document_id="a set 1", system="7", target_words=..., reference=...),
    )
    import_new_project(slug="own", path=flat, by=None)
    pages, manifest = exported(Project.objects.get(slug="own"), tmp_path)
    assert set(pages) == {
        "models/a-set-1-2.M.000.X.A.html",
        "peers/a-set-1-2.M.010.X.1.html",
        "peers/a-set-1.M.000.X.7.html",
    }
    assert manifest["renamed"] == [
        {"kind": "set", "ours": "a set 1", "theirs": "a-set-1"},
        {"kind": "set", "ours": "a set/1", "theirs": "a-set-1-2"},
        {"kind": "system", "ours": "Ada Writer", "theirs": "A"},
        {"kind": "system", "ours": "gpt 4", "theirs": "1"},
    ]
    assert left(manifest)["summaries without a target length, written as 000"] == 2
    assert left(manifest)["source documents"] == 2


def test_one_of_several_documents_of_a_group_is_named_with_it(db: None, tmp_path: Path) -> None:
    import_new_project(
        slug="own", path=jsonl(tmp_path, row(group="D7", document_id="AP.1", reference=...)), by=None
    )
    pages, _ = exported(Project.objects.get(slug="own"), tmp_path)
    assert list(pages) == ["peers/D7.P.010.X.1.AP.1.html"]


def test_two_references_by_one_person_have_names_of_their_own(db: None, tmp_path: Path) -> None:
    flat = jsonl(
        tmp_path,
        row(reference_id="one", reference_author="A", reference="One."),
        row(reference_id="two", reference_author="A", reference="Two."),
    )
    import_new_project(slug="own", path=flat, by=None)
    pages, manifest = exported(Project.objects.get(slug="own"), tmp_path)
    models = {name: page for name, page in pages.items() if name.startswith("models/")}
    assert set(models) == {"models/d1.M.000.X.A.html", "models/d1.M.000.X.B.html"}
    assert {"kind": "reference_id", "ours": "two", "theirs": "B"} in manifest["renamed"]


def test_line_breaks_weights_and_judgments_are_named(world: World, tmp_path: Path) -> None:
    assess_and_close(
        world, world.ana, {("alder", 1): 40, ("alder", 2): 40, ("birch", 1): 0, ("birch", 2): 20}
    )
    model = world.models["port"]
    model.units.filter(position=1).update(weight=3)
    peer = world.peers["bridge", "alder"]
    Summary.objects.filter(pk=peer.pk).update(text=peer.text.replace(" in April", "\nin April"))
    pages, manifest = exported(world.project, tmp_path)
    told = left(manifest)
    assert told["percents of assessors, with their marks and notes"] == 4
    assert told["weights of units other than 1"] == 1
    assert told["units with line breaks, written with spaces"] == 1
    assert told["claims"] == 3
    assert told["verdicts on claims"] == 6
    assert "closes in April." in pages["peers/bridge.M.020.X.1.html"]


def test_pyramids_are_not_written_as_summaries(db: None, tmp_path: Path) -> None:
    import_new_project(slug="p", files=stored(tmp_path, {"D0901-A.M.100.F.12.pan": pan()}), by=None)
    pages, manifest = exported(Project.objects.get(slug="p"), tmp_path)
    assert sorted(pages) == [
        *(f"models/D0901-A.M.100.F.{name}.html" for name in "GHIJ"),
        "peers/D0901-A.M.100.F.12.html",
    ]
    assert left(manifest)["pyramids"] == 1


def test_the_format_need_not_be_named_and_cannot_be_another(world: World, tmp_path: Path) -> None:
    path = tmp_path / "out.zip"
    assert (
        write_export(project=world.project, level="see", format="html", path=path, by=None)["format"]
        == "html"
    )
    with pytest.raises(Invalid, match="is written as html alone"):
        write_export(project=world.project, level="see", format="csv", path=path, by=None)


def test_the_same_export_is_the_same_file(world: World, tmp_path: Path) -> None:
    first, second = (
        write_export(project=world.project, level="see", path=tmp_path / f"{number}.zip", by=None)["sha256"]
        for number in range(2)
    )
    assert first == second


def test_people_and_systems_never_share_a_name(db: None, tmp_path: Path) -> None:
    project = Project.objects.create(slug="p", name="P")
    document_set = DocumentSet.objects.create(project=project, external_id="d")
    for name, kind in (
        ("1", "person"),
        ("A", "summariser"),
        ("2", "summariser"),
        ("B", "person"),
        ("x", "person"),
    ):
        system = System.objects.create(project=project, name=name, kind=kind)
        Summary.objects.create(
            document_set=document_set, system=system, is_peer=True, target_words=10, text="One."
        )
    pages, _ = exported(project, tmp_path)
    # "2" and "B" fit; the person "1" and then "x" get A and C, the summariser "A" gets 1.
    assert sorted(name.split(".")[4] for name in pages) == ["1", "2", "A", "B", "C"]

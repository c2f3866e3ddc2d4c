"""DUCView's files out: what a pyramid was, what stands of it, and what such files cannot say."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from annotation.core.refusals import Invalid
from annotation.exports.manifest import Manifest
from annotation.exports.services import write_export
from annotation.imports.duc.pyramid import read_ducview
from annotation.imports.packages import NamedFile
from annotation.imports.services import import_files, import_new_project
from annotation.models import Check, Claim, Project, Score, Summary
from annotation.reviewing.services.review import override
from tests.annotation.cast import World
from tests.annotation.imports.duc.packages import BRIDGE, BUSES, END, MAYOR, PEER_LINES, pan, pyr, stored

NAME = "D0901-A.M.100.F.12.pan"


def exported(project: Project, folder: Path) -> tuple[dict[str, bytes], Manifest]:
    path = folder / "out.zip"
    manifest = write_export(project=project, level="pyramid", path=path, by=None)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}, manifest


def left(manifest: Manifest) -> dict[str, int]:
    return {entry["what"]: entry["count"] for entry in manifest["left_out"]}


@pytest.fixture
def project(world: World, tmp_path: Path) -> Project:
    """Of the cast, with nothing but a pyramid and an annotated peer in it."""
    import_new_project(
        slug="p", files=stored(tmp_path, {NAME: pan(unmatched=["Fish were seen"], drift=4)}), by=None
    )
    project = Project.objects.get(slug="p")
    world.project.memberships.update(project=project)
    return project


def test_what_was_read_is_written_again(project: Project, tmp_path: Path) -> None:
    files, manifest = exported(project, tmp_path)
    assert set(files) == {"D0901-A.pyr", NAME}
    # The offsets that had drifted are right in what is written.
    for name, original in (("D0901-A.pyr", pyr()), (NAME, pan(unmatched=["Fish were seen"]))):
        made, wanted = read_ducview(files[name]), read_ducview(original.encode())
        assert made.repaired == ()
        assert (made.text, made.pyramid, made.models) == (wanted.text, wanted.pyramid, wanted.models)
        assert (made.peer_text, made.annotation) == (wanted.peer_text, wanted.annotation)
    assert manifest["rows"] == 2


def test_files_go_round(project: Project, tmp_path: Path) -> None:
    exported(project, tmp_path)
    again = Project.objects.create(slug="again", name="Again")
    import_files(project=again, files=[NamedFile("out.zip", tmp_path / "out.zip")], by=None)
    scores = [Score.objects.get(project=each).coverage for each in (project, again)]
    assert scores == [0.25, 0.25]


def test_what_a_person_corrected_is_written(project: Project, world: World, tmp_path: Path) -> None:
    def check(label: str) -> Check:
        return Check.objects.select_related("project", "peer", "claim").get(claim__text=label)

    override(check=check(BRIDGE), by=world.rex, label="no")
    override(check=check(BUSES), by=world.rex, label="yes", evidence=[3])
    override(check=check(MAYOR), by=world.rex, label="yes")
    override(check=check(END), by=world.rex, label="unsure")
    files, manifest = exported(project, tmp_path)
    made = read_ducview(files[NAME])
    assert made.annotation is not None
    by_label = {unit.label: made.annotation.expressed.get(unit.uid, ()) for unit in made.pyramid.units}
    assert by_label[BRIDGE] == ()
    assert [part.label for part in by_label[BUSES][0].parts] == [PEER_LINES[2]]
    assert [contributor.label for contributor in by_label[MAYOR]] == [MAYOR]
    told = left(manifest)
    assert told["expressed content units of which only whole peer units are known, written as parts"] == 1
    assert told["expressed content units whose place is not known, written with their own label"] == 1
    assert told["verdicts of unsure, written as not expressed"] == 1
    assert told["verdicts: only what stands in the end is written, not who said so, why and when"] == 22


def test_a_pyramid_whose_claims_changed_is_left_out_and_told(project: Project, tmp_path: Path) -> None:
    Claim.objects.filter(text=BRIDGE).update(text="The bridge was shut")
    files, manifest = exported(project, tmp_path)
    assert files == {}
    assert left(manifest)["pyramids whose claims were changed since: not written"] == 1


def test_a_project_without_pyramids_is_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="has no pyramid to export"):
        exported(world.project, tmp_path)
    assert not (tmp_path / "out.zip").exists()


def test_other_model_summaries_are_named(project: Project, tmp_path: Path) -> None:
    _, manifest = exported(project, tmp_path)
    assert left(manifest)["model summaries that stand for no imported pyramid"] == 4


def test_pyramids_of_several_lengths_have_names_of_their_own(project: Project, tmp_path: Path) -> None:
    Summary.objects.filter(external_id="pyramid").update(target_words=100)
    other = pyr().replace(".M.100.", ".M.200.")
    import_files(project=project, files=stored(tmp_path, {"D0901-A.pyr": other}), by=None)
    files, _ = exported(project, tmp_path)
    assert set(files) == {"D0901-A.pyr", "D0901-A.200.pyr", NAME}


def test_a_text_that_xml_cannot_hold_is_made_readable(project: Project, tmp_path: Path) -> None:
    Summary.objects.filter(is_peer=True).update(text="A \x07 & <b> \r\nline.")
    files, _ = exported(project, tmp_path)
    assert read_ducview(files[NAME]).peer_text == "A   & <b>  \nline."

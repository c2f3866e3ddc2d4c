"""The table of DUC 2002 from our own judgments: the known line, to the letter, and what a table cannot carry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from annotation.assessing.services.acts import QualityAct, UnitAct, UnmarkedAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.close_sitting import close_sitting
from annotation.assessing.services.save_acts import save_at_once
from annotation.exports.duc.nist_2002 import HEADER
from annotation.exports.manifest import Manifest
from annotation.exports.services import write_export
from annotation.imports.packages import NamedFile
from annotation.imports.services import import_files, import_new_project
from annotation.models import Membership, Project, PublishedScore, Role, Sitting, Summary, System
from evaluation.metrics import quality_questions
from tests.annotation.cast import World
from tests.annotation.exports.acts import assess_and_close
from tests.annotation.imports.duc.packages import MODEL_UNITS, ROW_2002, see_page, stored

# Five units of 47 words: 9 + 9 + 9 + 9 + 11.
PEER = tuple(" ".join(["word"] * words) + "." for words in (9, 9, 9, 9, 11))
PERCENTS = (0, 0, 0, 60, 60, 60, 100)
MARKS = ((), (), (), (1,), (2, 3), (3, 4), (4, 5))
QUALITY = (0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0)


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    files = {
        "models/D061.M.050.J.I.html": see_page(*MODEL_UNITS),
        "peers/D061.M.050.J.19.html": see_page(*PEER),
    }
    import_new_project(slug="duc", files=stored(tmp_path, files), by=None)
    project = Project.objects.get(slug="duc")
    project.question_set = Project.QuestionSet.DUC_2002
    project.save()
    ida = User.objects.create_user("ida")
    Membership.objects.create(project=project, user=ida, roles=[Role.ASSESSOR])
    System.objects.filter(name="I").update(person=ida)
    return project


def judged(
    project: Project, *, marks: tuple[tuple[int, ...], ...] = MARKS, unmarked: int | None = None
) -> Sitting:
    """Everything that Ida says of peer 19, closed."""
    ida = User.objects.get(username="ida")
    document_set = project.document_sets.get()
    sitting = assign(document_set=document_set, assessor=ida, by=None)
    assignment = sitting.assignments.get()
    questions = [question.id for question in quality_questions("duc2002")]
    acts: list[QualityAct | UnitAct | UnmarkedAct] = [
        QualityAct(0, assignment.public_id, question, answer)
        for question, answer in zip(questions, QUALITY, strict=True)
    ]
    units = Summary.objects.get(is_model=True).units.order_by("position")
    acts += [
        UnitAct(0, assignment.public_id, unit.public_id, percent, marked)
        for unit, percent, marked in zip(units, PERCENTS, marks, strict=True)
    ]
    if unmarked is not None:
        acts.append(UnmarkedAct(0, assignment.public_id, unmarked))
    for act in acts:
        save_at_once(sitting=sitting, by=ida, acts=[act])
    return close_sitting(sitting=sitting, by=ida)


def table(project: Project, folder: Path) -> tuple[list[str], Manifest]:
    path = folder / "out.txt"
    manifest = write_export(project=project, level="nist2002", path=path, by=None)
    return path.read_text().splitlines(), manifest


def left(manifest: Manifest) -> dict[str, int]:
    return {entry["what"]: entry["count"] for entry in manifest["left_out"]}


def test_the_known_line_comes_out_to_the_letter(project: Project, tmp_path: Path) -> None:
    # Seven percents, 47 words of 50: .400 .600 .400 .287 .420 .267, as NIST published them.
    judged(project)
    lines, manifest = table(project, tmp_path)
    assert lines[37:] == [ROW_2002]
    assert (manifest["rows"], manifest["format"], manifest["renamed"]) == (1, "table", manifest["renamed"])
    assert [entry["theirs"] for entry in manifest["renamed"]] == ["I"]


def test_the_header_has_the_lines_that_parsers_pass_over() -> None:
    assert len(HEADER) == 37
    # Another one passes over everything up to the first empty line.
    assert HEADER.index("") == 36


def test_the_table_can_be_read_again(project: Project, tmp_path: Path) -> None:
    judged(project)
    table(project, tmp_path)
    report = import_files(project=project, files=[NamedFile("out.txt", tmp_path / "out.txt")], by=None)
    assert report.counts.published_scores.created == 1
    line = PublishedScore.objects.get()
    assert (line.mean, line.peer) == (0.4, Summary.objects.get(is_peer=True))


def test_unmarked_units_are_counted_with_their_share(project: Project, tmp_path: Path) -> None:
    judged(project, marks=((), (), (), (1,), (1,), (1,), (2,)), unmarked=80)
    (line,) = table(project, tmp_path)[0][37:]
    assert line.split()[22:27] == ["0.80", "5", "2", "3", "7"]


def test_what_a_table_cannot_carry_is_named(project: Project, tmp_path: Path) -> None:
    judged(project)
    told = left(table(project, tmp_path)[1])
    assert told == {
        "percents and marks of single units: a line has their mean, median and deviation": 7,
    }


def test_names_that_do_not_fit_are_mapped_and_told(world: World, tmp_path: Path) -> None:
    world.project.percent_scale = Project.PercentScale.FREE
    world.project.save()
    assess_and_close(
        world, world.ana, {("alder", 1): 50, ("alder", 2): 100, ("birch", 1): 0, ("birch", 2): 20}
    )
    lines, manifest = table(world.project, tmp_path)
    rows = [line.split() for line in lines[37:]]
    assert [row[:9] for row in rows] == [
        ["port", "M", "-" * 15, "020", "13", "X", "A", "B", "1"],
        ["port", "M", "-" * 15, "020", "11", "X", "A", "B", "2"],
    ]
    assert [row[9:22] for row in rows] == [["0", *["-"] * 12]] * 2
    # Coverage (.5 + 1) / 2; brevity (20 - 13) / 20 = .35; 2/3 * .75 + 1/3 * .35 = .617.
    assert rows[0][27:28] + rows[0][30:31] == ["0.750", "0.617"]
    assert {(entry["kind"], entry["ours"], entry["theirs"]) for entry in manifest["renamed"]} >= {
        ("system", "alder", "1"),
        ("system", "birch", "2"),
        ("reference_id", "(none)", "A"),
    }
    told = left(manifest)
    assert told["lines without quality answers of DUC 2002"] == 2
    assert told["percents other than 0, 20, 40, 60, 80 and 100, which are in the means all the same"] == 1
    assert told["sets without a selector's letter, written as X"] == 1
    assert told["verdicts on claims"] == 6
    assert told["source documents"] == 2


def test_people_are_letters_and_no_names(world: World, tmp_path: Path) -> None:
    assess_and_close(
        world, world.ana, {("alder", 1): 40, ("alder", 2): 40, ("birch", 1): 0, ("birch", 2): 20}
    )
    lines, manifest = table(world.project, tmp_path)
    assert not re.search(r"\bana\b", " ".join(lines))
    assert "ana" not in {entry["ours"] for entry in manifest["renamed"]}


def test_open_work_is_not_in_it(project: Project, tmp_path: Path) -> None:
    ida = User.objects.get(username="ida")
    assign(document_set=project.document_sets.get(), assessor=ida, by=None)
    lines, manifest = table(project, tmp_path)
    assert (lines[37:], manifest["rows"]) == ([], 0)

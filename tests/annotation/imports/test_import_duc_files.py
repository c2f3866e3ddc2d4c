"""Files of DUC and TAC brought into a project: SEE's HTML, NIST's tables, DUCView's pyramids, together and again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.core.management import call_command

from annotation.analysis.explanation.explanation import explain
from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.imports.problems import ImportRefused
from annotation.imports.services import ImportReport, import_files, import_new_project
from annotation.models import (
    Check,
    Claim,
    ClaimSet,
    Comparison,
    Document,
    DocumentSet,
    Event,
    Project,
    PublishedPercent,
    PublishedScore,
    Score,
    Sitting,
    Summary,
    System,
    Verdict,
)
from annotation.models.pyramid import own_metadata, peer_annotation_of, pyramid_of
from annotation.scoring.published import published_means, published_of
from annotation.scoring.records import score_rules, summary_records
from evaluation.blend import score
from tests.annotation.cast import finish
from tests.annotation.imports.duc.packages import (
    BRIDGE,
    MODEL_UNITS,
    PEER_LINES,
    PEER_UNITS,
    REPAIR,
    ROW_2001,
    ROW_2002,
    WEIGHTS,
    pan,
    pyr,
    row_2002,
    see_page,
    stored,
    zipped,
)
from tests.annotation.imports.files import jsonl, row

if TYPE_CHECKING:
    from tests.annotation.cast import World

MODEL = "models/D061.M.050.J.I.html"
PEER = "peers/D061.M.050.J.19.html"
SEE = {MODEL: see_page(*MODEL_UNITS), PEER: see_page(*PEER_UNITS)}
SEE_2001 = {
    "models/D04.M.050.A.A.html": see_page("It rained.", "Trams stopped."),
    "peers/D04.M.050.A.1.html": see_page("Rain fell.", "Nothing moved."),
}
PAN = {"D0901-A.M.100.F.12.pan": pan(unmatched=["Fish were seen"])}


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(slug="duc", name="DUC")


def bring(project: Project, folder: Path, files: Mapping[str, str | bytes], **choices: Any) -> ImportReport:
    return import_files(project=project, files=stored(folder, files), by=None, **choices)


def counted(report: ImportReport) -> dict[str, tuple[int, int, int]]:
    counts = {
        kind: (count.created, count.changed, count.unchanged) for kind, count in report.counts.by_kind.items()
    }
    return {kind: count for kind, count in counts.items() if any(count)}


def row_counts() -> dict[str, int]:
    return {
        model.__name__: model._default_manager.count()
        for model in apps.get_app_config("annotation").get_models()
    }


def the_peer(system: str = "19") -> Summary:
    return Summary.objects.get(is_peer=True, system__name=system)


def pieces(summary: Summary) -> list[str]:
    return [summary.text[unit.start : unit.end] for unit in summary.units.order_by("position")]


# SEE's HTML


def test_see_files_become_summaries_with_their_own_units(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, SEE)
    assert report.format == "SEE HTML"
    assert counted(report) == {
        "document_sets": (1, 0, 0),
        "systems": (1, 0, 0),
        "reference_authors": (1, 0, 0),
        "model_summaries": (1, 0, 0),
        "peer_summaries": (1, 0, 0),
        "comparisons": (1, 0, 0),
    }
    model = Summary.objects.get(is_model=True)
    assert (model.external_id, model.target_words) == ("I", 50)
    assert pieces(model) == list(MODEL_UNITS)
    assert pieces(the_peer()) == list(PEER_UNITS)
    kinds = dict(System.objects.values_list("name", "kind"))
    assert kinds == {"I": System.Kind.PERSON, "19": System.Kind.SUMMARISER}
    (row,) = DocumentSet.objects.all()
    assert (row.external_id, row.metadata) == ("D061", {"summary_type": "M", "selector": "J"})


def test_a_second_import_changes_nothing(project: Project, tmp_path: Path) -> None:
    files = {**SEE, **PAN, "short.results.table": ROW_2002 + "\n", "results1_table.txt": ROW_2001, **SEE_2001}
    bring(project, tmp_path, files)
    before = row_counts()
    report = bring(project, tmp_path, files)
    assert not report.counts.has_changes
    assert row_counts() == before


def test_everything_at_once_in_a_zip(project: Project, tmp_path: Path) -> None:
    files = {**SEE, **PAN, "short.results.table": ROW_2002 + "\n", "README.txt": "notes"}
    report = import_files(project=project, files=[zipped(tmp_path, files)], by=None)
    assert (report.file, report.format) == ("duc.zip", "files of several formats")
    assert report.counts.peer_summaries.created == 2
    assert report.counts.published_scores.created == 1
    assert report.warnings[0] == "Not read, since they are of none of these formats: README.txt."
    event = Event.objects.get(verb="import")
    assert event.data["created"]["published_scores"] == 1


def test_a_new_project_is_made_with_the_files(db: None, tmp_path: Path) -> None:
    report = import_new_project(slug="new", files=stored(tmp_path, SEE), by=None)
    assert report.counts.comparisons.created == 1
    assert pieces(the_peer()) == list(PEER_UNITS)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_dry_run_writes_nothing(db: None, tmp_path: Path, is_new: bool) -> None:
    files = stored(tmp_path, {**SEE, **PAN, **SEE_2001, "results1_table.txt": ROW_2001})
    if is_new:
        report = import_new_project(slug="new", files=files, by=None, dry_run=True)
    else:
        there = Project.objects.create(slug="there", name="There")
        before = row_counts()
        report = import_files(project=there, files=files, by=None, dry_run=True)
        assert row_counts() == before
    assert report.counts.published_percents.created == 2
    assert not Summary.objects.exists()


def test_peers_may_come_after_their_models(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, {MODEL: SEE[MODEL]})
    report = bring(project, tmp_path, {PEER: SEE[PEER], "peers/D061.M.100.J.19.html": see_page("One.")})
    # The peer of 100 words has no model summary of its length.
    assert report.counts.comparisons.created == 1
    assert Comparison.objects.get().peer == Summary.objects.get(is_peer=True, target_words=50)


def test_a_person_is_not_held_against_the_own_model_summary(project: Project, tmp_path: Path) -> None:
    files = {MODEL: SEE[MODEL], "peers/D061.M.050.J.I.html": see_page(" ".join(MODEL_UNITS))}
    bring(project, tmp_path, files)
    # The same words cut otherwise: two summaries, and no comparison of a text with itself.
    assert Summary.objects.count() == 2
    assert not Comparison.objects.exists()


def test_texts_that_are_there_are_cut_as_see_cuts_them(project: Project, tmp_path: Path) -> None:
    text = "It rained in\nOslo, and trams stopped. Shops closed."
    flat = jsonl(tmp_path, row(document_id="d1j", summary=text, system="7", target_words=50, reference=...))
    import_new_project(slug="x", path=flat, by=None)
    there = Project.objects.get(slug="x")
    assert pieces(the_peer("7")) == ["It rained in", "Oslo, and trams stopped.", "Shops closed."]
    units = ("It rained in Oslo,", "and trams stopped.", "Shops closed.")
    report = bring(there, tmp_path, {"D1.M.050.J.7.html": see_page(*units)})
    assert "The set 'D1' is 'd1j' in the project." in report.warnings
    assert counted(report)["peer_summaries"] == (0, 1, 0)
    peer = the_peer("7")
    assert peer.text == text
    assert pieces(peer) == ["It rained in\nOslo,", "and trams stopped.", "Shops closed."]
    assert Document.objects.filter(document_set=peer.document_set).count() == 1


def test_units_that_were_joined_give_way_to_the_files(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, SEE)
    model = Summary.objects.get(is_model=True)
    model.units.filter(position__lte=2).delete()
    bring(project, tmp_path, SEE)
    assert pieces(model) == list(MODEL_UNITS)


def test_units_that_were_judged_stay(world: World, tmp_path: Path) -> None:
    bring(world.project, tmp_path, SEE)
    document_set = DocumentSet.objects.get(external_id="D061")
    sitting = assign(document_set=document_set, assessor=world.ana, by=world.mona)
    model = Summary.objects.get(is_model=True, document_set=document_set)
    unit = model.units.order_by("position")[0]
    judge_unit(assignment=sitting.assignments.get(), by=world.ana, unit_id=unit.public_id, percent=40)
    before = pieces(model)
    for name, page, reason in (
        (
            MODEL,
            see_page(" ".join(MODEL_UNITS[:2]), *MODEL_UNITS[2:]),
            "has different units from the project's text",
        ),
        (MODEL, see_page("Another text."), "differs from the project's text"),
    ):
        with pytest.raises(ImportRefused) as refused:
            bring(world.project, tmp_path, {name: page})
        assert reason in refused.value.problems[0].describe()
        assert refused.value.problems[0].file == MODEL
    assert pieces(model) == before


def test_an_open_form_is_told_that_its_units_are_others(world: World, tmp_path: Path) -> None:
    bring(world.project, tmp_path, SEE)
    sitting = assign(
        document_set=DocumentSet.objects.get(external_id="D061"), assessor=world.ana, by=world.mona
    )
    Sitting.objects.filter(pk=sitting.pk).update(pen="tab", pen_seq=3)
    bring(world.project, tmp_path, {MODEL: see_page(" ".join(MODEL_UNITS[:2]), *MODEL_UNITS[2:])})
    sitting.refresh_from_db()
    assert sitting.pen not in ("", "tab")
    assert Summary.objects.get(is_model=True, external_id="I").units.count() == 6


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
    with pytest.raises(ImportRefused, match="are for files of rows"):
        bring(project, tmp_path, SEE, claims_side="peer")


def test_nothing_to_import_is_refused(project: Project) -> None:
    with pytest.raises(ImportRefused, match="There is no file to import"):
        import_files(project=project, files=[], by=None)


def test_several_files_of_rows_are_refused(project: Project, tmp_path: Path) -> None:
    flat = jsonl(tmp_path, row()).read_bytes()
    with pytest.raises(ImportRefused, match="are imported one at a time, by themselves"):
        bring(project, tmp_path, {"a.jsonl": flat, "b.jsonl": flat})


def test_units_beyond_a_cut_text_are_left_out(db: None, tmp_path: Path) -> None:
    project = Project.objects.create(slug="cut", name="Cut", over_length=Project.OverLength.TRUNCATE)
    # The target of 5 words ends within the second unit.
    bring(
        project, tmp_path, {"peers/D1.M.005.J.7.html": see_page("One two three.", "Four five six.", "Seven.")}
    )
    assert pieces(the_peer("7")) == ["One two three.", "Four five"]


# NIST's tables


def test_figures_of_whole_summaries_stand_beside_ours(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, {**SEE, "short.results.table": ROW_2002 + "\n"})
    assert report.counts.published_scores.created == 1
    line = PublishedScore.objects.get()
    assert line.peer == the_peer()
    assert (line.mean, line.assessor, line.origin_name, line.line) == (0.4, "I", "short.results.table", 1)
    assert Score.objects.get().coverage is None
    (shown,) = published_of(the_peer())
    assert dict(shown.figures)["Length-adjusted mean"] == "0.287"
    assert dict(shown.figures)["Quality answers"] == "0 0 0 0 0 0 0 0 1 0 1 0"


def test_unit_scores_of_2001_count_as_an_assessors(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, {**SEE_2001, "results1_table.txt": ROW_2001 + "\n"})
    assert report.counts.published_percents.created == 2
    percents = PublishedPercent.objects.order_by("unit__position").values_list("unit__position", "percent")
    assert list(percents) == [(1, 0), (2, 50)]
    # C = (0 + 2) / 4 / 2 = .25
    stored_score = Score.objects.get()
    assert (stored_score.coverage, stored_score.coverage_human, stored_score.human_share) == (0.25, 0.25, 1.0)
    call_command("verify_scores", project.slug, stdout=StringIO())
    peer = the_peer("1")
    record = next(summary_records(project, [peer.pk]))
    made = explain(project, peer, record.value, score(record.value, score_rules(project)))
    said = [percent for unit in made.comparisons[0].units for percent in unit.percents]
    assert [(percent.who, percent.percent) for percent in said] == [
        ("import:results1_table.txt A", 0),
        ("import:results1_table.txt A", 50),
    ]


def test_a_table_without_texts_is_kept_and_counts_when_they_come(project: Project, tmp_path: Path) -> None:
    table = {"results1_table.txt": ROW_2001 + "\n"}
    report = bring(project, tmp_path, table)
    assert counted(report) == {"published_scores": (1, 0, 0)}
    assert any(
        "1 of 1 lines are about summaries that the project does not have" in w for w in report.warnings
    )
    bring(project, tmp_path, SEE_2001)
    report = bring(project, tmp_path, table)
    assert counted(report) == {"published_scores": (0, 1, 0), "published_percents": (2, 0, 0)}
    assert Score.objects.get().coverage == 0.25
    assert counted(bring(project, tmp_path, table)) == {
        "published_scores": (0, 0, 1),
        "published_percents": (0, 0, 2),
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (ROW_2001.replace("A A A 1", "A B A 1"), "no model summaries by their author are compared with them"),
        (
            ROW_2001.replace("2 2 1 0 0 - 1 2 1", "3 2 1 0 0 - 1 2 1 2 0 -"),
            "the model summary has another number of units",
        ),
    ],
)
def test_unit_scores_that_fit_no_units_are_kept_and_do_not_count(
    project: Project, tmp_path: Path, line: str, reason: str
) -> None:
    report = bring(project, tmp_path, {**SEE_2001, "results1_table.txt": line + "\n"})
    assert any(f"kept and do not count: {reason}" in warning for warning in report.warnings)
    assert PublishedScore.objects.count() == 1
    assert not PublishedPercent.objects.exists()


MARKS_BEYOND = "D061 M --- 050 J B E 19 4 3 4 1 2 1 3 1 1 0 4 9 1 2 1 2 0 -"
MARKS_THERE = "D061 M --- 050 J B E 20 4 3 4 1 2 1 3 2 1 0 4 2 1 2 1 2 0 -"


@pytest.mark.parametrize("is_told", [True, False])
def test_marks_of_units_that_are_not_there_are_left_out(
    project: Project, tmp_path: Path, is_told: bool
) -> None:
    texts = {
        "models/D061.M.050.J.B.html": see_page("It rained.", "Trams stopped.", "Shops closed."),
        "peers/D061.M.050.J.19.html": see_page("Rain fell.", "Nothing moved."),
        "peers/D061.M.050.J.20.html": see_page("Rain fell.", "No trams ran."),
    }
    bring(project, tmp_path, texts)
    # The other summary marks the second of two units: the table counts from 1.
    lines = [MARKS_BEYOND, MARKS_THERE] if is_told else [MARKS_BEYOND]
    report = bring(project, tmp_path, {"results1_table.txt": "\n".join(lines)})
    found = PublishedPercent.objects.filter(score__system="19").order_by("unit__position")
    assert list(found.values_list("percent", "marks")) == [(100, []), (50, []), (0, [])]
    assert [warning for warning in report.warnings if "column 19" in warning] == [
        "results1_table.txt, line 1, column 19: marks peer unit 9, and the summary of '19' has 2 units. The unit "
        "scores of the line count without its marks."
    ]
    others = PublishedPercent.objects.filter(score__system="20").order_by("unit__position")
    assert list(others.values_list("marks", flat=True)) == ([[2], [1], []] if is_told else [])


def test_lines_that_a_table_no_longer_holds_are_taken_away(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, {"t": f"{ROW_2002}\n{row_2002(c8='20')}\n", "u": row_2002(c8="21") + "\n"})
    report = bring(project, tmp_path, {"t": ROW_2002 + "\n"})
    assert any(warning.startswith("t: it no longer holds line 2 of what") for warning in report.warnings)
    assert (report.counts.published_scores.removed, report.counts.published_scores.unchanged) == (1, 1)
    assert list(PublishedScore.objects.values_list("origin_name", "line")) == [("t", 1), ("u", 1)]
    assert Event.objects.filter(verb="import").latest("pk").data["removed"] == {"published_scores": 1}


def test_a_dry_run_tells_what_would_be_taken_away_and_leaves_it(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, {"t": f"{ROW_2002}\n{row_2002(c8='20')}\n"})
    report = bring(project, tmp_path, {"t": ROW_2002 + "\n"}, dry_run=True)
    assert report.counts.published_scores.removed == 1
    assert PublishedScore.objects.count() == 2


def test_nothing_is_taken_away_where_rows_were_left_out(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, {"t": f"{ROW_2002}\n{row_2002(c8='20')}\n"})
    report = bring(project, tmp_path, {"t": f"{ROW_2002}\n{row_2002(c27='7')}\n"}, skip_invalid=True)
    assert any("They stay, because rows were left out" in warning for warning in report.warnings)
    assert PublishedScore.objects.count() == 2


def test_scores_follow_unit_scores_that_are_taken_away(project: Project, tmp_path: Path) -> None:
    other = ROW_2001.replace("D04", "D05", 1)
    bring(project, tmp_path, {**SEE_2001, "results1_table.txt": f"{other}\n{ROW_2001}\n"})
    assert Score.objects.get().coverage == 0.25
    report = bring(project, tmp_path, {"results1_table.txt": other + "\n"})
    assert (report.counts.published_scores.removed, report.counts.published_percents.removed) == (1, 2)
    assert Score.objects.get().coverage is None


def test_a_corrected_line_replaces_its_percents(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, {**SEE_2001, "results1_table.txt": ROW_2001 + "\n"})
    report = bring(project, tmp_path, {"results1_table.txt": ROW_2001.replace("1 2 1", "1 4 1") + "\n"})
    assert counted(report) == {"published_scores": (0, 1, 0), "published_percents": (2, 0, 0)}
    assert Score.objects.get().coverage == 0.5
    assert PublishedScore.objects.get().mean == 0.5


def test_the_same_lines_in_another_file_are_not_taken_twice(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, {"a.table": ROW_2002 + "\n"})
    report = bring(project, tmp_path, {"b.table": ROW_2002 + "\n"})
    assert counted(report) == {"published_scores": (0, 0, 1)}
    assert "b.table: 1 lines are in the project already, from a.table." in report.warnings


def test_other_unit_scores_by_the_same_assessor_are_refused(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, {**SEE_2001, "a.txt": ROW_2001 + "\n"})
    with pytest.raises(ImportRefused) as refused:
        bring(project, tmp_path, {"b.txt": ROW_2001.replace("1 2 1", "1 4 1") + "\n"})
    assert "holds other scores by assessor 'A' for a summary than a.txt" in refused.value.problems[0].reason
    assert Score.objects.get().coverage == 0.25


def test_a_line_finds_its_summary_under_other_names(project: Project, tmp_path: Path) -> None:
    # D061 by selector J is d061j here; the document of a table of usefulness has lost its full stop.
    flat = jsonl(
        tmp_path,
        row(document_id="d061j", system="19", target_words=50, reference=...),
        row(document_id="NYT19990925.0263", system="7", target_words=..., reference=...),
    )
    import_new_project(slug="own", path=flat, by=None)
    own = Project.objects.get(slug="own")
    files = {"t": ROW_2002 + "\n", "results.table.U.paired": "d1 NYT199909250263 t 7 A 2 B 1\n"}
    report = bring(own, tmp_path, files)
    assert not any("does not have" in warning for warning in report.warnings)
    found = dict(PublishedScore.objects.values_list("table", "peer__document_set__external_id"))
    assert found == {"2002": "d061j", "U": "NYT19990925.0263"}


def test_judged_by_a_table_is_judged(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, {**SEE_2001, "results1_table.txt": ROW_2001 + "\n"})
    with pytest.raises(ImportRefused, match="Nothing was imported"):
        bring(project, tmp_path, {"models/D04.M.050.A.A.html": see_page("It rained. Trams stopped.")})


def test_means_of_systems(project: Project, tmp_path: Path) -> None:
    lines = (
        row_2002(),
        # A second assessor of the same summary: .4 and .6 make .5 for the set.
        row_2002(c7="K", c27="0.600", c30="0.420"),
        row_2002(c0="D062", c27="0.100", c30="0.087"),
        row_2002(c0="D062", c8="20", c27="0.900", c30="0.620"),
        row_2002(c0="D062", c3="100", c4="100", c27="0.300", c30="0.200"),
    )
    files = {"t": "\n".join(lines), "results.table.R.x": "d1 t 7 A 3 B 2\nd2 t 7 A 1 B 1\n"}
    bring(project, tmp_path, files)
    found = [
        (row.table, row.target_words, row.system, row.mean, row.scores, row.sets, row.lines)
        for row in published_means(project)
    ]
    assert found == [
        ("2002", 50, "20", 0.9, None, 1, 1),
        ("2002", 50, "19", pytest.approx(0.3), None, 2, 3),
        ("2002", 100, "19", 0.3, None, 1, 1),
        ("R", None, "7", None, pytest.approx(1.75), 2, 2),
    ]


# DUCView's pyramids


def test_a_pyramid_becomes_one_virtual_comparison_of_claims(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, PAN)
    assert report.format == "DUCView pyramid"
    assert counted(report) == {
        "document_sets": (1, 0, 0),
        "systems": (1, 0, 0),
        "reference_authors": (4, 0, 0),
        "model_summaries": (5, 0, 0),
        "peer_summaries": (1, 0, 0),
        "comparisons": (1, 0, 0),
        "claims": (18, 0, 0),
        "checks": (18, 0, 0),
        "verdicts": (18, 0, 0),
    }
    comparison = Comparison.objects.get()
    assert (comparison.model.external_id, comparison.model.target_words) == ("pyramid", 100)
    assert ClaimSet.objects.get().summary == comparison.model
    assert dict(Claim.objects.values_list("text", "weight")) == WEIGHTS
    assert not Claim.objects.filter(unit__isnull=False).exists()
    said = (
        Verdict.objects.filter(label="yes")
        .order_by("evidence")
        .values_list("check_row__claim__text", "evidence")
    )
    assert list(said) == [(BRIDGE, [1]), (REPAIR, [2])]
    assert set(Verdict.objects.values_list("origin_name", flat=True)) == {"import:D0901-A.M.100.F.12.pan"}
    assert set(Check.objects.values_list("final_source", flat=True)) == {"reviewer"}
    # 7 of 28.
    assert Score.objects.get().coverage == 0.25


def test_each_answer_names_the_file_that_it_came_from(project: Project, tmp_path: Path) -> None:
    files = {**SEE, "D0901-A.pyr": pyr(), **PAN, "D0901-A.M.100.F.13.pan": pan({})}
    import_files(project=project, files=[zipped(tmp_path, files)], by=None)
    origins = Verdict.objects.values_list("check_row__peer__system__name", "origin_name").distinct()
    assert set(origins) == {
        ("12", "import:D0901-A.M.100.F.12.pan"),
        ("13", "import:D0901-A.M.100.F.13.pan"),
    }
    assert ClaimSet.objects.get().origin_name == "D0901-A.pyr"


def test_the_explanation_shows_both_pyramid_scores(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, PAN)
    peer = the_peer("12")
    record = next(summary_records(project, [peer.pk]))
    made = explain(project, peer, record.value, score(record.value, score_rules(project)))
    modified, original = made.formulas[-2:]
    assert modified.value == pytest.approx(0.411765, abs=5e-7)
    assert modified.text.startswith(
        "7 / 17 (maximum weight of 7 content units: the average of model summaries, rounded down)"
    )
    # One unit beyond the pyramid: the best three weigh 4 + 3 + 3.
    assert original.value == pytest.approx(0.7)
    assert original.text == "7 / 10 (maximum weight of 3 content units)"


def test_another_annotation_may_come_later(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, PAN)
    report = bring(project, tmp_path, {"D0901-A.M.100.F.13.pan": pan({})})
    assert counted(report)["claims"] == (0, 0, 18)
    assert counted(report)["verdicts"] == (18, 0, 0)
    assert Claim.objects.count() == 18
    assert set(Score.objects.values_list("summary__system__name", "coverage")) == {("12", 0.25), ("13", 0.0)}


def test_the_pyramid_may_come_alone(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, {"D0901-A.pyr": pyr()})
    assert counted(report)["claims"] == (18, 0, 0)
    assert not Comparison.objects.exists()
    model = Summary.objects.get(external_id="pyramid")
    kept = pyramid_of(model.metadata)
    assert kept is not None
    assert len(kept.models) == 4


def test_an_annotated_text_that_is_there_keeps_its_own_spacing(project: Project, tmp_path: Path) -> None:
    text = "On Monday the bridge  was closed. It costs\ntwo million.\n\nFish were seen."
    flat = jsonl(
        tmp_path, row(document_id="D0901-A", system="12", target_words=100, summary=text, metadata={"own": 1})
    )
    import_new_project(slug="own", path=flat, by=None)
    own = Project.objects.get(slug="own")
    report = bring(own, tmp_path, PAN)
    assert counted(report)["peer_summaries"] == (0, 1, 0)
    peer = the_peer("12")
    assert peer.text == text
    assert peer.metadata["own"] == 1
    annotation = peer_annotation_of(peer.metadata)
    assert annotation is not None
    assert len(annotation.expressed) == 2
    said = Verdict.objects.filter(label="yes").order_by("evidence").values_list("evidence", flat=True)
    assert list(said) == [[1], [2]]


def test_rows_that_come_again_do_not_take_an_annotation_away(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, PAN)
    again = row(
        document_id="D0901-A",
        system="12",
        target_words=100,
        summary="\n".join(PEER_LINES),
        metadata={"own": 2},
    )
    bring(project, tmp_path, {"rows.jsonl": json.dumps({**again, "reference": None})})
    peer = the_peer("12")
    assert own_metadata(peer.metadata) == {"own": 2}
    assert peer_annotation_of(peer.metadata) is not None


def test_an_annotation_of_another_text_is_refused_once_judged(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, PAN)
    changed = pan(lines=[*PEER_LINES, "More."])
    with pytest.raises(ImportRefused) as refused:
        bring(project, tmp_path, {"D0901-A.M.100.F.12.pan": changed})
    assert "by '12' differs from the project's text" in refused.value.problems[0].reason


def test_a_pyramid_is_no_model_summary_of_see_files(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, PAN)
    bring(project, tmp_path, {"peers/D0901-A.M.100.F.14.html": see_page("One.")})
    held = Comparison.objects.filter(peer=the_peer("14")).values_list("model__external_id", flat=True)
    assert set(held) == {"G", "H", "I", "J"}


def test_assessors_of_the_form_count_beside_a_table(world: World, tmp_path: Path) -> None:
    files = {**SEE_2001, "results1_table.txt": ROW_2001 + "\n"}
    bring(world.project, tmp_path, files)
    document_set = DocumentSet.objects.get(external_id="D04")
    sitting = assign(document_set=document_set, assessor=world.ana, by=world.mona)
    model = Summary.objects.get(is_model=True, document_set=document_set)
    for unit, percent in zip(model.units.order_by("position"), (100, 100), strict=True):
        judge_unit(
            assignment=sitting.assignments.get(),
            by=world.ana,
            unit_id=unit.public_id,
            percent=percent,
            marks=[1],
        )
    finish(sitting)
    # Units: (0 + 100) / 2 and (50 + 100) / 2; their mean is .625.
    assert Score.objects.get(summary=the_peer("1")).coverage == 0.625

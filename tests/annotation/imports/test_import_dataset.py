from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from annotation.analysis.fingerprint import fingerprint_of
from annotation.core.refusals import Conflict
from annotation.imports import services as service
from annotation.imports.problems import ImportRefused
from annotation.imports.services import ImportReport
from annotation.imports.store import Store
from annotation.models import (
    Check,
    Claim,
    ClaimSet,
    Comparison,
    DocumentSet,
    Event,
    Project,
    Score,
    Summary,
    System,
    Unit,
    Verdict,
)
from annotation.reviewing.services.review import override
from tests.annotation.imports.files import REFERENCE, counted, import_dataset, jsonl, nested, row, row_counts

if TYPE_CHECKING:
    from tests.annotation.cast import World


def bring(project: Project, folder: Path, *records: Any, **choices: Any) -> ImportReport:
    return import_dataset(project=project, path=jsonl(folder, *records), by=None, **choices)


def summary(system: str, target: int | None = 10) -> Summary:
    return Summary.objects.get(system__name=system, target_words=target, is_summary=True)


def pieces(**place: Any) -> list[str]:
    units = Unit.objects.filter(**place).order_by("position").select_related("summary", "document")
    texts = [(unit, (unit.summary or unit.document)) for unit in units]
    return [owner.text[unit.start : unit.end] for unit, owner in texts if owner]


def test_row_becomes_a_set_with_its_summaries(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, row(group="g", metadata={"domain": "news"}))
    assert counted(report) == {
        "document_sets": (1, 0, 0),
        "documents": (1, 0, 0),
        "systems": (1, 0, 0),
        "references": (1, 0, 0),
        "summaries": (1, 0, 0),
        "comparisons": (1, 0, 0),
    }
    one = DocumentSet.objects.get()
    assert (one.external_id, one.group, one.language, one.metadata) == ("d1", "g", "en", {"domain": "news"})
    comparison = Comparison.objects.get()
    assert (comparison.summary.text, comparison.reference.text) == ("Trams stopped.", REFERENCE)
    assert (comparison.summary.target_words, comparison.reference.target_words) == (10, None)


def test_units_of_several_documents_are_numbered_through(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(document=["One. Two.", "Three."]))
    units = Unit.objects.filter(document__isnull=False).order_by("position")
    assert list(units.values_list("position", "document__position")) == [(1, 1), (2, 1), (3, 2)]


def test_project_that_cuts_over_length_divides_what_is_judged(project: Project, tmp_path: Path) -> None:
    project.over_length = Project.OverLength.TRUNCATE
    project.save()
    bring(project, tmp_path, row(summary="One two. Three four. Five.", target_words=3))
    assert summary("alder", 3).text == "One two. Three four. Five."
    # The target is three words, so the second sentence ends after its first word.
    assert pieces(summary=summary("alder", 3)) == ["One two.", "Three"]


def test_empty_summary_is_imported_and_flagged(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, row(summary=""))
    assert len(report.warnings) == 1
    assert "empty_summary" in summary("alder").score.flags
    assert not Unit.objects.filter(summary=summary("alder")).exists()


def test_authors_of_references_are_people(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(system="ada"), row(reference_author="ada", system="lead"))
    assert dict(System.objects.values_list("name", "kind")) == {"ada": "person", "lead": "summariser"}


def compared_lengths() -> set[Any]:
    names = ("summary__target_words", "reference__target_words", "reference__text")
    return set(Comparison.objects.values_list(*names))


def test_one_reference_serves_all_target_lengths(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(), row(target_words=20), row(target_words=None))
    reference = Summary.objects.get(is_reference=True)
    assert reference.target_words is None
    assert reference.comparisons_as_reference.count() == 3


def test_reference_for_each_target_length(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(reference_id="A"), row(target_words=5, reference="Rain.", reference_id="B"))
    assert compared_lengths() == {(10, None, REFERENCE), (5, None, "Rain.")}


def test_several_references_are_several_comparisons(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(reference_id="A"), row(reference_id="B", reference="Rain in Oslo."))
    assert Summary.objects.filter(is_summary=True).count() == 1
    assert set(Comparison.objects.values_list("reference__external_id", flat=True)) == {"A", "B"}


def test_a_person_s_summary_is_never_compared_with_their_reference(project: Project, tmp_path: Path) -> None:
    ada = {"reference_id": "A", "reference_author": "ada"}
    bob = {"reference_id": "B", "reference_author": "bob"}
    rows = [
        row(**ada),
        row(**bob, reference="Rain in Oslo."),
        row(**bob, reference="Rain in Oslo.", system="ada", summary=REFERENCE),
        row(**ada, system="ada", summary=REFERENCE),
    ]
    bring(project, tmp_path, *rows)
    compared = Comparison.objects.values_list("summary__system__name", "reference__system__name")
    assert set(compared) == {("alder", "ada"), ("alder", "bob"), ("ada", "bob")}
    assert not bring(project, tmp_path, *rows).has_changes


def test_one_reference_with_and_without_an_id_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(ImportRefused) as refusal:
        bring(project, tmp_path, row(reference_id="A"), row(system="b"))
    [problem] = refusal.value.problems
    assert (problem.line, problem.column) == (2, "reference")
    assert "one of both has no reference_id" in problem.reason


OTHER = row(system="b", reference_id="A", reference="Rain in Oslo.")


@pytest.mark.parametrize("records", [[row(), OTHER], [nested()]])
def test_importing_twice_changes_nothing(project: Project, tmp_path: Path, records: list[Any]) -> None:
    first = bring(project, tmp_path, *records)
    before = row_counts()
    again = bring(project, tmp_path, *records)
    assert row_counts() == before
    assert not again.has_changes
    assert counted(again) == {kind: (0, 0, created) for kind, (created, _, _) in counted(first).items()}


def test_later_file_adds_a_system(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row())
    report = bring(project, tmp_path, row(system="birch", summary="It rained."))
    assert counted(report)["summaries"] == (1, 0, 0)
    assert counted(report)["documents"] == (0, 0, 1)
    assert Comparison.objects.filter(reference__text=REFERENCE).count() == 2
    assert Score.objects.count() == 2


def test_a_changed_group_alone_puts_statistics_out_of_date(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row())
    before = fingerprint_of(project)
    bring(project, tmp_path, row())
    assert fingerprint_of(project) == before
    bring(project, tmp_path, row(group="g"))
    assert fingerprint_of(project) != before


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"language": "de"}, "the document of 'd1' has another language in the project."),
        ({"document": "Snow fell."}, "the document of 'd1' has another text in the project."),
        ({"reference_author": "ada"}, "the reference '' of 'd1' has another author in the project."),
    ],
)
def test_another_language_document_or_author_is_refused(
    project: Project, tmp_path: Path, changes: dict[str, str], told: str
) -> None:
    bring(project, tmp_path, row())
    with pytest.raises(ImportRefused) as refusal:
        bring(project, tmp_path, row(**changes))
    assert told in refusal.value.problems[0].reason


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"summary": "Other."}, "the summary 'alder' of 'd1'"),
        ({"reference": "Other."}, "the reference '' of 'd1'"),
    ],
)
def test_another_text_is_refused_with_the_way_out(
    project: Project, tmp_path: Path, changes: dict[str, str], named: str
) -> None:
    bring(project, tmp_path, row())
    before = row_counts()
    with pytest.raises(ImportRefused) as refused:
        bring(project, tmp_path, row(**changes), skip_invalid=True)
    [problem] = refused.value.problems
    assert (row_counts(), problem.line) == (before, 1)
    assert problem.reason == (
        f"{named} has another text in the project. Import it with another document_id, system, target_words or "
        "reference_id, or into a new project."
    )


def test_bad_row_stops_everything(project: Project, tmp_path: Path) -> None:
    before = row_counts()
    with pytest.raises(ImportRefused) as refusal:
        bring(project, tmp_path, row(), row(system="birch", summary=...), row(system="cedar", target_words=0))
    assert row_counts() == before
    assert refusal.value.message == (
        "data.jsonl has 2 problems. Nothing was imported. Correct the file, or skip invalid rows."
    )
    assert [(problem.line, problem.column) for problem in refusal.value.problems] == [
        (2, "summary"),
        (3, "target_words"),
    ]
    assert refusal.value.details["problem_count"] == 2


def test_skip_invalid_leaves_bad_rows_out(project: Project, tmp_path: Path) -> None:
    rows = [row(), row(system="birch", summary=...), row(system="cedar", target_words=0), row(system="dune")]
    report = bring(project, tmp_path, *rows, skip_invalid=True)
    names = Summary.objects.filter(is_summary=True).values_list("system__name", flat=True)
    assert set(names) == {"alder", "dune"}
    assert (report.rows_left_out, report.problem_count) == (2, 2)
    assert [problem.line for problem in report.problems] == [2, 3]


@pytest.mark.parametrize("records", [[row()], [nested()]])
def test_dry_run_writes_nothing_and_tells_all(project: Project, tmp_path: Path, records: list[Any]) -> None:
    before = row_counts()
    dry = bring(project, tmp_path, *records, dry_run=True)
    assert row_counts() == before
    assert dry.dry_run
    assert counted(dry) == counted(bring(project, tmp_path, *records))


def test_failure_in_the_middle_leaves_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another process creates the same rows after this import has looked for them.
    before = row_counts()
    write = Store.write

    def raced(store: Store, *args: Any, **choices: Any) -> None:
        write(store, *args, **choices)
        DocumentSet.objects.create(project=project, external_id="d2")

    monkeypatch.setattr(Store, "write", raced)
    with pytest.raises(Conflict, match="Import again"):
        bring(project, tmp_path, row(), row(document_id="d2"))
    assert row_counts() == before


def test_import_that_ended_meanwhile_is_seen(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = service.read_files

    def raced(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(service, "read_files", read)
        (tmp_path / "other").mkdir()
        bring(project, tmp_path / "other", row())
        return read(*args, **kwargs)

    monkeypatch.setattr(service, "read_files", raced)
    report = bring(project, tmp_path, row(), row(document_id="d2"))
    assert counted(report)["document_sets"] == (1, 0, 1)


def test_manager_may_and_it_is_logged(world: World, tmp_path: Path) -> None:
    import_dataset(project=world.project, path=jsonl(tmp_path, nested()), by=world.mona)
    event = Event.objects.get(verb="import")
    assert (event.actor, event.target_id) == (world.mona, world.project.public_id)
    assert event.data == {
        "file": "data.jsonl",
        "format": "nested JSONL",
        "claims_side": "reference",
        "created": dict.fromkeys(("document_sets", "documents", "references"), 1)
        | dict.fromkeys(("summaries", "comparisons", "claims"), 2)
        | dict.fromkeys(("checks", "verdicts"), 4),
        "changed": {},
        "rows_left_out": 0,
    }


def test_reference_claims_stand_as_units_of_their_own(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, nested())
    claims = Claim.objects.order_by("position")
    places = claims.values_list("text", "unit", "claim_set__summary__text")
    assert list(places) == [("It rained", None, REFERENCE), ("Trams stopped", None, REFERENCE)]
    assert set(Check.objects.values_list("side", flat=True)) == {"reference"}
    # Each system has one yes of two.
    scores = Score.objects.values_list("summary__system__name", "coverage_human", "alignment")
    assert set(scores) == {("alder", 0.5, None), ("birch", 0.5, None)}


def test_summary_claims_feed_alignment_and_never_coverage(project: Project, tmp_path: Path) -> None:
    systems = [{"system": "alder", "summary_text": "Trams stopped. Buses burned."}]
    claims = [
        {"claim_text": "Trams stopped.", "verdicts": {"alder": 1}},
        {"claim_text": "Buses burned.", "verdicts": {"alder": 0}},
    ]
    bring(project, tmp_path, nested(systems=systems, claims=claims))
    [first, second] = Claim.objects.order_by("position")
    assert first.claim_set.summary == summary("alder", None)
    # "Trams stopped." has 14 characters; the second claim begins after the space.
    assert [(claim.start, claim.end) for claim in (first, second)] == [(0, 14), (15, 28)]
    assert set(Check.objects.values_list("side", flat=True)) == {"summary"}
    assert (summary("alder", None).score.alignment, summary("alder", None).score.coverage) == (0.5, None)


def test_claims_without_a_reference_are_the_documents(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, nested(reference_text=None))
    assert ClaimSet.objects.get().document_set == DocumentSet.objects.get()
    # One of two claims is yes.
    assert summary("birch", None).score.coverage == 0.5


def test_people_s_verdicts_name_their_file(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, nested())
    verdict = Verdict.objects.get(check_row__claim__position=1, check_row__summary__system__name="birch")
    assert (verdict.role, verdict.person, verdict.judge, verdict.label) == ("reviewer", None, None, "yes")
    assert verdict.origin_name == "import:data.jsonl"
    assert verdict.check_row.final_source == "reviewer"
    assert ClaimSet.objects.get().origin_name == "data.jsonl"


def test_changed_verdict_is_a_new_row(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, nested())
    claims = nested()["claims"]
    claims[0]["verdicts"]["birch"] = 0
    report = bring(project, tmp_path, nested(claims=claims))
    assert counted(report)["verdicts"] == (1, 0, 3)
    check = Check.objects.get(claim__position=1, summary__system__name="birch")
    assert list(check.verdicts.order_by("pk").values_list("label", flat=True)) == ["yes", "no"]
    assert check.final_label == "no"


def test_reviewer_s_answer_survives_the_next_import(world: World, tmp_path: Path) -> None:
    bring(world.project, tmp_path, nested())
    check = Check.objects.get(claim__text="It rained", summary__system__name="alder")
    override(check=check, by=world.rex, label="yes")
    bring(world.project, tmp_path, nested())
    check.refresh_from_db()
    assert check.final_label == "yes"


def test_other_file_with_other_verdicts_is_disputed(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, nested())
    claims = nested()["claims"]
    claims[0]["verdicts"]["birch"] = 0
    other = jsonl(tmp_path, nested(claims=claims), name="second.jsonl")
    import_dataset(project=project, path=other, by=None)
    check = Check.objects.get(claim__position=1, summary__system__name="birch")
    assert check.is_disputed


@pytest.mark.parametrize("said", [{}, {"verdicts": {"alder": 1, "birch": 0}}])
def test_changed_claims_are_refused(project: Project, tmp_path: Path, said: dict[str, Any]) -> None:
    bring(project, tmp_path, nested(claims=[{"claim_text": "It rained", **said}]))
    with pytest.raises(ImportRefused) as refusal:
        bring(project, tmp_path, nested(claims=[{"claim_text": "It poured", **said}]))
    [problem] = refusal.value.problems
    assert problem.reason.startswith("the reference '' of 'd1' has another list of claims for another target")
    assert [claim.text for claim in Claim.objects.all()] == ["It rained"]


def test_claims_of_a_text_in_which_a_judge_found_none_are_refused(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, nested(claims=[]))
    ClaimSet.objects.create(summary=Summary.objects.get(is_reference=True), is_active=True, origin="judge")
    with pytest.raises(ImportRefused) as refusal:
        bring(project, tmp_path, nested())
    assert "the reference '' of 'd1' has another list of claims" in refusal.value.problems[0].reason


def test_claims_of_frank_are_the_summaries(project: Project, judged_data: Path) -> None:
    report = import_dataset(project=project, path=judged_data / "frank_dev.jsonl", by=None)
    created = (report.counts["claims"].created, report.counts["summaries"].created)
    assert (report.claims_side, *created) == ("summary", 671, 671)
    assert not Score.objects.exclude(coverage=None).exists()

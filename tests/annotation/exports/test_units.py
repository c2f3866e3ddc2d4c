from pathlib import Path

import pytest

from annotation.adjudicating.services.adjudicate import decide_unit
from annotation.models import Check, Claim, ClaimSet, Comparison
from annotation.scoring.rescore import rescore
from tests.annotation.cast import World
from tests.annotation.exports.acts import add_comparison, assess, assess_and_close
from tests.annotation.exports.reading import Rows, exported

pytestmark = pytest.mark.django_db

PERCENTS = {("alder", 1): 60, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 20}


def units_of(world: World, system: str, folder: Path, *, document: str = "port") -> Rows:
    rows = exported(world.project, "units", folder / "units.jsonl", named=True)
    return [row for row in rows if (row["document_id"], row["system"]) == (document, system)]


def test_units_of_the_judge_alone(world: World, tmp_path: Path) -> None:
    first, second = units_of(world, "alder", tmp_path)
    # Unit 1 has one yes of two claims, and the one claim of unit 2 is yes.
    assert first == {
        "project": "harbour",
        "document_id": "port",
        "system": "alder",
        "target_words": 20,
        "reference_id": None,
        "unit": 1,
        "claim_id": None,
        "weight": 1.0,
        "text": "The harbour closes in April because its wall is weak.",
        "judge_share": 0.5,
        "assessor_percents": None,
        "adjudicated_percent": None,
        "unit_coverage": 0.5,
        "source": "claims",
    }
    assert (second["unit"], second["text"]) == (2, "Ferries move to the southern quay.")
    assert (second["judge_share"], second["unit_coverage"]) == (1.0, 1.0)


def test_a_unit_that_nobody_spoke_of_has_no_value(world: World, tmp_path: Path) -> None:
    row = units_of(world, "alder", tmp_path, document="bridge")[0]
    empty = ("judge_share", "assessor_percents", "adjudicated_percent", "unit_coverage", "source")
    assert [row[name] for name in empty] == [None] * len(empty)


def test_assessors_percents_are_averaged(world: World, tmp_path: Path) -> None:
    assess_and_close(world, world.ben, PERCENTS)
    assess_and_close(world, world.ana, {**PERCENTS, ("alder", 1): 100})
    row = units_of(world, "alder", tmp_path)[0]
    assert row["assessor_percents"] == [60, 100]
    # (60 + 100) / 2 = 80 %. The judge's share is also exported.
    assert (row["unit_coverage"], row["source"], row["judge_share"]) == (pytest.approx(0.8), "assessors", 0.5)


def test_a_draft_of_an_open_assignment_is_not_there(world: World, tmp_path: Path) -> None:
    assess(world, world.ana, PERCENTS)
    assert {row["assessor_percents"] is None for row in units_of(world, "alder", tmp_path)} == {True}


def test_an_adjudicated_percent_stands_alone(world: World, tmp_path: Path) -> None:
    assess_and_close(world, world.ana, PERCENTS)
    decide_unit(
        comparison=world.comparison("port", "alder"),
        unit=world.units("port")[0],
        by=world.cleo,
        percent=40,
        reason="Only the month.",
    )
    row = units_of(world, "alder", tmp_path)[0]
    assert (row["assessor_percents"], row["adjudicated_percent"], row["unit_coverage"]) == ([60], 40, 0.4)
    assert row["source"] == "adjudicated"


def test_an_empty_summary_is_decided_by_the_rule(world: World, tmp_path: Path) -> None:
    summary = world.summaries["bridge", "alder"]
    summary.text = ""
    summary.save()
    row = units_of(world, "alder", tmp_path, document="bridge")[0]
    assert (row["unit_coverage"], row["source"]) == (0.0, "rule")


def test_claims_that_stand_in_for_units_are_the_rows(world: World, tmp_path: Path) -> None:
    Claim.objects.update(unit=None)
    rows = units_of(world, "alder", tmp_path)
    assert [(row["unit"], row["text"], row["unit_coverage"]) for row in rows] == [
        (1, "The harbour closes in April", 1.0),
        (2, "its wall is weak", 0.0),
        (3, "Ferries move to the southern quay", 1.0),
    ]


def test_each_model_summary_has_its_rows_and_is_named(world: World, tmp_path: Path) -> None:
    add_comparison(world, "port", "alder")
    rows = units_of(world, "alder", tmp_path)
    assert [(row["reference_id"], row["unit"]) for row in rows] == [
        (None, 1),
        (None, 2),
        ("second", 1),
        ("second", 2),
    ]
    assert rows[2]["text"] == "A repair is planned in Lund."


def test_without_a_model_summary_the_documents_claims_are_the_rows(world: World, tmp_path: Path) -> None:
    summary = world.summaries["bridge", "alder"]
    Comparison.objects.filter(summary=summary).delete()
    claim_set = ClaimSet.objects.create(
        document_set=world.sets["bridge"], origin="imported", origin_name="facts.jsonl"
    )
    claim = Claim.objects.create(
        claim_set=claim_set, position=1, text="It costs money", weight=2.0, origin="imported"
    )
    check = Check.objects.create(
        project=world.project,
        claim=claim,
        summary=summary,
        document_set_id=summary.document_set_id,
        side="reference",
    )
    check.verdicts.create(role="reviewer", person=world.rex, label="yes")
    rescore(project=world.project)
    (row,) = units_of(world, "alder", tmp_path, document="bridge")
    assert (row["reference_id"], row["unit"], row["text"]) == (None, 1, "It costs money")
    # The coverage of documents is claim coverage, in which all claims have the same weight.
    assert (row["claim_id"], row["weight"]) == (claim.public_id, 1.0)
    assert (row["unit_coverage"], row["source"]) == (1.0, "claims")

from pathlib import Path

import pytest

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.core.current_checks import put_in_force
from annotation.core.tables.pseudonyms import pseudonym
from annotation.exports.claims import judge_confidence
from annotation.models import Check, Claim, ClaimSet, Verdict
from annotation.reviewing.services.review import override, withdraw_answer
from annotation.scoring.rescore import rescore
from tests.annotation.cast import World
from tests.annotation.exports.acts import LONG_AGO, long_ago
from tests.annotation.exports.reading import Rows, exported

pytestmark = pytest.mark.django_db


def claims_of(world: World, system: str, folder: Path, *, named: bool = False) -> Rows:
    rows = exported(world.project, "claims", folder / "claims.jsonl", named=named)
    return [row for row in rows if row["system"] == system]


def test_a_check_that_the_judge_alone_answered(world: World, tmp_path: Path) -> None:
    long_ago()
    assert claims_of(world, "alder", tmp_path)[0] == {
        "project": "harbour",
        "document_id": "port",
        "system": "alder",
        "target_words": 20,
        "reference_id": None,
        "claim_id": world.check("alder", 1).claim.public_id,
        "side": "reference",
        "unit": 1,
        "weight": 1.0,
        "claim": "The harbour closes in April",
        "judge_label": "yes",
        "judge_confidence": 0.9,
        "judge_reason": None,
        "human_label": None,
        "human_reason": None,
        "final_label": "yes",
        "final_source": "judge",
        "decided_by": "lexical",
        "decided_at": LONG_AGO.isoformat(),
        "evidence": [1],
    }


def test_claims_stand_in_the_order_of_the_reference(world: World, tmp_path: Path) -> None:
    assert [(row["unit"], row["claim"]) for row in claims_of(world, "birch", tmp_path)] == [
        (1, "The harbour closes in April"),
        (1, "its wall is weak"),
        (2, "Ferries move to the southern quay"),
    ]


def test_a_reviewers_verdict_decides_and_the_judges_words_stay(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes", reason="It does.", evidence=[2, 1])
    row = claims_of(world, "alder", tmp_path)[1]
    assert (row["judge_label"], row["judge_reason"]) == ("no", "no mention of: wall")
    # The judge's probability of yes is 0.2, so its confidence in no is 0.8.
    assert row["judge_confidence"] == pytest.approx(0.8)
    assert (row["human_label"], row["human_reason"]) == ("yes", "It does.")
    assert (row["final_label"], row["final_source"]) == ("yes", "reviewer")
    assert row["decided_by"] == pseudonym(world.project, world.rex.pk)
    assert row["evidence"] == [1, 2]


def test_an_adjudicator_stands_above_the_reviewer(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes", evidence=[1])
    decide_check(check=world.check("alder", 2), by=world.cleo, label="unsure", reason="Too vague.")
    row = claims_of(world, "alder", tmp_path, named=True)[1]
    assert (row["final_label"], row["final_source"], row["decided_by"]) == ("unsure", "adjudicator", "cleo")
    assert (row["human_reason"], row["evidence"]) == ("Too vague.", [])


def test_a_verdict_taken_back_no_longer_decides(world: World, tmp_path: Path) -> None:
    verdict = override(check=world.check("alder", 2), by=world.rex, label="yes", reason="It does.").verdict
    withdraw_answer(answer=verdict, by=world.rex)
    row = claims_of(world, "alder", tmp_path)[1]
    assert (row["human_label"], row["human_reason"], row["decided_by"]) == (None, None, "lexical")


def test_an_unscored_check_says_why_and_names_nobody(world: World, tmp_path: Path) -> None:
    check = world.check("alder", 1)
    check.verdicts.all().delete()
    Verdict.objects.create(
        check_row=check, role="judge", judge=world.judge, origin_name="lexical|v:1", reason="reply cut off"
    )
    rescore(project=world.project)
    row = claims_of(world, "alder", tmp_path)[0]
    assert (row["judge_label"], row["final_label"], row["final_source"]) == (None, None, None)
    assert (row["decided_by"], row["decided_at"], row["evidence"]) == (None, None, None)
    assert row["judge_reason"] == "reply cut off"


def test_an_imported_verdict_keeps_the_name_of_its_source(world: World, tmp_path: Path) -> None:
    Verdict.objects.create(
        check_row=world.check("birch", 1), role="reviewer", origin_name="votes.jsonl", label="yes"
    )
    rescore(project=world.project)
    row = claims_of(world, "birch", tmp_path)[0]
    assert (row["final_label"], row["final_source"], row["decided_by"]) == ("yes", "reviewer", "votes.jsonl")


def test_an_empty_summary_is_decided_by_the_rule(world: World, tmp_path: Path) -> None:
    summary = world.summaries["port", "alder"]
    summary.text = ""
    summary.save()
    rescore(project=world.project)
    row = claims_of(world, "alder", tmp_path)[0]
    assert (row["final_label"], row["final_source"], row["decided_by"]) == ("no", "rule", "rule")


def test_a_summaries_own_claim_stands_last_and_has_no_reference(world: World, tmp_path: Path) -> None:
    summary = world.summaries["port", "alder"]
    summary.is_reference, summary.external_id = True, "alder as model"
    summary.save()
    claim_set = ClaimSet.objects.create(summary=summary, origin="imported", origin_name="votes.jsonl")
    claim = Claim.objects.create(
        claim_set=claim_set, position=1, text="Ferries will use the southern quay", origin="imported"
    )
    Check.objects.create(
        project=world.project,
        claim=claim,
        summary=summary,
        document_set_id=summary.document_set_id,
        side="summary",
    )
    rows = claims_of(world, "alder", tmp_path)
    assert [row["side"] for row in rows] == ["reference"] * 3 + ["summary"]
    assert (rows[-1]["reference_id"], rows[-1]["unit"]) == (None, None)


def test_claims_of_a_replaced_set_are_left_out(world: World, tmp_path: Path) -> None:
    ClaimSet.objects.update(is_active=False)
    put_in_force(Check.objects.all())
    assert claims_of(world, "alder", tmp_path) == []


@pytest.mark.parametrize(
    ("label", "probability", "confidence"),
    [
        ("yes", 0.9, 0.9),
        ("no", 0.2, 0.8),
        ("no", 0.0, 1.0),
        # The probability of yes is no confidence in unsure.
        ("unsure", 0.5, None),
        ("yes", None, None),
        (None, 0.4, None),
    ],
)
def test_confidence_is_that_in_the_judges_own_label(
    label: str | None, probability: float | None, confidence: float | None
) -> None:
    assert judge_confidence(label, probability) == confidence

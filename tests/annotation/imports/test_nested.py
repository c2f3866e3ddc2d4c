from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.imports.read import read_dataset
from tests.annotation.imports.files import claims_of, jsonl, nested, problems_of

OWN = [{"claim_text": "Trams  stopped.", "verdicts": {"alder": 1}}]


def _system(**changes: Any) -> dict[str, Any]:
    return {"system": "alder", "summary_text": "Trams stopped.", **changes}


def _claim(**changes: Any) -> dict[str, Any]:
    return {"claim_text": "Trams stopped", "verdicts": {"alder": 1}, **changes}


def test_claims_about_several_systems_are_the_reference_s(tmp_path: Path) -> None:
    assert read_dataset(jsonl(tmp_path, nested())).dataset.claims_side == "reference"


def test_claims_that_stand_in_their_one_summary_are_the_summary_s(tmp_path: Path) -> None:
    # The words are equal except for white space.
    assert read_dataset(jsonl(tmp_path, nested(claims=OWN))).dataset.claims_side == "summary"


def test_a_claim_that_names_a_reference_is_the_reference_s(tmp_path: Path) -> None:
    line = nested(reference_id="A", claims=[{**OWN[0], "reference_id": "A"}])
    assert read_dataset(jsonl(tmp_path, line)).dataset.claims_side == "reference"


def test_a_reference_of_several_may_lack_its_id(tmp_path: Path) -> None:
    line = nested(reference_text=["One.", "Two."], reference_id=["A", None], claims=...)
    found = read_dataset(jsonl(tmp_path, line)).dataset.sets["d1"].references
    assert {name: one.text for name, one in found.items()} == {"A": "One.", "": "Two."}


@pytest.mark.parametrize("own", ["A", ""])
def test_a_claim_of_a_reference_that_the_line_does_not_have_is_refused(tmp_path: Path, own: str) -> None:
    line = nested(reference_id=own, claims=[_claim(reference_id="B")])
    [(_, column, reason)] = problems_of(jsonl(tmp_path, line))
    assert column == "claims[1].reference_id"
    assert reason.startswith("is 'B', which is no reference of the line.")


def test_verdicts_may_cover_some_systems(tmp_path: Path) -> None:
    claims = [{"claim_text": "It rained", "verdicts": {"birch": 1, "alder": None}}]
    [claim] = claims_of(read_dataset(jsonl(tmp_path, nested(claims=claims))).dataset.sets["d1"])
    assert dict(claim.verdicts) == {"birch": "yes"}


@pytest.mark.parametrize(
    ("given", "label"),
    [(0, "no"), (1, "yes"), (False, "no"), (True, "yes"), (1.0, "yes"), ("unsure", "unsure")],
)
def test_labels_are_read(tmp_path: Path, given: Any, label: str) -> None:
    line = nested(claims=[_claim(verdicts={"alder": given})])
    [claim] = claims_of(read_dataset(jsonl(tmp_path, line)).dataset.sets["d1"])
    assert claim.verdicts["alder"] == label


@pytest.mark.parametrize(
    ("votes", "verdict", "label", "raters"),
    [
        ([0, 1, 0], 1, "yes", [("rater 1", "no"), ("rater 2", "yes"), ("rater 3", "no")]),
        ([0, 1, 0], None, "no", [("rater 1", "no"), ("rater 2", "yes"), ("rater 3", "no")]),
        # No label has a majority.
        ([0, 1], None, "unsure", [("rater 1", "no"), ("rater 2", "yes")]),
        # A missing vote does not change the numbers of the raters after it.
        ([None, 1], None, "yes", [("rater 2", "yes")]),
        ({"ann": 1, "ben": None, "cid": "unsure"}, 1, "yes", [("ann", "yes"), ("cid", "unsure")]),
        ([], 1, "yes", None),
        (None, 0, "no", None),
    ],
)
def test_votes_of_raters_are_read_and_the_files_verdict_stays(
    tmp_path: Path, votes: Any, verdict: Any, label: str, raters: list[tuple[str, str]] | None
) -> None:
    line = nested(claims=[_claim(verdicts={"alder": verdict}, raw_votes={"alder": votes})])
    [claim] = claims_of(read_dataset(jsonl(tmp_path, line)).dataset.sets["d1"])
    assert claim.verdicts["alder"] == label
    assert claim.votes == ({"alder": dict(raters)} if raters else {})


@pytest.mark.parametrize(
    ("changes", "column", "fragment"),
    [
        ({"doc_id": ...}, "doc_id", "is missing"),
        ({"source_text": None, "reference_text": None}, "source_text", "has no value"),
        ({"systems": []}, "systems", "at least one"),
        ({"systems": {"alder": "x"}}, "systems", "must be a list of objects"),
        ({"systems": ["x"]}, "systems[1]", "must be an object"),
        ({"systems": [_system(), _system()]}, "systems", "names 'alder' twice"),
        ({"systems": [{"system": "alder"}]}, "systems[1].summary_text", "is missing"),
        ({"systems": [_system(system="")]}, "systems[1].system", "has no value"),
        ({"reference_id": ["A", "B"]}, "reference_id", "names 2 references, and there are 1"),
        ({"reference_text": "", "reference_id": "A"}, "reference_text", "is empty, and the row needs it"),
        ({"claims": "x"}, "claims", "must be a list of objects"),
        ({"claims": [_claim(claim_text=" ")]}, "claims[1].claim_text", "has no value"),
        ({"claims": [_claim(weight=0)]}, "claims[1].weight", "must be greater than 0"),
        ({"claims": [_claim(weight="2")]}, "claims[1].weight", "must be a valid number"),
        ({"claims": [_claim(verdicts=[1])]}, "claims[1].verdicts", "must be an object"),
        ({"claims": [_claim(verdicts={"oak": 1})]}, "claims[1]", "names the system 'oak'"),
        (
            {"claims": [_claim(verdicts={"alder": 2})]},
            "claims[1].verdicts.alder",
            "something else than 0 or 1",
        ),
        (
            {"claims": [_claim(verdicts={"alder": [1]})]},
            "claims[1].verdicts.alder",
            "something else than 0 or 1",
        ),
        ({"claims": [_claim(raw_votes=[1])]}, "claims[1].raw_votes", "must be an object"),
        ({"claims": [_claim(raw_votes={"oak": [1]})]}, "claims[1]", "names the system 'oak'"),
        ({"claims": [_claim(raw_votes={"alder": 1})]}, "claims[1].raw_votes.alder", "no list of votes"),
        (
            {"claims": [_claim(raw_votes={"alder": [1, 2]})]},
            "claims[1].raw_votes.alder.rater 2",
            "is 2, something else",
        ),
        ({"claims": [_claim(raw_votes={"alder": {" ": 1}})]}, "claims[1].raw_votes.alder", "or not at all"),
    ],
)
def test_bad_line_is_named(tmp_path: Path, changes: Any, column: str, fragment: str) -> None:
    found = problems_of(jsonl(tmp_path, nested(), nested(**{"doc_id": "d2", **changes})))
    line, named, reason = found[0]
    assert (line, named) == (2, column)
    assert fragment in reason


def test_document_twice_names_both_lines(tmp_path: Path) -> None:
    [(line, column, reason), _] = problems_of(jsonl(tmp_path, nested(), nested()))
    assert (line, column) == (2, "")
    assert reason.startswith("repeats the key of line 1 (document_id 'd1', system 'alder'")


def test_a_line_of_another_target_length_belongs_to_the_same_document(tmp_path: Path) -> None:
    lines = [nested(target_words=words, claims=...) for words in (10, 20)]
    one = read_dataset(jsonl(tmp_path, *lines)).dataset.sets["d1"]
    assert set(one.summaries) == {(system, words) for system in ("alder", "birch") for words in (10, 20)}


def test_claims_beside_several_references_are_refused(tmp_path: Path) -> None:
    told = "is '', which is no reference of the line. It has `1`, `2`."
    assert problems_of(jsonl(tmp_path, nested(reference_text=["One.", "Two."]))) == [
        (1, f"claims[{number}].reference_id", told) for number in (1, 2)
    ]

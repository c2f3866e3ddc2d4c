from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.core.refusals import Invalid
from annotation.core.tables.pseudonyms import pseudonym
from annotation.exports.services import write_export
from annotation.models import Criterion, Document, DocumentSet, Rating, Summary
from annotation.reviewing.services.review import override
from tests.annotation.exports.acts import add_comparison, assess_and_close
from tests.annotation.exports.reading import exported

if TYPE_CHECKING:
    from pathlib import Path

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def lines(world: World, folder: Path, *, named: bool = True) -> dict[str, dict[str, Any]]:
    rows = exported(world.project, "nested", folder / "nested.jsonl", named=named)
    return {row["doc_id"]: row for row in rows}


def test_texts_and_people_s_verdicts(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes", reason="It does.")
    override(check=world.check("alder", 2), by=world.cleo, label="no", reason="It does not.")
    line = lines(world, tmp_path)["port"]
    documents = Document.objects.filter(document_set=world.sets["port"])
    assert line["source_text"] == documents.get().text
    assert line["reference_text"] == world.references["port"].text
    assert line["target_words"] == 20
    assert [each["system"] for each in line["systems"]] == ["alder", "birch"]
    assert line["systems"][0]["summary_text"] == world.summaries["port", "alder"].text
    claim = next(each for each in line["claims"] if each["claim_text"] == world.check("alder", 2).claim.text)
    # The latest verdict counts; the judge's verdicts are listed too.
    assert claim["verdicts"] == {"alder": "no", "birch": None}
    assert claim["raw_votes"] == {"alder": {"cleo": "no", "rex": "yes"}}
    assert claim["reasons"] == {"alder": "It does not."}
    assert claim["judge_verdicts"]["alder"] == "no"
    assert claim["unit"] == 1


def test_a_decision_is_the_verdict(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    decide_check(check=world.check("alder", 2), by=world.cleo, label="unsure", reason="Half of it.")
    claims = lines(world, tmp_path)["port"]["claims"]
    assert [each["verdicts"]["alder"] for each in claims].count("unsure") == 1


def test_ratings_and_percents_with_their_raters(world: World, tmp_path: Path) -> None:
    percents = {("alder", 1): 60, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 20}
    assess_and_close(world, world.ana, percents)
    criterion = Criterion.objects.create(project=world.project, name="fluency", question="Fluent?")
    alder = world.summaries["port", "alder"]
    for name, value in (("rater 2", 3), ("rater 1", 4), ("rater 1", 5)):
        Rating.objects.create(
            criterion=criterion,
            summary=alder,
            role="reviewer",
            origin_name=name,
            value=value,
            reason="Flows.",
        )
    first, second = lines(world, tmp_path)["port"]["systems"]
    assert [each for each in first["ratings"] if each["criterion"] == "fluency"] == [
        {"criterion": "fluency", "rater": "rater 1", "value": 5.0, "reason": "Flows."},
        {"criterion": "fluency", "rater": "rater 2", "value": 3.0, "reason": "Flows."},
    ]
    assert [(each["unit"], each["rater"], each["percent"]) for each in first["percents"]] == [
        (1, "ana", 60),
        (2, "ana", 80),
    ]
    assert {each["rater"] for each in second["ratings"]} == {"ana"}


def test_people_are_pseudonyms_unless_names_are_asked_for(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    votes = [claim.get("raw_votes") for claim in lines(world, tmp_path, named=False)["port"]["claims"]]
    assert {"alder": {pseudonym(world.project, world.rex.pk): "yes"}} in votes


def test_the_summaries_of_a_line_have_its_references_in_the_order_of_their_numbers(
    world: World, tmp_path: Path
) -> None:
    add_comparison(world, "port", "alder")
    Summary.objects.filter(external_id="second").update(external_id="10")
    Summary.objects.filter(pk=world.references["port"].pk).update(external_id="9")
    rows = exported(world.project, "nested", tmp_path / "nested.jsonl")
    told = [(row["reference_text"], row["systems"]) for row in rows if row["doc_id"] == "port"]
    texts = {one["system"]: references for references, systems in told for one in systems}
    first, second = (Summary.objects.get(external_id=name).text for name in ("9", "10"))
    assert texts == {"alder": [first, second], "birch": first}


def test_lines_are_in_the_order_of_the_bytes_of_their_ids(world: World, tmp_path: Path) -> None:
    # A language-dependent order would put "é" before "z" and "B" after "a".
    for name in ("zebra", "B", "écluse"):
        one = DocumentSet.objects.create(project=world.project, external_id=name)
        Summary.objects.create(
            document_set=one,
            system=world.summaries["port", "alder"].system,
            is_summary=True,
            text="It rained.",
        )
    assert list(lines(world, tmp_path)) == ["B", "bridge", "port", "zebra", "écluse"]


def test_it_is_jsonl_alone(world: World, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="Take jsonl"):
        write_export(project=world.project, level="nested", format="csv", path=tmp_path / "x.csv", by=None)
    write_export(project=world.project, level="nested", format="jsonl", path=tmp_path / "x.jsonl", by=None)
    assert json.loads((tmp_path / "x.jsonl").read_text().splitlines()[0])["doc_id"] == "bridge"

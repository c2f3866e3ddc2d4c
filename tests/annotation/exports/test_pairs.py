from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.core.refusals import Invalid
from annotation.core.tables.pseudonyms import People, pseudonym
from annotation.exports.pairs import LEVEL
from annotation.exports.services import request_export, write_export
from annotation.models import (
    Check,
    Claim,
    ClaimSet,
    Criterion,
    Document,
    Export,
    Rating,
    Score,
    Summary,
    System,
)
from annotation.reviewing.services.review import override
from annotation.scoring.rescore import rescore
from tests.annotation.cast import CLAIMS, SOURCE, SUMMARIES
from tests.annotation.exports.doing import perform
from tests.annotation.exports.reading import exported, read

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

pytestmark = pytest.mark.django_db


def rows(world: World, **options: Any) -> list[dict[str, Any]]:
    names = [column.name for column in LEVEL.columns]
    made = LEVEL.rows(world.project, People(world.project, named=True), **options)
    return [dict(zip(names, row, strict=True)) for row in made]


def systems(world: World, **options: Any) -> list[tuple[str, str, str]]:
    return [
        (row["document_id"], row["chosen_system"], row["rejected_system"]) for row in rows(world, **options)
    ]


def score(world: World, document_set: str, values: dict[str, float | None]) -> None:
    for name, value in values.items():
        system, _ = System.objects.get_or_create(project=world.project, name=name)
        place = {"document_set": world.sets[document_set], "system": system, "target_words": 20}
        text = {"text": f"By {name}."}
        summary, _ = Summary.objects.get_or_create(**place, is_summary=True, defaults=text)
        Score.objects.update_or_create(
            summary=summary, defaults={"project": world.project, "summary_words": 2, "coverage": value}
        )


def test_a_pair_with_its_texts_reasons_and_raters(world: World, tmp_path: Path) -> None:
    # The judge says yes, no, yes for alder and no, no, no for birch. Unit 1 has two claims, unit 2 one: alder covers
    # (1/2 + 1) / 2 = 0.75 and birch 0. Both lack claim 2, so it is no reason. "bridge" has no checks and no pair.
    [row] = exported(world.project, "pairs", tmp_path / "pairs.jsonl")
    reasons = {"expressed": [CLAIMS[0][0], CLAIMS[2][0]], "unsupported": [], "ratings": []}
    assert list(row) == [column.name for column in LEVEL.columns]
    assert list(row.values()) == [
        *("harbour", "port", 20, "alder", "birch", "coverage", 0.75, 0.0, 0.75),
        *(SOURCE, SUMMARIES["alder"], SUMMARIES["birch"], reasons, ["lexical"]),
    ]


def test_people_s_verdicts_change_the_reasons_and_who_gave_them(world: World) -> None:
    override(check=world.check("birch", 3), by=world.rex, label="yes")
    decide_check(check=world.check("birch", 1), by=world.cleo, label="unsure", reason="Half of it.")
    # Birch expresses claim 3 now. Claim 1 stays a reason, because unsure is not yes. Rex's verdict is no reason.
    [row] = rows(world)
    assert row["reasons"]["expressed"] == [CLAIMS[0][0]]
    assert row["raters"] == ["cleo", "lexical"]


def test_unsupported_claims_of_the_rejected_summary(world: World) -> None:
    for name, label in (("alder", "no"), ("birch", "no")):
        summary = world.summaries["port", name]
        claim_set = ClaimSet.objects.create(summary=summary, origin="imported", origin_name="x")
        claim = Claim.objects.create(
            claim_set=claim_set, position=1, text=f"Made up by {name}", origin="imported"
        )
        place = {"summary": summary, "document_set": summary.document_set, "side": "summary"}
        check = Check.objects.create(project=world.project, claim=claim, **place)
        check.verdicts.create(role="reviewer", person=world.rex, label=label)
    rescore(project=world.project)
    [row] = rows(world)
    assert row["reasons"]["unsupported"] == ["Made up by birch"]
    assert row["raters"] == ["lexical", "rex"]


def test_ratings_that_differ_by_the_answer_that_counts(world: World) -> None:
    def rate(criterion: Criterion, system: str, value: float | None, role: str, **author: Any) -> None:
        summary = world.summaries["port", system]
        Rating.objects.create(criterion=criterion, summary=summary, role=role, value=value, **author)

    tone, flow, old = (
        Criterion.objects.create(project=world.project, name=name, question="?")
        for name in ("tone", "flow", "old")
    )
    # Tone of alder: Rex changed 1 to 4 and a rater of a file said 3, so the mean is 3.5. The judge's 1 does not count.
    rate(tone, "alder", 1, "reviewer", person=world.rex)
    rate(tone, "alder", 4, "reviewer", person=world.rex, version=2)
    rate(tone, "alder", 3, "reviewer", origin_name="rater 1")
    rate(tone, "alder", 1, "judge", judge=world.judge)
    # Tone of birch: the decision 2 outranks Rex's 5.
    rate(tone, "birch", 5, "reviewer", person=world.rex)
    rate(tone, "birch", 2, "adjudicator", person=world.cleo)
    # Flow: the judge rates both with 5, and Rex withdrew his 1. The retired criterion is left out.
    rate(flow, "alder", 5, "judge", judge=world.judge)
    rate(flow, "birch", 5, "judge", judge=world.judge)
    rate(flow, "birch", 1, "reviewer", person=world.rex)
    rate(flow, "birch", None, "reviewer", person=world.rex, version=2)
    rate(old, "alder", 5, "reviewer", person=world.ben)
    rate(old, "birch", 1, "reviewer", person=world.ben)
    Criterion.objects.filter(pk=old.pk).update(retired_at="2026-03-01T00:00Z")
    [row] = rows(world)
    assert row["reasons"]["ratings"] == [{"criterion": "tone", "chosen": 3.5, "rejected": 2.0}]
    assert row["raters"] == ["cleo", "lexical", "rater 1", "rex"]


def test_a_pair_differs_by_more_than_the_margin(world: World) -> None:
    # 0.8 - 0.7 is 0.10000000000000009 as a float, which must not exceed the usual margin of 0.1. Cedar has no score;
    # alder and dogwood are equal.
    score(world, "bridge", {"alder": 0.8, "birch": 0.7, "cedar": None, "dogwood": 0.8, "elm": 0.4})
    of_bridge = [pair[1:] for pair in systems(world) if pair[0] == "bridge"]
    assert of_bridge == [("alder", "elm"), ("birch", "elm"), ("dogwood", "elm")]
    of_bridge = [pair[1:] for pair in systems(world, margin=0) if pair[0] == "bridge"]
    assert of_bridge == [
        ("alder", "birch"),
        ("alder", "elm"),
        ("birch", "elm"),
        ("dogwood", "birch"),
        ("dogwood", "elm"),
    ]
    assert systems(world, margin=0.5) == [("port", "alder", "birch")]


def test_only_summaries_of_one_set_and_length_are_paired(world: World) -> None:
    score(world, "bridge", {"alder": 0.9, "birch": 0.1})
    Summary.objects.filter(pk=world.summaries["bridge", "birch"].pk).update(target_words=50)
    # A reference that is not a summary under test is in no pair, whatever its score.
    Score.objects.update_or_create(
        summary=world.references["bridge"],
        defaults={"project": world.project, "summary_words": 9, "coverage": 0.0},
    )
    assert systems(world) == [("port", "alder", "birch")]


def test_another_score_may_turn_a_pair_round(world: World) -> None:
    Score.objects.filter(summary=world.summaries["port", "alder"]).update(alignment=0.2)
    Score.objects.filter(summary=world.summaries["port", "birch"]).update(alignment=0.6)
    assert systems(world, score="alignment") == [("port", "birch", "alder")]


def test_an_own_criterion_ranks_a_pair_on_its_scale(world: World) -> None:
    harm = Criterion.objects.create(
        project=world.project,
        name="harm",
        question="?",
        higher_is_better=False,
        points=[[1, "no"], [5, "much"]],
    )
    # Lower is better: 2 of 1 to 5 is 0.75, 4 is 0.25.
    for name, value in (("alder", 4), ("birch", 2)):
        summary = world.summaries["port", name]
        Rating.objects.create(
            criterion=harm, summary=summary, role="reviewer", origin_name="rater 1", value=value
        )
    [row] = rows(world, score="harm")
    assert (row["chosen_system"], row["chosen_score"], row["rejected_score"]) == ("birch", 0.75, 0.25)
    assert row["reasons"]["ratings"] == [{"criterion": "harm", "chosen": 2.0, "rejected": 4.0}]


def test_a_set_without_a_document_has_no_pair_and_is_counted(world: World, tmp_path: Path) -> None:
    Document.objects.filter(document_set=world.sets["port"]).delete()
    manifest = write_export(
        project=world.project, level="pairs", format="jsonl", path=tmp_path / "x", by=None, margin=0.2
    )
    assert manifest["rows"] == 0
    assert manifest["options"] == {"score": "coverage", "margin": 0.2}
    assert manifest["sets_without_document"] == 1


def test_a_cut_summary_is_paired_as_it_was_judged(world: World) -> None:
    world.project.over_length = "truncate"
    Summary.objects.filter(pk=world.summaries["port", "alder"].pk).update(target_words=5)
    Summary.objects.filter(pk=world.summaries["port", "birch"].pk).update(target_words=5)
    assert [row["chosen"] for row in rows(world)] == ["The harbour of Lund closes"]


@pytest.mark.parametrize("format_name", ["csv", "parquet"])
def test_reasons_are_json_in_other_formats(world: World, tmp_path: Path, format_name: str) -> None:
    [row] = exported(world.project, "pairs", tmp_path / "pairs", format_name=format_name)
    assert json.loads(row["reasons"])["expressed"] == [CLAIMS[0][0], CLAIMS[2][0]]


@pytest.mark.parametrize(("field", "value"), [("score", "beauty"), ("margin", 1), ("margin", float("nan"))])
def test_options_out_of_range_are_refused(world: World, field: str, value: object) -> None:
    with pytest.raises(Invalid) as refusal:
        request_export(project=world.project, level="pairs", format="csv", by=None, **{field: value})  # type: ignore[arg-type]
    assert refusal.value.field == field


# Pages, API and command. Birch with claim 3 has 0.5, which is 0.25 below 0.75; a margin of 0.3 omits this pair.


def test_the_command_takes_the_options(world: World, tmp_path: Path) -> None:
    override(check=world.check("birch", 3), by=world.rex, label="yes")
    path, common = (
        tmp_path / "pairs.jsonl",
        ("export_dataset", "harbour", "--level", "pairs", "--format", "jsonl"),
    )
    call_command(*common, "-o", str(path))
    assert len(read(path, "jsonl")) == 1
    call_command(*common, "-o", str(path), "--score", "coverage", "--margin", "0.3")
    assert read(path, "jsonl") == []


def test_the_api_keeps_the_options_until_the_worker_writes(world: World, client_of: ApiDoor) -> None:
    body = {"level": "pairs", "format": "jsonl", "score": "composite_1", "margin": 0.3}
    client = client_of("mona")
    address = "/api/v1/projects/harbour/exports/"
    made = client.post(address, body, content_type="application/json").json()
    perform(Export.objects.get())
    manifest = client.get(f"{address}{made['id']}/manifest/").json()
    assert (manifest["options"], manifest["rows"]) == ({"score": "composite_1", "margin": 0.3}, 1)
    file: Any = client.get(f"{address}{made['id']}/file/")
    assert json.loads(b"".join(file.streaming_content))["raters"] == ["lexical"]
    refused = client.post(address, body | {"margin": 1.5}, content_type="application/json")
    assert refused.status_code == 422


def test_the_page_takes_the_options(world: World, mona: Client) -> None:
    asked = {"level": "pairs", "format": "csv", "score": "alignment", "margin": "0.25"}
    mona.post("/p/harbour/exports/request/", asked)
    assert Export.objects.get().manifest["options"] == {"score": "alignment", "margin": 0.25}
    answer = mona.post("/p/harbour/exports/request/", asked | {"margin": "much"})
    assert answer.status_code == 422
    assert b"A margin is a number" in answer.content


def test_people_are_pseudonyms(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    [row] = exported(world.project, "pairs", tmp_path / "pairs.jsonl")
    assert row["raters"] == ["lexical", pseudonym(world.project, world.rex.pk)]

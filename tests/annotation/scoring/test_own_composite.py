from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from annotation.analysis.leaderboard.leaderboard import leaderboard
from annotation.analysis.leaderboard.values import (
    DOCUMENTS_ONLY,
    WITH_JUDGE,
    WITHOUT_JUDGE,
    Basis,
    basis_of_composite,
)
from annotation.core.refusals import Invalid
from annotation.exports.services import write_export
from annotation.models import Criterion, Project, Rating, Score
from annotation.projects.services.change_project import change_project
from annotation.scoring.own_scores import COMPOSITE, own_scores
from tests.annotation.planning import lay_sets

if TYPE_CHECKING:
    from pathlib import Path

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

WEIGHTS = {"coverage": 2, "tone": 1}
BY_HAND = pytest.approx(2 / 3)
"""Coverage of alder on "port" is .75. Its tone is 3 of 1 to 5, so .5: (2 * .75 + .5) / 3 = 2/3."""


@pytest.fixture
def weighed(world: World) -> World:
    tone = Criterion.objects.create(
        project=world.project,
        name="tone",
        question="Is the tone neutral?",
        points=[[n, ""] for n in range(1, 6)],
    )
    Rating.objects.create(
        criterion=tone,
        summary=world.summaries["port", "alder"],
        role="reviewer",
        origin_name="rater 1",
        value=3,
    )
    change_project(project=world.project, by=world.mona, own_weights=WEIGHTS)
    world.project.refresh_from_db()
    return world


def exported(world: World, folder: Path, level: str) -> list[dict[str, object]]:
    path = folder / level
    write_export(project=world.project, level=level, format="jsonl", path=path, by=None)
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_leaderboard_averages_summaries_that_have_all_parts(weighed: World) -> None:
    (table,) = leaderboard(weighed.project, score=COMPOSITE).tables
    found = {
        row.system: (row.rank, row.scores[COMPOSITE].mean, row.scores[COMPOSITE].n) for row in table.rows
    }
    # Nobody rated birch, so its composite has no value, although its coverage is 0.
    assert found == {"alder": (1, BY_HAND, 1), "birch": (None, None, 0)}
    assert (table.bases[COMPOSITE].name, table.bases[COMPOSITE].is_unchecked) == ("judge + corrections", True)


def test_its_interval_is_that_of_a_composite_with_the_same_weights(world: World) -> None:
    lay_sets(world, 8)
    change_project(project=world.project, by=world.mona, own_weights={"coverage": 2, "brevity": 1})
    (table,) = leaderboard(Project.objects.get(pk=world.project.pk)).tables
    for row in table.rows:
        own, known = row.scores[COMPOSITE], row.scores["composite_2_3"]
        assert own.low is not None
        assert (own.mean, own.low, own.high, own.n) == pytest.approx(
            (known.mean, known.low, known.high, known.n)
        )


def test_a_composite_of_texts_needs_no_judge(world: World) -> None:
    change_project(project=world.project, by=world.mona, own_weights={"brevity": 1})
    (table,) = leaderboard(Project.objects.get(pk=world.project.pk)).tables
    assert (table.bases[COMPOSITE].name, table.bases[COMPOSITE].caption) == ("", DOCUMENTS_ONLY)


def test_a_composite_of_estimated_parts_names_who_gave_the_answers_that_it_uses() -> None:
    estimated = Basis("coverage_estimate", "estimated from 40 answers", WITH_JUDGE)
    judged = basis_of_composite(COMPOSITE, [estimated], has_judge=True)
    assert (judged.name, judged.caption) == ("judge + corrections", WITHOUT_JUDGE)
    answered = basis_of_composite(COMPOSITE, [estimated], has_judge=False)
    assert (answered.name, answered.caption) == ("people's answers so far", DOCUMENTS_ONLY)


def test_what_is_left_out_of_averages_is_left_out_of_the_composite(world: World) -> None:
    change_project(project=world.project, by=world.mona, own_weights={"claim_coverage": 1})
    project = Project.objects.get(pk=world.project.pk)
    alder = world.summaries["port", "alder"].pk
    assert COMPOSITE in own_scores(project).values[alder]
    Score.objects.filter(summary=alder).update(flags=["no_claims"])
    assert COMPOSITE not in own_scores(project).values.get(alder, {})


def test_pages_and_api_show_it(weighed: World, signed_in: SignIn) -> None:
    client = signed_in(weighed.mona)
    board = client.get("/api/v1/projects/harbour/leaderboard/?score=composite_own").json()
    assert board["tables"][0]["rows"][0]["scores"][COMPOSITE]["mean"] == BY_HAND
    assert "Composite (own weights)" in client.get("/p/harbour/scores/?by=composite_own").text
    rows = client.get("/api/v1/projects/harbour/scores/").json()["results"]
    found = {(row["document_id"], row["system"]): row[COMPOSITE] for row in rows}
    assert (found["port", "alder"], found["port", "birch"]) == (BY_HAND, None)
    sets = client.get("/api/v1/projects/harbour/document-sets/").json()["results"]
    assert {row["document_id"]: row[COMPOSITE] for row in sets} == {"bridge": None, "port": BY_HAND}
    assert "Mean own composite" in client.get("/p/harbour/scores/sets/").text
    change_project(project=weighed.project, by=weighed.mona, own_weights={})
    assert COMPOSITE not in client.get("/api/v1/projects/harbour/document-sets/").json()["results"][0]
    assert client.get("/api/v1/projects/harbour/leaderboard/?score=composite_own").status_code == 422


def test_exports_have_it(weighed: World, tmp_path: Path) -> None:
    scores = {
        (row["document_id"], row["system"]): row[COMPOSITE] for row in exported(weighed, tmp_path, "scores")
    }
    assert scores.pop(("port", "alder")) == BY_HAND
    assert set(scores.values()) == {None}
    systems = {
        row["system"]: row["mean"]
        for row in exported(weighed, tmp_path, "systems")
        if row["score"] == COMPOSITE
    }
    assert systems == {"alder": BY_HAND, "birch": None}


@pytest.mark.parametrize(
    "weights",
    [
        {"beauty": 1},
        {"summarization": 1},
        {"coverage": 0},
        {"coverage": "2"},
        {"coverage": True},
        ["coverage"],
    ],
)
def test_weights_without_a_meaning_are_refused(world: World, weights: object) -> None:
    with pytest.raises(Invalid) as refusal:
        change_project(project=world.project, by=world.mona, own_weights=weights)
    assert refusal.value.field == "own_weights"


def test_weights_are_typed_in_the_settings(weighed: World, signed_in: SignIn) -> None:
    client = signed_in(weighed.mona)
    page = client.get("/p/harbour/settings/").text
    assert 'name="own_weights" value="coverage 2, tone 1"' in page
    client.patch(
        "/api/v1/projects/harbour/", {"own_weights": {"coverage": 3}}, content_type="application/json"
    )
    assert Project.objects.get(pk=weighed.project.pk).own_weights == {"coverage": 3}
    refused = client.post("/p/harbour/settings/", {"name": "Harbour", "own_weights": "coverage two"})
    assert (refused.status_code, "Write each score with its weight" in refused.text) == (422, True)

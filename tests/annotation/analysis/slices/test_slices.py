from __future__ import annotations

import json
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from annotation.analysis.explanation.compare import paired_differences
from annotation.analysis.leaderboard.leaderboard import leaderboard
from annotation.analysis.slices.slices import Slices, slices
from annotation.analysis.slices.split import MOST_VALUES, NO_VALUE, OTHER, chosen_split, splits
from annotation.core.refusals import Invalid
from annotation.exports.services import write_export
from annotation.models import Check, DocumentSet, Rating, Score, Summary
from annotation.projects.services.set_criteria import set_criteria
from annotation.reviewing.services.rate_summary import rate_summary
from annotation.sampling.services.sample_ratings import sample_ratings
from evaluation.metrics import Criterion
from tests.annotation.answering import say
from tests.annotation.planning import lay_sets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

TARGET = 20
PAGE = "/p/harbour/scores/slices/"


@pytest.fixture
def sliced(world: World) -> World:
    lay_sets(world, 24)
    mark(world, lambda number: {"topic": "law" if number % 2 else "news", "views": number, "length": number})
    return world


def mark(world: World, metadata: Callable[[int], dict[str, object]]) -> None:
    for row in DocumentSet.objects.filter(project=world.project, external_id__startswith="set-"):
        row.metadata = metadata(int(row.external_id.removeprefix("set-")))
        row.save(update_fields=["metadata"])


def split(world: World, key: str, **more: object) -> Slices:
    split = chosen_split(splits(world.project), key)
    assert split is not None
    [table] = leaderboard(world.project, target_words=TARGET).tables
    return slices(world.project, split, table, **{"score": "coverage", **more})  # type: ignore[arg-type]


def coverage(world: World, system: str, topic: str) -> list[float]:
    scores = Score.objects.filter(
        project=world.project,
        summary__system__name=system,
        summary__document_set__metadata__topic=topic,
        coverage__isnull=False,
    )
    return list(scores.values_list("coverage", flat=True))


def test_a_cell_is_the_mean_over_the_sets_of_the_slice(sliced: World) -> None:
    found = split(sliced, "topic")
    assert [(each.value, each.document_sets) for each in found.slices][:2] == [("law", 12), ("news", 12)]
    for row in found.systems:
        for cell in row.cells[:2]:
            assert cell.mean is not None
            assert cell.mean.mean == pytest.approx(fmean(coverage(sliced, row.system, cell.slice)))
    assert found.systems[0].weighted is None


def test_few_sets_have_no_mean(sliced: World) -> None:
    [(last, cells)] = [(found.slices[-1], found.systems[0].cells) for found in [split(sliced, "topic")]]
    assert last.value == NO_VALUE
    assert (cells[-1].mean, cells[-1].is_worse) == (None, False)


def test_keys_are_those_whose_values_split_the_sets(sliced: World) -> None:
    assert list(splits(sliced.project)) == ["topic", "length", "views"]
    DocumentSet.objects.filter(external_id="set-00").update(group="first")
    DocumentSet.objects.filter(external_id__in=["set-01", "set-02"]).update(group="second")
    mark(sliced, lambda number: {"title": f"Title {number}", "same": "x", "tags": ["a"]})
    assert list(splits(sliced.project)) == ["group"]


def test_numbers_are_cut_at_quantiles(sliced: World) -> None:
    # The 24 numbers from 0 to 23 give quarters of six.
    found = split(sliced, "length")
    assert [each.value for each in found.slices] == ["0 to 5", "6 to 11", "12 to 17", "18 to 23", NO_VALUE]


def test_rare_values_are_together(sliced: World) -> None:
    mark(sliced, lambda number: {"topic": f"topic {number // 2 if number < 23 else 12}"})
    found = split(sliced, "topic")
    assert len(found.slices) == MOST_VALUES + 1
    assert [each.value for each in found.slices[-2:]] in ([OTHER, NO_VALUE], [NO_VALUE, OTHER])


def test_weights_are_given_or_counted(sliced: World) -> None:
    law, news = (fmean(coverage(sliced, "alder", topic)) for topic in ("law", "news"))
    given = split(sliced, "topic", weights={"law": 3.0, "news": 1.0}).systems[0].weighted
    assert given is not None
    assert given.mean == pytest.approx(0.75 * law + 0.25 * news)
    # The views are the numbers of the sets: odd numbers add up to 144, even numbers to 132.
    counted = split(sliced, "topic", count_by="views").systems[0].weighted
    assert counted is not None
    assert counted.mean == pytest.approx((144 * law + 132 * news) / 276)


@pytest.mark.parametrize(
    "more",
    [
        {"weights": {"law": -1.0, "news": 2.0}},
        {"weights": {"law": 0.0}},
        {"weights": {"law": float("nan"), "news": 1.0}},
        {"count_by": "topic"},
    ],
)
def test_weights_without_a_meaning_are_refused(sliced: World, more: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        split(sliced, "topic", **more)


def test_a_key_that_splits_nothing_is_refused(sliced: World) -> None:
    with pytest.raises(Invalid):
        split(sliced, "colour")


def test_page_and_api_agree(sliced: World, signed_in: SignIn) -> None:
    client = signed_in(sliced.mona)
    page = client.get(f"{PAGE}?key=topic&by=coverage&weight:law=3&weight:news=1").text
    facts = client.get("/api/v1/projects/harbour/slices/?key=topic").json()
    assert facts["basis"] == "judge only, unchecked"
    assert "Coverage by topic" in page
    assert "With these weights" in page
    for row in facts["systems"]:
        for cell in row["cells"][:2]:
            assert f"{round(100 * cell['mean']['mean'])} %" in page


def test_the_page_without_keys_says_what_to_import(world: World, signed_in: SignIn) -> None:
    assert "No column of your file splits" in signed_in(world.mona).get(PAGE).text


@pytest.mark.parametrize(("query", "status"), [("key=colour", 422), ("key=topic&weight:law=x", 422)])
def test_the_page_refuses(sliced: World, signed_in: SignIn, query: str, status: int) -> None:
    assert signed_in(sliced.mona).get(f"{PAGE}?{query}").status_code == status


def people_say(world: World, *, wrong: str, of: int = 24) -> None:
    checks = Check.objects.filter(
        summary__system__name="alder",
        document_set__external_id__in=[f"set-{number:02}" for number in range(of)],
    )
    for check in checks.select_related("document_set"):
        is_right = check.document_set.metadata["topic"] != wrong
        say(
            check,
            world.rex,
            check.judge_label if is_right else ("no" if check.judge_label == "yes" else "yes"),
        )


def test_the_judge_is_compared_with_people_in_each_slice(sliced: World, signed_in: SignIn) -> None:
    people_say(sliced, wrong="law")
    client = signed_in(sliced.mona)
    [version] = client.get("/api/v1/projects/harbour/judge-quality/?key=topic").json()["versions"]
    # Each slice has twelve sets with four claims. The judge is wrong on all claims about law.
    found = {name: (of["checks"], of["accuracy"]["value"]) for name, of in version["slices"].items()}
    assert found == {"law": (48, 0.0), "news": (48, 1.0)}
    assert version["report"]["accuracy"]["value"] == 0.5
    page = client.get("/p/harbour/scores/judge/?key=topic").text
    assert page.index("<bdi>law</bdi>") < page.index("<bdi>news</bdi>")
    assert 'name="key"' in client.get("/p/harbour/scores/judge/").text
    assert client.get("/p/harbour/scores/judge/?key=colour").status_code == 422
    assert client.get("/api/v1/projects/harbour/judge-quality/?key=colour").status_code == 422


def test_answers_from_few_sets_are_too_few_to_judge_the_judge(sliced: World, signed_in: SignIn) -> None:
    # Of the first 19 sets, ten are about news and nine about law.
    people_say(sliced, wrong="law", of=19)
    client = signed_in(sliced.mona)
    [version] = client.get("/api/v1/projects/harbour/judge-quality/?key=topic").json()["versions"]
    assert (version["slices"]["law"], version["slices"]["news"]["checks"]) == (None, 40)
    assert "too few document sets" in client.get("/p/harbour/scores/judge/?key=topic").text


def test_slices_of_an_own_criterion_show_estimates_and_the_judges_bias(
    sliced: World, signed_in: SignIn
) -> None:
    set_criteria(sliced.project, [Criterion("tone", "Is the tone neutral?", (1, 5), answered_by="both")])
    tone, summaries = sliced.project.criteria.get(name="tone"), Summary.objects.filter(is_summary=True)
    Rating.objects.bulk_create(
        Rating(criterion=tone, summary=row, role="judge", judge=sliced.judge, origin_name="x", value=5)
        for row in summaries.filter(document_set__project=sliced.project)
    )
    sample = sample_ratings(project=sliced.project, by=sliced.mona, criterion=tone, size=40, seed=1)
    for row in sample.sampled_ratings.select_related("summary__document_set"):
        value = {"law": 2, "news": 4}.get(row.summary.document_set.metadata.get("topic", ""), 3)
        rate_summary(summary=row.summary, by=sliced.rex, values={tone.public_id: value})
    # Every rating about law is 2, which is .25, and every one about news .75. The judge says 1 everywhere.
    found = split(sliced, "topic", score="tone", weights={"law": 3.0, "news": 1.0})
    assert found.basis == "estimated from 40 ratings"
    for row in found.systems:
        assert [cell.mean.mean for cell in row.cells[:2] if cell.mean] == pytest.approx([0.25, 0.75])
        assert row.weighted is not None
        assert row.weighted.mean == pytest.approx(0.375)
    client = signed_in(sliced.mona)
    rows = client.get("/api/v1/projects/harbour/judge-quality/?key=topic").json()["ratings"]
    assert [(row["slice"], row["bias"]["value"]) for row in rows if row["slice"]] == [
        ("law", pytest.approx(0.75)),
        ("news", pytest.approx(0.25)),
    ]
    assert "topic: <bdi>law</bdi>" in client.get("/p/harbour/scores/judge/?key=topic").text
    [stored] = leaderboard(sliced.project, target_words=TARGET).tables
    topic = splits(sliced.project)["topic"]
    # Another question has no sample yet, and the table is stored until it is computed again.
    set_criteria(sliced.project, [Criterion("tone", "Is it calm?", (1, 5), answered_by="both")])
    assert slices(sliced.project, topic, stored, score="tone").basis == "judge + corrections"


def test_two_systems_are_compared_in_each_slice(sliced: World, signed_in: SignIn) -> None:
    law, news = (
        fmean(coverage(sliced, "alder", topic)) - fmean(coverage(sliced, "birch", topic))
        for topic in ("law", "news")
    )
    alder, birch = sliced.systems["alder"], sliced.systems["birch"]
    split = chosen_split(splits(sliced.project), "topic")
    found = paired_differences(
        sliced.project, alder, birch, score="coverage", target_words=TARGET, split=split
    )
    assert [found["law"].mean, found["news"].mean] == pytest.approx([law, news])
    assert (found["law"].n, found[NO_VALUE].n < 10) == (12, True)
    page = signed_in(sliced.vic).get("/p/harbour/scores/compare/?first=alder&second=birch&key=topic").text
    assert f"{abs(100 * news):.1f}" in page
    assert "too few" in page


def test_documents_are_filtered_by_slice(sliced: World, signed_in: SignIn) -> None:
    client = signed_in(sliced.mona)
    listed = client.get("/api/v1/projects/harbour/document-sets/?slice=length: 0 to 5").json()["results"]
    assert [row["document_id"] for row in listed] == [f"set-{number:02}" for number in range(6)]
    page = client.get("/p/harbour/scores/sets/?slice=topic: law").text
    assert 'value="topic: law" selected' in page
    assert ("set-01" in page, "set-02" in page) == (True, False)
    assert client.get("/api/v1/projects/harbour/document-sets/?slice=topic: art").status_code == 422


def test_the_export_has_the_averages_of_the_page(sliced: World, tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    write_export(project=sliced.project, level="systems", format="jsonl", path=whole, by=None)
    path = tmp_path / "slices.jsonl"
    manifest = write_export(
        project=sliced.project, level="systems", format="jsonl", path=path, by=None, key="topic"
    )
    assert manifest["options"] == {"key": "topic"}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row for row in rows if row["slice"] is None] == [
        json.loads(line) for line in whole.read_text().splitlines()
    ]
    found = {
        (row["system"], row["slice"]): row for row in rows if row["score"] == "coverage" and row["slice"]
    }
    for row in split(sliced, "topic").systems:
        for cell in row.cells:
            exported = found[row.system, cell.slice]
            shown = (cell.mean.documents, cell.mean.mean, cell.mean.low) if cell.mean else (None, None, None)
            assert (exported["n"], exported["mean"], exported["low"]) == shown
    with pytest.raises(Invalid) as refusal:
        write_export(project=sliced.project, level="systems", format="csv", path=path, by=None, key="colour")
    assert refusal.value.field == "key"

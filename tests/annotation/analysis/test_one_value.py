from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command

from annotation.models import Check, DocumentSet, Sample, Score, Summary, System, Verdict
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from evaluation import LexicalJudge, SummaryInput
from evaluation.gate import GateSummary, gate_report_text, run_gate
from evaluation.running import GivenClaim
from tests.annotation.cast import SUMMARIES
from tests.annotation.exports.reading import exported
from tests.annotation.judging.doing import judge_to_end
from tests.annotation.planning import answer_sample, lay_sets

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor, SignIn

pytestmark = pytest.mark.django_db
SETS = 17
SCORES = ("coverage", "alignment")
PLAIN = re.compile(r"<[^>]*>")


def sampled(world: World, chance: random.Random, side: str, share: float) -> Sample:
    method = chance.choice(["uniform", "active"])
    return sample_checks(
        project=world.project, by=world.mona, method=method, share=share, seed=chance.randrange(99), side=side
    )


def nobody(world: World, chance: random.Random) -> None:
    pass


def half_a_sample(world: World, chance: random.Random) -> None:
    taken = sampled(world, chance, "reference", 0.6)
    for row in taken.sampled_checks.select_related("check_row")[: taken.sampled_checks.count() // 2]:
        override(check=row.check_row, by=world.rex, label="yes")


def few(world: World, chance: random.Random) -> None:
    for side in ("reference", "summary"):
        answer_sample(world, sampled(world, chance, side, 0.15))


def finished(world: World, chance: random.Random) -> None:
    answer_sample(world, sampled(world, chance, "", 0.9))


def finished_and_begun(world: World, chance: random.Random) -> None:
    finished(world, chance)
    half_a_sample(world, chance)


def everything(world: World, chance: random.Random) -> None:
    finished(world, chance)
    for check in Check.objects.filter(project=world.project, human_label=None, is_current=True):
        override(check=check, by=world.rex, label=chance.choice(["yes", "no"]))


Answer = Callable[["World", random.Random], None]
ANSWERS: dict[Answer, tuple[str, str]] = {
    nobody: ("judge only, unchecked", "judge only, unchecked"),
    half_a_sample: ("judge + corrections", "judge only, unchecked"),
    few: ("judge + corrections", "judge + corrections"),
    finished: ("estimated", "estimated"),
    finished_and_begun: ("estimated", "estimated"),
    everything: ("people", "people"),
}
"""The names of the values of coverage and alignment after each way of answering."""


def study(world: World, chance: random.Random, *, others: tuple[str, ...] = ()) -> None:
    for name in others:
        world.systems[name] = System.objects.create(project=world.project, name=name)
    lay_sets(world, SETS, summaries={**SUMMARIES, **dict.fromkeys(others, "It is old.")})
    judge_to_end(world.project, world.judge, ["coverage", "alignment"])
    for system in world.systems.values():
        likely = chance.random()
        rows = Verdict.objects.filter(check_row__summary__system=system, role="judge")
        for row in rows:
            row.probability = min(max(likely + chance.uniform(-0.5, 0.5), 0.02), 0.98)
            row.label = "yes" if row.probability > 0.5 else "no"
        Verdict.objects.bulk_update(rows, ["probability", "label"])
    rescore(project=world.project)


def add_a_system_with_gaps(world: World, chance: random.Random) -> None:
    cedar = System.objects.create(project=world.project, name="cedar")
    level = chance.random()
    for row in DocumentSet.objects.filter(project=world.project):
        if chance.random() < 0.6:
            summary = Summary.objects.create(
                document_set=row, system=cedar, is_summary=True, text="It is old.", target_words=20
            )
            values = {name: min(1.0, level * chance.random() * 2) for name in SCORES}
            Score.objects.create(
                project=world.project, summary=summary, summary_words=3, human_share=0.0, **values
            )


Said = dict[tuple[str, str], str]
"""Means by system and score: in percent on pages, with three decimals elsewhere."""


def rows_of(page: str) -> list[list[tuple[str, str]]]:
    return [
        [
            (name, " ".join(PLAIN.sub(" ", cell).split()))
            for name, cell in re.findall(
                r'<t[hd][^>]*?(?:data-name="([^"]*)")?>(.*?)</t[hd]>', row, re.DOTALL
            )
        ]
        for row in re.findall(r"<tr(?: [^>]*)?>(.*?)</tr>", page, re.DOTALL)
    ]


def shown(mean: float) -> str:
    rounded = round(100 * mean)
    return {0: "< 1", 100: "> 99"}.get(rounded, "") if 0 < mean < 1 and rounded in (0, 100) else f"{rounded}"


def text_of(page: str) -> str:
    return " ".join(PLAIN.sub(" ", page).split()).replace("&#x27;", "'")


def by_page(page: str) -> Said:
    table = page[page.index('class="league') : page.index("</table>", page.index('class="league'))]
    return {
        (cells[0][1].split()[1], name): cell[: cell.index("%")].strip()
        for cells in rows_of(table)[1:]
        for name, cell in cells
        if name in SCORES
    }


def by_command(*arguments: str) -> tuple[Said, list[str], str]:
    out = StringIO()
    call_command("leaderboard", "harbour", *arguments, stdout=out)
    text = out.getvalue()
    block = text[text.index("Target length 20") :].split("\n\n")
    heads, *lines = [re.split(r"\s{2,}", line.strip()) for line in block[0].splitlines()[1:]]
    said = {(line[1], name): line[heads.index(name)] for line in lines for name in SCORES if name in heads}
    return said, [line[1] for line in lines], " ".join(block[1].split())


def check_every_view(world: World, viewer: Client, client_of: ApiDoor, folder: Path) -> dict[str, Any]:
    api = client_of("vic")
    tables = {}
    for score in SCORES:
        board = api.get(f"/api/v1/projects/harbour/leaderboard/?score={score}&target_words=20").json()
        (tables[score],) = board["tables"]
    means = {
        (row["system"], score): row["scores"][score]["mean"]
        for row in tables["coverage"]["rows"]
        for score in SCORES
    }
    told = {key: f"{mean:.3f}" for key, mean in means.items()}
    names = {score: tables["coverage"]["bases"][score]["name"] for score in SCORES}
    exports = {
        (row["system"], row["score"]): row
        for row in exported(world.project, "systems", folder / "systems.jsonl")
        if row["target_words"] == 20
    }
    assert {key: f"{exports[key]['mean']:.3f}" for key in told} == told
    assert {score: exports["alder", score]["basis"] for score in SCORES} == names
    for score, table in tables.items():
        order = [row["system"] for row in table["rows"]]
        page = viewer.get(f"/p/harbour/scores/?by={score}&target=20").content.decode()
        said, by_order, below = by_command("--score", score)
        assert said == told
        assert by_page(page) == {key: shown(means[key]) for key in told}
        assert [system for system, name in by_page(page) if name == score] == by_order == order
        values = [row["scores"][score]["mean"] for row in table["rows"]]
        assert values == sorted(values, reverse=True)
        headline = table["headline"]
        assert headline in text_of(page)
        assert headline in below
        assert {name: table["bases"][name]["name"] for name in SCORES} == names
        for name in names.values():
            assert name in text_of(page)
        is_unchecked = table["bases"][score]["is_unchecked"]
        assert ("by an unchecked judge" in headline) == is_unchecked
        if is_unchecked:
            assert "is best" not in headline
            assert "significant" not in headline
        lines = viewer.get(f"/p/harbour/scores/file/?by={score}&format=csv").content.decode().splitlines()
        files = [
            row for row in csv.DictReader(lines) if row["target_words"] == "20" and row["score"] in SCORES
        ]
        assert {(row["system"], row["score"]): f"{float(row['mean']):.3f}" for row in files} == told
        assert {row["score"]: row["basis"] for row in files} == names
        check_pairs(viewer, table, score, order)
        check_overview(viewer, table, score)
    for row in tables["coverage"]["rows"]:
        page = viewer.get(f"/p/harbour/scores/systems/{row['system_id']}/").text
        assert f"express {round(100 * row['scores']['coverage']['mean'])} % of" in " ".join(page.split())
        assert f"sources support {shown(row['scores']['alignment']['mean'])} % of" in text_of(page)
    return tables["coverage"]


def check_pairs(viewer: Client, table: dict[str, Any], score: str, order: list[str]) -> None:
    lines = viewer.get(f"/p/harbour/scores/pairs/file/?by={score}&target=20&format=csv").content.decode()
    pairs = list(csv.DictReader(lines.splitlines()))
    assert len(pairs) == len(order) * (len(order) - 1) / 2
    places = table["ranking"]["places"]
    for pair in pairs:
        assert order.index(pair["first"]) < order.index(pair["second"])
        assert not pair["difference"] or float(pair["difference"]) >= 0
        is_alike = bool(set(places[pair["first"]]["letters"]) & set(places[pair["second"]]["letters"]))
        assert (pair["holds"] == "true") != is_alike
    front = table["ranking"]["front"]
    for pair in pairs:
        assert not (pair["holds"] == "true" and pair["second"] in front["may_be_best"])


def check_overview(viewer: Client, table: dict[str, Any], score: str) -> None:
    page = viewer.get("/p/harbour/").content.decode()
    if score == "coverage":
        assert table["headline"] in text_of(page)
        for row in table["rows"]:
            assert f"{shown(row['scores'][score]['mean'])} %" in text_of(page)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.__name__)
def test_no_two_views_contradict_one_another(
    world: World, signed_in: SignIn, client_of: ApiDoor, tmp_path: Path, answer: Answer, seed: int
) -> None:
    chance = random.Random(f"{answer.__name__} {seed}")
    study(world, chance)
    answer(world, chance)
    viewer = signed_in(world.vic)
    table = check_every_view(world, viewer, client_of, tmp_path)
    for score, name in zip(SCORES, ANSWERS[answer], strict=True):
        assert table["bases"][score]["name"].startswith(name)
    add_a_system_with_gaps(world, chance)
    table = check_every_view(world, viewer, client_of, tmp_path)
    # The added system has no estimate, so the table shows no estimates.
    assert not any(basis["name"].startswith("estimated") for basis in table["bases"].values())


def test_no_two_views_of_pooled_estimates_contradict_one_another(
    world: World, signed_in: SignIn, client_of: ApiDoor, tmp_path: Path
) -> None:
    chance = random.Random(4)
    study(world, chance, others=("dogwood", "elm", "fir"))
    finished(world, chance)
    viewer = signed_in(world.vic)
    table = check_every_view(world, viewer, client_of, tmp_path)
    assert table["bases"]["coverage"]["column"] == "coverage_pooled"
    for row in table["rows"]:
        assert row["scores"]["coverage"] == row["scores"]["coverage_pooled"]
        assert row["scores"]["coverage"]["mean"] != row["scores"]["coverage_estimate"]["mean"]
    page = viewer.get("/p/harbour/scores/?by=coverage&target=20").content.decode()
    assert "Thin line: people's answers about this system alone. Thick line: with the judge" in text_of(page)
    assert page.count('<line class="direct"') == len(table["rows"])


def test_a_system_with_few_sets_has_no_rank_and_keeps_no_other_from_its_estimate(
    world: World, signed_in: SignIn, client_of: ApiDoor
) -> None:
    chance = random.Random(5)
    study(world, chance, others=("dogwood",))
    kept = Summary.objects.filter(system__name="dogwood")[:4]
    others = Check.objects.filter(summary__system__name="dogwood").exclude(summary__in=list(kept))
    Score.objects.filter(summary__in=others.values("summary")).delete()
    others.delete()
    finished(world, chance)
    board = client_of("vic").get("/api/v1/projects/harbour/leaderboard/?target_words=20").json()
    (table,) = board["tables"]
    # An interval needs five document sets.
    assert {row["system"]: row["rank"] for row in table["rows"]}.pop("dogwood") is None
    assert table["rows"][-1]["system"] == "dogwood"
    assert table["bases"]["coverage"]["column"] == "coverage_estimate"
    assert "dogwood" not in {*table["ranking"]["places"], *table["ranking"]["front"]["may_be_best"]}
    assert "dogwood" not in table["headline"]
    page = text_of(signed_in(world.vic).get("/p/harbour/scores/?target=20").text)
    assert page.count("too few sets") == 1
    assert "dogwood too few sets" in page


def test_an_answer_after_a_look_makes_no_census(world: World, client_of: ApiDoor) -> None:
    lay_sets(world, 5)
    for check in Check.objects.filter(project=world.project):
        override(check=check, by=world.rex, label="yes")
    bases = []
    for had_seen in (False, True):
        Verdict.objects.filter(role="reviewer", check_row__claim__text="Claim 1").update(had_seen=had_seen)
        Score.objects.filter(project=world.project).update(revision=had_seen)
        (table,) = client_of("vic").get("/api/v1/projects/harbour/leaderboard/").json()["tables"]
        bases.append((table["bases"]["coverage"]["name"], table["bases"]["coverage"]["is_unchecked"]))
    assert bases == [("people", False), ("people, not all blind", False)]


def test_the_gate_says_what_the_leaderboard_says(world: World, signed_in: SignIn, client_of: ApiDoor) -> None:
    lay_sets(world, 6)
    judge_to_end(world.project, world.judge, ["coverage", "alignment"])
    Score.objects.exclude(summary__document_set__external_id__startswith="set").delete()
    rows = []
    for summary in Summary.objects.filter(score__project=world.project, is_summary=True):
        claims = Check.objects.filter(summary=summary, side="reference", is_current=True).order_by(
            "claim__position"
        )
        given = [GivenClaim(text) for text in claims.values_list("claim__text", flat=True)]
        document = summary.document_set.documents.get().text
        text = SummaryInput(document, summary.text, "Any.", target_words=summary.target_words, claims=given)
        rows.append(GateSummary(summary.document_set.external_id, summary.system.name, text))
    report = run_gate(rows, judge=LexicalJudge(), fail_under={"coverage": 0.0})
    (table,) = client_of("vic").get("/api/v1/projects/harbour/leaderboard/").json()["tables"]
    told = {row["system"]: {name: row["scores"][name]["mean"] for name in SCORES} for row in table["rows"]}
    for system in report.systems:
        assert {name: system.means[name].mean for name in SCORES} == pytest.approx(told[system.system])
    assert "Passed by an unchecked judge." in gate_report_text(report)
    assert "by an unchecked judge" in signed_in(world.vic).get("/p/harbour/scores/").text
    assert json.loads(gate_report_text(report, "json"))["is_unchecked"]

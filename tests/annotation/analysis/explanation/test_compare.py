from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.explanation.compare import compared_sets, differing_checks, paired_differences
from annotation.analysis.explanation.compare_judges import compare_judges
from annotation.analysis.leaderboard.averages import Observation, averages
from annotation.models import Check, Judge, Look, Run, Score, Verdict
from annotation.reviewing.services.review import override
from tests.annotation.answering import say
from tests.annotation.planning import lay_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

PAGE = "/p/harbour/scores/compare/"
TARGET = 20


def texts(world: World, score: str) -> dict[str, list[str]]:
    alder, birch = world.systems["alder"], world.systems["birch"]
    checks = differing_checks(world.project, alder, birch, score=score, target_words=TARGET)
    [port] = compared_sets(checks, alder, birch, target_words=TARGET)
    assert port.document_set == world.sets["port"]
    return {side.system.name: [check.claim.text for check in side.checks] for side in port.sides}


def test_coverage_shows_the_claims_that_one_summary_alone_expresses(world: World) -> None:
    # The judge says yes, no, yes for alder and no, no, no for birch. The first two claims share a unit, so the third
    # claim moves coverage by 1/2 and the first by 1/4.
    first, third = (world.check("alder", number).claim.text for number in (1, 3))
    assert texts(world, "coverage") == {"alder": [third, first], "birch": []}
    override(check=world.check("birch", 1), by=world.rex, label="yes")
    override(check=world.check("birch", 2), by=world.rex, label="yes")
    second = world.check("birch", 2).claim.text
    assert texts(world, "coverage") == {"alder": [third], "birch": [second]}


def test_alignment_shows_what_the_source_does_not_support(world: World) -> None:
    check = world.check("birch", 3)
    Check.objects.filter(pk=check.pk).update(side="summary", final_label="no", final_source="judge")
    assert texts(world, "alignment") == {"alder": [], "birch": [check.claim.text]}


def test_the_difference_is_the_mean_over_common_sets(world: World) -> None:
    lay_sets(world, 8)
    alder, birch = world.systems["alder"], world.systems["birch"]
    scores = Score.objects.filter(project=world.project, summary__target_words=TARGET, coverage__isnull=False)
    by_set: dict[str, dict[str, float]] = {}
    for row in scores.select_related("summary__system", "summary__document_set"):
        by_set.setdefault(row.summary.document_set.external_id, {})[row.summary.system.name] = row.coverage
    differences = {name: by["alder"] - by["birch"] for name, by in by_set.items() if len(by) == 2}
    found = paired_differences(world.project, alder, birch, score="coverage", target_words=TARGET)[""]
    assert found.n == len(differences) > 5
    assert found.mean == pytest.approx(sum(differences.values()) / len(differences))
    by_hand = averages([Observation("x", name, name, (value,)) for name, value in differences.items()], ["c"])
    assert (found.low, found.high) == (by_hand["x"]["c"].low, by_hand["x"]["c"].high)
    back = paired_differences(world.project, birch, alder, score="coverage", target_words=TARGET)[""]
    assert back.mean == pytest.approx(-(found.mean or 0))


def test_the_page_names_the_difference_and_records_what_was_seen(world: World, signed_in: SignIn) -> None:
    page = signed_in(world.cleo).get(PAGE, {"first": "alder", "second": "birch"}).content.decode()
    assert "Only here, says the judge" in page
    # A single common set allows no test, so the difference of .75 may be chance.
    assert "has the higher coverage, 75 % against 0 %, but that may be chance." in " ".join(page.split())
    assert world.check("alder", 3).claim.text in page
    assert Look.objects.filter(person=world.cleo, check_row=world.check("alder", 3)).exists()
    same = signed_in(world.cleo).get(PAGE, {"first": "alder", "second": "alder"})
    assert same.status_code == 422


def test_another_score_is_compared_by_coverage(world: World, signed_in: SignIn) -> None:
    page = signed_in(world.vic).get(PAGE, {"by": "brevity"}).content.decode()
    assert "<option selected>coverage</option>" in page
    assert world.check("alder", 3).claim.text in page


def test_the_best_two_systems_are_compared_unless_others_are_chosen(world: World, signed_in: SignIn) -> None:
    page = signed_in(world.vic).get(PAGE).content.decode()
    assert "<title>alder and birch" in page


def test_two_judges_are_compared_on_what_both_answered(world: World, signed_in: SignIn) -> None:
    """The judge lexical says yes, no, yes for alder, and scripted says yes, unsure, no. Rex agrees with scripted on
    the third.
    """
    scripted = Judge.objects.create(name="scripted", kind=Judge.Kind.OPENAI, project=world.project, model="m")
    checks = [world.check("alder", number) for number in (1, 2, 3)]
    for check, label in zip(checks, ("yes", "unsure", "no"), strict=True):
        Verdict.objects.create(
            check_row=check, role=Verdict.Role.JUDGE, judge=scripted, origin_name="scripted|v:1", label=label
        )
    say(checks[2], world.rex, "no")
    found = compare_judges(world.project, world.judge, scripted, score="coverage", most=9)
    # Unsure counts as not yes, so the judges differ only on the third claim. Three checks of one set give no
    # interval.
    assert (found.checks, found.differ, found.first_right, found.second_right) == (3, 1, 0, 1)
    assert (found.agreement.value, found.agreement.low) == (pytest.approx(2 / 3), None)
    [third] = found.differing
    assert (third.check, third.first, third.second, third.people) == (checks[2], "yes", "no", "no")
    for judge in (world.judge, scripted):
        Run.objects.create(project=world.project, judge=judge)
    page = " ".join(signed_in(world.cleo).get(PAGE, {"of": "judges"}).content.decode().split())
    assert "The judges give the same answer to 67 % of 3 claims of coverage and differ on 1." in page
    assert "People answered 1 of the claims on which the judges differ:" in page
    assert "<bdi>lexical</bdi> was right on 0, <bdi>scripted</bdi> on 1." in page
    assert checks[2].claim.text in page
    assert checks[0].claim.text not in page
    assert Look.objects.filter(person=world.cleo, check_row=checks[2], revealed_at__isnull=False).exists()
    same = {"of": "judges", "first": "scripted", "second": "scripted"}
    assert signed_in(world.cleo).get(PAGE, same).status_code == 422


def test_one_judge_alone_is_told_so(world: World, signed_in: SignIn) -> None:
    assert "Only one judge has answered" in signed_in(world.vic).get(PAGE, {"of": "judges"}).content.decode()

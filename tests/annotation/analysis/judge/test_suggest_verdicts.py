"""Verdicts that are suggested: what they learn from, where they are kept, and that they score nothing."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.analysis.estimates.sample_planned import sample_planned
from annotation.analysis.judge.suggest_verdicts import Suggested, suggest_verdicts
from annotation.analysis.make_analysis import suggest_again
from annotation.models import Analysis, Check, DrawnCheck, Score, Verdict
from annotation.scoring.rescore import rescore
from annotation.scoring.suggested import store_suggested
from tests.annotation.planning import lay_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def answer_by_claim(world: World, *, size: int) -> None:
    """A sample of which Rex says yes to the first two claims of every set and no to the others, whatever the judge."""
    draw = sample_planned(project=world.project, by=world.mona, size=size, design="uniform", seed=3)
    for row in DrawnCheck.objects.filter(draw=draw).select_related("check_row__claim").order_by("pk"):
        row.verdict = Verdict.objects.create(
            check_row=row.check_row,
            source=Verdict.Source.REVIEWER,
            person=world.rex,
            label="yes" if row.check_row.claim.position <= 2 else "no",
        )
        row.save(update_fields=["verdict"])
    rescore(project=world.project)


@pytest.fixture
def answered(world: World) -> World:
    Check.objects.filter(project=world.project).delete()
    lay_sets(world, 20)
    answer_by_claim(world, size=80)
    return world


def test_what_people_said_of_a_claim_elsewhere_is_suggested(answered: World) -> None:
    found = suggest_verdicts(project=answered.project)
    # 20 sets of 4 claims in the summaries of 2 systems; half of the 160 checks are answered.
    assert (found.checks, found.answered) == (160, 80)
    assert found.brier is not None
    assert found.brier_judge is not None
    assert found.brier < found.brier_judge
    checks = Check.objects.filter(project=answered.project)
    elsewhere = {check.claim_id: check.human_label for check in checks if check.human_label}
    told: dict[str, list[float]] = {"yes": [], "no": []}
    for check in checks.filter(human_label=None, claim__in=elsewhere):
        told[elsewhere[check.claim_id]].append(check.suggested_probability or 0.0)
    assert mean(told["yes"]) > mean(told["no"]) + 0.1


def test_it_is_kept_beside_the_scores_and_moves_none(answered: World) -> None:
    columns = ("coverage", "signature", "revision")
    before = list(Score.objects.order_by("pk").values_list(*columns))
    suggest_verdicts(project=answered.project)
    assert list(Score.objects.order_by("pk").values_list(*columns)) == before
    call_command("verify_scores", answered.project.slug)
    kept = list(Check.objects.order_by("pk").values_list("suggested_probability", flat=True))
    rescore(project=answered.project)
    assert list(Check.objects.order_by("pk").values_list("suggested_probability", flat=True)) == kept


def test_without_a_sample_nothing_is_suggested_and_what_was_is_taken_back(world: World) -> None:
    check = world.check("alder", 1)
    assert store_suggested(project=world.project, suggested={check.public_id: 0.25}) == 1
    assert suggest_verdicts(project=world.project) == Suggested()
    check.refresh_from_db()
    assert check.suggested_probability is None


def test_of_one_system_there_is_nothing_to_learn(world: World) -> None:
    Check.objects.filter(project=world.project).delete()
    lay_sets(world, 20)
    Check.objects.filter(peer__system__name="birch").delete()
    answer_by_claim(world, size=40)
    assert suggest_verdicts(project=world.project) == Suggested()


def test_storing_asks_no_more_of_the_database_for_more_checks(world: World) -> None:
    def statements(count: int) -> int:
        Check.objects.filter(project=world.project).delete()
        lay_sets(world, count, first=count)
        wanted = dict.fromkeys(
            Check.objects.filter(project=world.project).values_list("public_id", flat=True), 0.5
        )
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert store_suggested(project=world.project, suggested=wanted) == 8 * count
        assert store_suggested(project=world.project, suggested=wanted) == 0
        return len(captured)

    assert statements(1) == statements(4)


@pytest.mark.parametrize("kind", ["leaderboard", "judge"])
def test_a_worker_that_makes_statistics_brings_them_up_to_date(answered: World, kind: str) -> None:
    suggest_again(project_id=answered.project.pk, kind="agreement")
    assert not Analysis.objects.exists()
    suggest_again(project_id=answered.project.pk, kind=kind)
    stored = Analysis.objects.get(kind=Analysis.Kind.SUGGESTED)
    assert stored.payload["made"]["checks"] == 160
    assert Check.objects.filter(suggested_probability__isnull=False).count() == 160
    suggest_again(project_id=answered.project.pk, kind=kind)
    assert Analysis.objects.get(kind=Analysis.Kind.SUGGESTED).made_at == stored.made_at

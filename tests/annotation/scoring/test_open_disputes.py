from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.models import Dispute
from annotation.projects.services.change_project import change_project
from annotation.reviewing.services.review import override, withdraw_answer
from annotation.scoring.rescore import rescore
from tests.annotation.answering import differ_on_a_unit
from tests.annotation.cast import World
from tests.annotation.exports.acts import assess_and_close

if TYPE_CHECKING:
    from annotation.models import Check


def answered(world: World, *labels: str, number: int = 1) -> Check:
    for person, label in zip((world.rex, world.olga, world.cleo), labels, strict=False):
        override(check=world.check("alder", number), by=person, label=label)
    return world.check("alder", number)


def queue() -> list[tuple[str, float, int]]:
    rows = Dispute.objects.order_by("-spread", "pk")
    return [(row.state, round(row.spread, 6), row.answers) for row in rows]


def complaints() -> list[str]:
    out = StringIO()
    try:
        call_command("verify_scores", "harbour", stdout=out)
    except CommandError:
        return out.getvalue().splitlines()
    return []


def test_one_answer_is_no_dispute(world: World) -> None:
    answered(world, "no")
    assert queue() == []


def test_answers_that_differ_are_one(world: World) -> None:
    answered(world, "no", "yes")
    assert queue() == [("open", 1.0, 2)]


def test_unsure_lies_half_way(world: World) -> None:
    answered(world, "unsure", "yes")
    assert queue() == [("open", 0.5, 2)]


def test_a_threshold_that_is_met_is_not_passed(world: World) -> None:
    change_project(project=world.project, by=world.olga, dispute_threshold=0.5)
    answered(world, "unsure", "yes")
    assert queue() == []


def test_changing_the_threshold_rebuilds_the_queue(world: World) -> None:
    answered(world, "unsure", "yes")
    change_project(project=world.project, by=world.olga, dispute_threshold=0.5)
    assert queue() == [("agreed", 0.5, 2)]
    change_project(project=world.project, by=world.olga, dispute_threshold=0.2)
    assert queue() == [("open", 0.5, 2)]


def test_the_judge_s_answer_counts_if_the_project_says_so(world: World) -> None:
    # The judge says yes to alder's claim 1.
    answered(world, "no")
    change_project(project=world.project, by=world.olga, dispute_answers="judge")
    assert queue() == [("open", 1.0, 2)]
    change_project(project=world.project, by=world.olga, dispute_answers="people")
    assert queue() == [("agreed", 0.0, 1)]


def test_a_change_of_mind_ends_a_dispute(world: World) -> None:
    check = answered(world, "no", "yes")
    override(check=check, by=world.rex, label="yes")
    assert queue() == [("agreed", 0.0, 2)]


def test_an_answer_taken_back_ends_a_dispute(world: World) -> None:
    check = answered(world, "no", "yes")
    withdraw_answer(answer=check.verdicts.get(person=world.olga), by=world.olga)
    assert queue() == [("agreed", 0.0, 1)]


def test_a_decision_settles_and_taking_it_back_opens_again(world: World) -> None:
    decision = decide_check(check=answered(world, "no", "yes"), by=world.cleo, label="no")
    assert queue() == [("settled", 1.0, 2)]
    withdraw_answer(answer=decision, by=world.cleo)
    assert queue() == [("open", 1.0, 2)]


def test_percents_of_assessors_differ_by_unit(world: World) -> None:
    differ_on_a_unit(world)
    # Alder's unit 1 has a difference of 60 - 20 = 40 points; the other answers are equal.
    assert queue() == [("open", 0.4, 2)]
    row = Dispute.objects.get()
    assert (row.comparison, row.unit) == (world.comparison("port", "alder"), world.units("port")[0])


def test_a_step_of_the_scale_is_not_further_apart_than_a_fifth(world: World) -> None:
    differ_on_a_unit(world, ana=40)
    assert queue() == []


def test_the_judges_share_of_yes_is_its_percent(world: World) -> None:
    percents = {("alder", 1): 0, ("alder", 2): 100, ("birch", 1): 0, ("birch", 2): 0}
    assess_and_close(world, world.ana, percents)
    change_project(project=world.project, by=world.olga, dispute_answers="judge")
    # The judge says yes to one of two claims of alder's unit 1, which is .5 against 0; all other answers are equal.
    assert queue() == [("open", 0.5, 2)]


def test_the_queue_is_proved(world: World) -> None:
    answered(world, "no", "yes")
    answered(world, "no", "yes", number=2)
    decide_check(check=world.check("alder", 2), by=world.cleo, label="no")
    assert complaints() == []
    row = Dispute.objects.get(check_row=world.check("alder", 1))
    Dispute.objects.filter(pk=row.pk).update(spread=0.1)
    assert complaints() == [f"port, alder, target 20, dispute {row.public_id}: spread is 0.1, should be 1.0"]
    Dispute.objects.filter(pk=row.pk).delete()
    assert complaints() == ["port, alder, target 20: 2 answers 1 apart are missing from the disputes"]


def test_what_is_no_longer_in_force_is_no_dispute(world: World) -> None:
    check = answered(world, "no", "yes")
    claim_set = check.claim.claim_set
    claim_set.is_active = False
    claim_set.save()
    check.summary.checks.update(is_current=False)
    assert any("no longer in force" in line for line in complaints())
    rescore(project=world.project)
    assert queue() == []


def test_disputes_that_are_thrown_away_are_rebuilt_under_their_ids(world: World) -> None:
    answered(world, "no", "yes")
    answered(world, "no", "yes", number=2)
    differ_on_a_unit(world)
    before = set(Dispute.objects.values_list("public_id", flat=True))
    Dispute.objects.all().delete()
    rescore(project=world.project)
    assert set(Dispute.objects.values_list("public_id", flat=True)) == before
    assert len(before) == 3

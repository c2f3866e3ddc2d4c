"""The bias watch: every rate with its calculation by hand, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.refusals import Conflict
from annotation.models import CheckLook, Verdict, VerdictBatch
from annotation.reviewing.queries.bias import Agreement, Bias, Rate, TimeAtClaim, bias_watch
from annotation.reviewing.services.review import override
from tests.annotation.answering import add_checks, answer_fourteen, look, say
from tests.annotation.cast import add_imported_verdict

if TYPE_CHECKING:
    from tests.annotation.cast import World


def of(world: World, person: str) -> Bias:
    return next(bias for bias in bias_watch(world.project).people if bias.person == person)


def test_without_answers_there_is_nobody_to_watch(world: World) -> None:
    watch = bias_watch(world.project)
    assert watch.people == ()
    assert (watch.project.answers, watch.project.agreement, watch.project.time) == (
        0,
        Agreement(),
        TimeAtClaim(),
    )


def test_overrides_are_told_apart_by_what_their_author_knew(world: World) -> None:
    answer_fourteen(world)
    rex = of(world, "rex")
    assert rex.answers == 14
    # Given knowing nothing and kept: 1-4 no, 9-14 yes; given with the verdict in sight: 5-8, all no as the judge says.
    assert (rex.overridden_unseen, rex.overridden_unseen.value) == (Rate(6, 10), 0.6)
    assert (rex.overridden_seen, rex.overridden_seen.value) == (Rate(0, 4), None)


def test_switching_is_counted_of_those_that_differed_at_first(world: World) -> None:
    answer_fourteen(world)
    # Rex differed at 5-14 and made 5-8 the judge's.
    assert (of(world, "rex").switched, of(world, "rex").switched.value) == (Rate(4, 10), 0.4)
    # Cleo differed at 4 and 7-12, and changed nothing.
    assert of(world, "cleo").switched == Rate(0, 7)
    assert bias_watch(world.project).project.switched == Rate(4, 17)


def test_agreement_is_of_first_answers_before_the_verdict_was_seen(world: World) -> None:
    checks = answer_fourteen(world)
    say(checks[12], world.cleo, "yes", shown="judge")
    # The same at 1-3 and 7-12: 9 of 12. By chance (4*5 + 8*7) / 144 = 76/144; kappa (108 - 76) / (144 - 76) = 8/17.
    assert of(world, "rex").agreement == Agreement(agreed=9, pairs=12, kappa=pytest.approx(8 / 17))
    # Of all together both sides share one habit, no to 9 of 24: chance (81 + 225) / 576, kappa 126/270 = 7/15.
    agreement = bias_watch(world.project).project.agreement
    assert agreement == Agreement(agreed=9, pairs=12, kappa=pytest.approx(7 / 15))
    assert agreement.share == 0.75


def test_a_blind_pair_that_differs_counts_though_one_of_them_was_set_aside(world: World) -> None:
    checks = add_checks(world, 10)
    for check in checks[:8]:
        for person in (world.rex, world.cleo):
            override(check=check, by=person, label="no", seen="")
    for check in checks[8:]:
        override(check=check, by=world.cleo, label="no")
        with pytest.raises(Conflict):
            override(check=check, by=world.rex, label="yes", seen="")
        override(check=check, by=world.rex, label="no")
    # Eight alike and two that differ: 8 of 10. By chance (8*10 + 2*0) / 100 = 8/10, so kappa is 0.
    assert of(world, "rex").agreement == Agreement(agreed=8, pairs=10, kappa=pytest.approx(0))


def test_who_met_anothers_answer_knew_nothing_of_the_judges_and_did_not_switch_to_it(world: World) -> None:
    # The judge says no to both; Rex said yes at first, which was set aside.
    for check, label in zip(add_checks(world, 2), ("no", "yes"), strict=True):
        say(check, world.rex, "yes", set_aside=True)
        say(check, world.rex, label, shown="person", minutes_ago=50)
        look(check, world.rex)
    rex = of(world, "rex")
    assert (rex.answers, rex.overridden_unseen, rex.overridden_seen) == (2, Rate(1, 2), Rate())
    assert rex.switched == Rate()


def test_an_answer_that_was_set_aside_and_not_given_again_is_none(world: World) -> None:
    [check] = add_checks(world, 1)
    say(check, world.rex, "yes", set_aside=True)
    assert (of(world, "rex").answers, of(world, "rex").overridden_unseen) == (0, Rate())


def test_what_was_set_aside_with_a_planted_verdict_in_sight_was_held_when_it_was_told(world: World) -> None:
    for check, label in zip(add_checks(world, 2), ("yes", "no"), strict=True):
        told = look(check, world.rex, planted="yes", told=True)
        given = say(check, world.rex, label, shown="planted", minutes_ago=40, set_aside=True)
        # Set aside, and told in the same act.
        Verdict.objects.filter(pk=given.pk).update(withdrawn_at=given.created_at)
        CheckLook.objects.filter(pk=told.pk).update(disclosed_at=given.created_at)
    assert of(world, "rex").withstood == Rate(1, 2)


def test_kappa_is_not_said_where_everybody_always_gives_the_same_answer(world: World) -> None:
    for check in add_checks(world, 10):
        for person in (world.rex, world.cleo):
            say(check, person, "no")
    assert of(world, "rex").agreement == Agreement(agreed=10, pairs=10, kappa=None)


def test_each_pair_of_three_people_counts_once_for_the_project(world: World) -> None:
    for check in add_checks(world, 4):
        for person, label in ((world.rex, "no"), (world.cleo, "no"), (world.olga, "yes")):
            say(check, person, label)
    watch = bias_watch(world.project)
    assert (watch.project.agreement.agreed, watch.project.agreement.pairs) == (4, 12)
    assert [bias.agreement.pairs for bias in watch.people] == [8, 8, 8]


def test_time_is_the_median_of_all_time_at_a_check(world: World) -> None:
    answer_fourteen(world)
    # 1 to 4, 5.5 to 8.5, 9 to 14 seconds: the seventh is 7.5, the eighth 8.5.
    assert of(world, "rex").time == TimeAtClaim(median_ms=8000.0, n=14)
    assert of(world, "cleo").time == TimeAtClaim()
    assert bias_watch(world.project).project.time == TimeAtClaim(median_ms=8000.0, n=14)


def test_of_an_odd_number_the_median_is_the_middle_one(world: World) -> None:
    for number, check in enumerate(add_checks(world, 11), start=1):
        say(check, world.rex, "no", ms=number * number)
    assert of(world, "rex").time == TimeAtClaim(median_ms=36.0, n=11)


def test_below_ten_cases_nothing_is_said(world: World) -> None:
    for check in add_checks(world, 9):
        say(check, world.rex, "yes", ms=1000)
    rex = of(world, "rex")
    assert (rex.overridden_unseen, rex.overridden_unseen.value) == (Rate(9, 9), None)
    assert (rex.time.median_ms, rex.time.n) == (None, 9)


def test_lists_taken_over_are_no_overrides_and_take_no_time(world: World) -> None:
    batch = VerdictBatch.objects.create(project=world.project, by=world.rex, filters={}, count=6)
    checks = add_checks(world, 10)
    for check in checks[:6]:
        look(check, world.rex)
        say(check, world.rex, "no", shown="judge", batch=batch)
    for check in checks[6:]:
        say(check, world.rex, "yes", ms=100)
    rex = of(world, "rex")
    assert (rex.in_lists, rex.in_lists.value) == (Rate(6, 10), 0.6)
    assert rex.overridden_seen == Rate()
    assert rex.time.n == 4


def test_planted_verdicts_are_withstood_where_they_were_not_held_when_told(world: World) -> None:
    kept, followed, fooled, mended = add_checks(world, 4)
    look(kept, world.rex, planted="yes", told=True)
    say(kept, world.rex, "no")
    look(followed, world.rex, planted="yes", told=True)
    say(followed, world.rex, "no")
    say(followed, world.rex, "yes", shown="planted", minutes_ago=40)
    # Shown before any answer.
    look(fooled, world.rex, planted="yes", told=True)
    say(fooled, world.rex, "yes", shown="planted", minutes_ago=40)
    # What is answered after being told tells nothing of following.
    look(mended, world.rex, planted="yes", told=True)
    say(mended, world.rex, "yes", shown="planted", minutes_ago=40)
    say(mended, world.rex, "no", shown="judge", minutes_ago=10)
    assert of(world, "rex").withstood == Rate(1, 4)


def test_who_gave_the_planted_answer_by_themselves_did_not_follow_it(world: World) -> None:
    [check] = add_checks(world, 1)
    look(check, world.rex, planted="yes", told=True)
    say(check, world.rex, "yes")
    assert (of(world, "rex").withstood, of(world, "rex").planted_already) == (Rate(0, 0), 1)


def test_planted_verdicts_count_once_their_reader_was_told(world: World) -> None:
    [check] = add_checks(world, 1)
    look(check, world.rex, planted="yes")
    say(check, world.rex, "no")
    assert of(world, "rex").withstood == Rate()


def test_planted_verdicts_are_not_taken_for_the_judges(world: World) -> None:
    first, second = add_checks(world, 2)
    # Changed towards the planted answer, which is not the judge's; and an answer given with it in sight.
    look(first, world.rex, planted="yes", told=True)
    say(first, world.rex, "yes")
    say(first, world.rex, "no", shown="planted", minutes_ago=40)
    look(second, world.rex, planted="yes", told=True)
    say(second, world.rex, "yes", shown="planted", minutes_ago=40)
    rex = of(world, "rex")
    assert (rex.switched, rex.overridden_seen, rex.overridden_unseen) == (Rate(), Rate(), Rate())


def test_answers_taken_back_leave_the_one_before(world: World) -> None:
    first, second = add_checks(world, 2)
    for check in (first, second):
        look(check, world.rex)
        say(check, world.rex, "yes")
    say(first, world.rex, "no", shown="judge", withdrawn=True)
    Verdict.objects.filter(check_row=second).update(withdrawn_at=Verdict.objects.latest("pk").created_at)
    rex = of(world, "rex")
    assert (rex.answers, rex.switched, rex.overridden_unseen) == (1, Rate(0, 1), Rate(1, 1))


def test_without_a_judges_answer_there_is_nothing_to_follow(world: World) -> None:
    [check] = add_checks(world, 1, judge=None)
    look(check, world.rex)
    say(check, world.rex, "yes")
    rex = of(world, "rex")
    assert (rex.answers, rex.switched, rex.overridden_unseen) == (1, Rate(), Rate())


def test_imported_answers_and_other_projects_are_left_out(world: World) -> None:
    add_imported_verdict(world.check("alder", 1), "yes")
    assert bias_watch(world.project).people == ()
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    assert bias_watch(world.other_project).people == ()


def test_what_the_review_service_writes_is_understood(world: World) -> None:
    # The judge says no to alder's second claim: rex differs, sees it, and takes it over.
    override(check=world.check("alder", 2), by=world.rex, label="yes", active_ms=1500)
    override(check=world.check("alder", 2), by=world.rex, label="no", active_ms=500)
    rex = of(world, "rex")
    assert (rex.switched, rex.overridden_unseen, rex.overridden_seen) == (Rate(1, 1), Rate(), Rate(0, 1))


def test_more_reviewers_need_no_more_queries(world: World) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            bias_watch(world.project)
        return len(queries)

    checks = answer_fourteen(world)
    before = count()
    for check in checks:
        say(check, world.olga, "no")
        say(check, world.mona, "yes")
    assert count() == before == 4

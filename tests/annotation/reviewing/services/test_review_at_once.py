from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from annotation.core.lists import Viewer
from annotation.core.refusals import Conflict
from annotation.models import Check, Membership, Role, SampledCheck, Score, Verdict
from annotation.reviewing.queries.review_queue import QUEUE
from annotation.reviewing.services.lease_check import hand_out
from annotation.reviewing.services.review import GivenAnswer, override
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.asking import answer, make_question
from tests.annotation.at_once import at_once

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 5


def test_of_two_answers_of_one_person_at_once_one_stands_and_the_other_shows_both(world: World) -> None:
    seen = ""
    for number in range(ROUNDS):
        check = world.check("alder", 2)
        first, second = at_once(
            partial(override, check=check, by=world.rex, label="yes", reason="one", seen=seen),
            partial(override, check=check, by=world.rex, label="unsure", reason="other", seen=seen),
        )
        stands = next(each.verdict for each in (first, second) if isinstance(each, GivenAnswer))
        refusal = next(each for each in (first, second) if isinstance(each, Conflict))
        yours, theirs = ("one", "other") if refusal is first else ("other", "one")
        assert (refusal.details["yours"]["reason"], refusal.details["theirs"]["reason"]) == (yours, theirs)
        assert Verdict.objects.filter(check_row=check, person=world.rex).count() == number + 1
        check.refresh_from_db()
        assert check.final_label == stands.label
        seen = stands.public_id


def test_two_people_who_answer_at_once_both_stand_and_make_a_dispute(world: World) -> None:
    check = world.check("alder", 2)
    at_once(
        partial(override, check=check, by=world.rex, label="yes", seen=""),
        partial(override, check=check, by=world.cleo, label="unsure", seen=""),
    )
    said = Verdict.objects.filter(check_row=check, role="reviewer", withdrawn_at=None, had_seen=False)
    assert said.count() == 2
    check.refresh_from_db()
    assert (check.is_disputed, check.final_label) == (True, said.latest("pk").label)
    # Unit 1 has yes and the latest answer, which gives 1 for yes and .5 otherwise; unit 2 has yes. Coverage is the
    # mean.
    unit_1 = 1.0 if check.final_label == "yes" else 0.5
    assert Score.objects.get(summary=world.summaries["port", "alder"]).coverage == pytest.approx(
        (unit_1 + 1) / 2
    )


def test_answers_to_two_checks_of_a_summary_at_once_both_count(world: World) -> None:
    at_once(
        lambda: override(check=world.check("alder", 1), by=world.rex, label="no"),
        lambda: override(check=world.check("alder", 2), by=world.cleo, label="yes"),
    )
    # Unit 1 has no and yes, which is .5; unit 2 has the judge's yes, which is 1.
    assert Score.objects.get(summary=world.summaries["port", "alder"]).coverage == pytest.approx(0.75)


def test_answers_to_a_question_from_its_source_and_from_summaries_at_once_all_count(world: World) -> None:
    question = make_question(world.sets["port"], "Does it close?")
    summaries = [world.summaries["port", system] for system in ("alder", "birch")]
    checks = [answer(question, "no", judge=world.judge, summary=summary) for summary in (None, *summaries)]
    people = (world.olga, world.rex, world.cleo)
    for label, coverage in (("yes", 1.0), ("no", None), ("yes", 1.0)):
        at_once(
            *(
                partial(override, check=check, by=by, label=label)
                for check, by in zip(checks, people, strict=True)
            )
        )
        scores = Score.objects.filter(summary__in=summaries).values_list("question_coverage", flat=True)
        assert list(scores) == [coverage, coverage]


def test_six_people_who_ask_at_once_are_handed_six_checks(world: World) -> None:
    people = [getattr(world, name) for name in ("olga", "mona", "rex", "cleo", "ana", "vic")]
    Membership.objects.filter(user__in=people).update(roles=[Role.REVIEWER])
    for given in ({}, {"sort": "document"}):
        Check.objects.update(leased_to=None, lease_until=None)
        looks = [QUEUE.look(Viewer.now(person, world.project), given) for person in people]
        handed = at_once(*(partial(hand_out, look=look) for look in looks))
        assert {each.pk for each in handed if isinstance(each, Check)} == set(
            Check.objects.values_list("pk", flat=True)
        )


def test_of_two_blind_answers_to_a_sampled_check_one_is_that_of_the_sample(world: World) -> None:
    sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=1)
    check = world.check("alder", 1)
    at_once(
        lambda: override(check=check, by=world.rex, label="yes"),
        lambda: override(check=check, by=world.cleo, label="no"),
    )
    sampled = SampledCheck.objects.get(check_row=check)
    assert sampled.verdict == Verdict.objects.filter(check_row=check, role="reviewer").earliest("pk")

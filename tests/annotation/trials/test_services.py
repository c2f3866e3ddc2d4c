from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.models import Check, Event, GuidelineTrial, Membership, Score, Verdict
from annotation.models.base import new_public_id
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.queries.again import next_again, waiting_again
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from annotation.trials.report import answered_versions, trials
from annotation.trials.services import answer_again, decide_trial
from tests.annotation.answering import look
from tests.annotation.trials.given import again, answer_all, answered, second, start

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World


@pytest.fixture(autouse=True)
def _answered(world: World) -> None:
    answered(world)


def waits(world: World, person: User) -> int:
    return waiting_again(world.project, person).count()


def scores(world: World) -> list[tuple[int, float | None]]:
    return list(Score.objects.filter(project=world.project).order_by("pk").values_list("summary", "coverage"))


def labels(world: World) -> dict[int, str | None]:
    return dict(Check.objects.filter(project=world.project).values_list("pk", "human_label"))


def test_a_third_is_asked_under_the_old_version(world: World) -> None:
    trial = start(world)
    rows = list(trial.answers.all())
    assert (len(rows), sum(row.is_control for row in rows)) == (30, 10)
    assert {row.person_id for row in rows} == {world.rex.pk}
    assert (trial.old.version, trial.new.version) == (1, 2)
    assert waits(world, world.rex) == 30
    assert (waits(world, world.cleo), waits(world, world.olga)) == (0, 0)


def test_the_same_seed_asks_the_same(world: World) -> None:
    def chosen() -> list[tuple[int, bool]]:
        trial = start(world)
        rows = list(trial.answers.values_list("check_row", "is_control"))
        trial.delete()
        return rows

    assert chosen() == chosen()


def test_answers_that_were_not_blind_or_are_withdrawn_are_not_asked(world: World) -> None:
    given = Verdict.objects.filter(person=world.rex).order_by("pk")
    assert [(row.version, row.score, row.claims) for row in answered_versions(world.project, 2)] == [
        (1, "coverage", 48)
    ]
    Verdict.objects.filter(pk=given[0].pk).update(had_seen=True)
    Verdict.objects.filter(pk=given[1].pk).update(withdrawn_at=given[1].created_at)
    Check.objects.filter(pk=given[2].check_row_id).update(is_current=False)
    Check.objects.filter(pk=given[3].check_row_id).update(final_source="rule")
    assert [row.claims for row in answered_versions(world.project, 2)] == [44]
    with pytest.raises(Invalid, match="at most the 44 with a blind answer under version 1"):
        start(world, size=45)
    assert start(world, size=44).answers.count() == 44


def test_wrong_requests_are_refused(world: World) -> None:
    for field, asked in {
        "size": {"size": 14},
        "old_version": {"old_version": 2},
        "score": {"score": "brevity"},
    }.items():
        with pytest.raises(Invalid) as refused:
            start(world, **asked)  # type: ignore[arg-type]
        assert refused.value.field == field
    Membership.objects.exclude(user=world.rex).update(roles=["manager"])
    with pytest.raises(Invalid, match="one reviewer"):
        start(world, by_others=True)
    assert not GuidelineTrial.objects.exists()


def test_one_trial_is_open_at_a_time(world: World) -> None:
    trial = start(world)
    with pytest.raises(Conflict) as refused:
        start(world)
    assert refused.value.code == "trial_open"
    decide_trial(trial=trial, by=world.olga, decision="drop")
    assert start(world).pk != trial.pk


def test_old_guidelines_come_first_and_nothing_scores(world: World) -> None:
    trial = start(world)
    before, verdicts = scores(world), Verdict.objects.count()
    orders = []
    while row := next_again(world.project, world.rex):
        orders.append(row.is_control)
        again(world, row, "no")
    assert orders == [True] * 10 + [False] * 20
    rescore(project=world.project)
    assert (scores(world), Verdict.objects.count()) == (before, verdicts)
    assert {row.label for row in trial.answers.all()} == {"no"}


def test_others_are_asked_what_they_do_not_know(world: World) -> None:
    trial = start(world, by_others=True)
    shown = trial.answers.all()[0]
    look(shown.check_row, world.cleo)
    assert (waits(world, world.rex), waits(world, world.cleo), waits(world, world.olga)) == (0, 29, 30)
    with pytest.raises(Conflict) as refused:
        again(world, shown, "no", by=world.cleo)
    assert refused.value.code == "not_waiting"
    again(world, shown, "no", by=world.olga)
    shown.refresh_from_db()
    assert (shown.person, shown.label) == (world.olga, "no")


def test_an_answer_is_given_once(world: World) -> None:
    row = start(world, by_others=True).answers.all()[0]
    again(world, row, "no", by=world.cleo)
    with pytest.raises(Conflict):
        again(world, row, "yes", by=world.olga)
    row.refresh_from_db()
    assert (row.person, row.label) == (world.cleo, "no")


def test_wrong_answers_are_refused(world: World) -> None:
    row = start(world).answers.all()[0]
    with pytest.raises(Invalid, match="yes, no, unsure"):
        again(world, row, "maybe")
    with pytest.raises(Conflict):
        again(world, row, "no", by=world.cleo)
    with pytest.raises(NotAllowed):
        again(world, row, "no", by=world.vic)
    with pytest.raises(NotFound):
        answer_again(project=world.project, answer_id=new_public_id(), by=world.rex, label="no")


def test_claims_that_are_no_longer_checked_are_not_waited_for(world: World) -> None:
    trial = start(world)
    gone = trial.answers.all()[0]
    for row in trial.answers.exclude(pk=gone.pk):
        again(world, row, "yes")
    Check.objects.filter(pk=gone.check_row_id).update(is_current=False)
    assert waits(world, world.rex) == 0
    (shown,) = trials(world.project)
    assert (shown.asked, shown.waiting) == (29, 0)


def test_a_decision_waits_for_all_answers(world: World) -> None:
    trial = start(world)
    for decision in ("mix", "new"):
        with pytest.raises(Conflict) as refused:
            decide_trial(trial=trial, by=world.olga, decision=decision)
        assert refused.value.code == "trial_incomplete"
    with pytest.raises(Invalid):
        decide_trial(trial=trial, by=world.olga, decision="estimate")
    with pytest.raises(NotAllowed):
        decide_trial(trial=trial, by=world.rex, decision="drop")


def test_dropped_answers_never_count(world: World) -> None:
    trial = start(world)
    before = labels(world)
    answer_all(world, trial, new=20, old=10)
    decide_trial(trial=trial, by=world.olga, decision="drop")
    assert (labels(world), waits(world, world.rex)) == (before, 0)
    with pytest.raises(Conflict) as refused:
        decide_trial(trial=trial, by=world.olga, decision="mix")
    assert refused.value.code == "trial_dropped"


def test_mixed_answers_count_by_the_newest(world: World) -> None:
    trial = start(world)
    answer_all(world, trial, new=5, old=10)
    decide_trial(trial=trial, by=world.olga, decision="mix")
    # Five of the twenty answers under the new version are no; answers under the old version do not count.
    assert Counter(labels(world).values()) == {"yes": 43, "no": 5, None: 6}
    made = Verdict.objects.filter(guideline=second(world))
    assert {(row.person, row.had_seen) for row in made} == {(world.rex, True)}
    assert made.count() == 20
    with pytest.raises(Conflict) as refused:
        decide_trial(trial=trial, by=world.olga, decision="drop")
    assert refused.value.code == "trial_counted"


def test_others_who_differ_make_disputes(world: World) -> None:
    trial = start(world, by_others=True)
    answer_all(world, trial, new=5, old=0, by=world.cleo)
    decide_trial(trial=trial, by=world.olga, decision="mix")
    assert Check.objects.filter(is_disputed=True).count() == 5
    assert not Verdict.objects.filter(guideline=second(world), had_seen=True).exists()


def test_new_answers_only_can_be_taken_back(world: World) -> None:
    sample = sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=7)
    trial = start(world)
    answer_all(world, trial, new=5, old=0)
    decide_trial(trial=trial, by=world.olga, decision="new")
    # 48 old answers are withdrawn and 20 new ones count; the judge decides the other checks.
    assert Counter(labels(world).values()) == {"yes": 15, "no": 5, None: 34}
    sample.refresh_from_db()
    assert sample.cancelled_at is not None
    decide_trial(trial=trial, by=world.olga, decision="mix")
    assert Counter(labels(world).values()) == {"yes": 43, "no": 5, None: 6}
    assert not Verdict.objects.filter(withdrawn_at__isnull=False).exists()
    assert Verdict.objects.filter(guideline=second(world)).count() == 20
    sample.refresh_from_db()
    assert sample.cancelled_at is None


def test_new_answers_only_leaves_alone_what_it_does_not_concern(world: World) -> None:
    trial = start(world)
    answer_all(world, trial, new=0, old=0)
    own = world.check("alder", 1)
    Verdict.objects.create(check_row=own, role="reviewer", origin_name="gold.jsonl", label="no")
    Verdict.objects.create(
        check_row=world.check("alder", 2), role="adjudicator", person=world.cleo, label="no"
    )
    write_guidelines(project=world.project, text="Be fair.", by=world.mona)
    newer = override(check=world.check("alder", 3), by=world.rex, label="no").verdict
    decide_trial(trial=trial, by=world.olga, decision="new")
    kept = Verdict.objects.filter(withdrawn_at=None).exclude(role="judge").exclude(guideline=second(world))
    assert sorted(row.origin_name or row.role for row in kept) == ["adjudicator", "gold.jsonl", "reviewer"]
    assert newer in kept


def test_an_answer_that_was_given_since_is_not_replaced(world: World) -> None:
    trial = start(world)
    answer_all(world, trial, new=20, old=0)
    row = trial.answers.filter(is_control=False)[0]
    override(
        check=Check.objects.select_related("project", "summary").get(pk=row.check_row_id),
        by=world.rex,
        label="unsure",
    )
    decide_trial(trial=trial, by=world.olga, decision="mix")
    assert labels(world)[row.check_row_id] == "unsure"
    assert Event.objects.get(verb="decide trial").data["counted"] == 19


def test_the_same_decision_twice_changes_nothing(world: World) -> None:
    trial = start(world)
    answer_all(world, trial, new=5, old=0)
    for _ in range(2):
        decide_trial(trial=trial, by=world.olga, decision="mix")
    assert Event.objects.filter(verb="decide trial").count() == 1
    assert Verdict.objects.filter(guideline=second(world)).count() == 20

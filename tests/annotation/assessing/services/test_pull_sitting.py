"""Sets from the queue: who gets which, and that nobody gets what another one has."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.utils import timezone

from annotation.assessing.queries.assignments import lapsed_work, queue_offer
from annotation.assessing.services.assign import assign
from annotation.assessing.services.assignment_orders import AssignmentOrder, Way
from annotation.assessing.services.plan_assignments import carry_out
from annotation.assessing.services.pull_sitting import pull, take_up
from annotation.assessing.services.recall_sitting import give_back, lapse_leases, recall
from annotation.core.refusals import Conflict, NotAllowed, NotFound, Refusal
from annotation.models import Assignment, Event, Sitting, Summary, System, UnitJudgment
from tests.annotation.laying import add_assessors, begin, judge_and_close, only_these_sets

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World

PATIENCE_SECONDS = 60


def fill_queue(world: World, per_set: int = 1, seed: int = 1) -> list[Sitting]:
    order = AssignmentOrder(way=Way.QUEUE, seed=seed, per_set=per_set)
    return carry_out(project=world.project, order=order, by=world.mona)


def run_out(sitting: Sitting) -> None:
    Sitting.objects.filter(pk=sitting.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def together(*acts: Callable[[], object]) -> list[object]:
    """What each act returned or was refused with, all of them begun at the same instant."""
    start = threading.Barrier(len(acts))
    results: list[object] = [None] * len(acts)

    def do(place: int) -> None:
        start.wait(PATIENCE_SECONDS)
        try:
            results[place] = acts[place]()
        except Refusal as refusal:
            results[place] = refusal
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=(place,)) for place in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert not any(thread.is_alive() for thread in threads)
    return results


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(Conflict) as refusal:
        act()
    return refusal.value.code


# Pulling


def test_a_pulled_set_is_the_persons_under_a_lease(world: World) -> None:
    fill_queue(world)
    before = timezone.now()
    sitting = pull(project=world.project, by=world.ana)
    sitting.refresh_from_db()
    assert (sitting.assessor, sitting.is_pulled, sitting.position) == (world.ana, True, 1)
    assert sitting.lease_until is not None
    assert timedelta(minutes=29) < sitting.lease_until - before < timedelta(minutes=31)
    assert Event.objects.get(verb="pull").actor == world.ana


def test_one_pulled_set_at_a_time(world: World) -> None:
    fill_queue(world)
    sitting = pull(project=world.project, by=world.ana)
    with pytest.raises(Conflict) as refusal:
        pull(project=world.project, by=world.ana)
    assert (refusal.value.code, refusal.value.details) == ("one_at_a_time", {"sitting": sitting.public_id})
    judge_and_close(sitting)
    assert pull(project=world.project, by=world.ana).document_set != sitting.document_set


def test_nobody_gets_a_set_that_they_have_or_had(world: World) -> None:
    fill_queue(world, per_set=2)
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    first = pull(project=world.project, by=world.ana)
    assert first.document_set.external_id == "bridge"
    judge_and_close(first)
    assert refused(lambda: pull(project=world.project, by=world.ana)) == "queue_empty"


def test_what_was_given_back_or_taken_away_does_not_come_again(world: World) -> None:
    fill_queue(world)
    given = pull(project=world.project, by=world.ana)
    give_back(sitting=given, by=world.ana)
    # Untouched, it waits again as it was, so nothing says that she had it: it may come again.
    assert queue_offer(world.project, world.ana).sets == 2
    again = pull(project=world.project, by=world.ana)
    begin(again)
    give_back(sitting=again, by=world.ana)
    assert queue_offer(world.project, world.ana).sets == 1
    last = pull(project=world.project, by=world.ana)
    recall(sitting=last, by=world.mona)
    assert refused(lambda: pull(project=world.project, by=world.ana)) == "queue_empty"
    assert queue_offer(world.project, world.ben).sets == 1


def test_a_set_that_was_given_back_untouched_comes_last_for_whoever_did(world: World) -> None:
    only_these_sets(world, ["quay", "mole", "pier"])
    fill_queue(world, per_set=2)
    met = []
    for _ in range(4):
        sitting = pull(project=world.project, by=world.ana)
        met.append(sitting.document_set.external_id)
        give_back(sitting=sitting, by=world.ana)
    assert sorted(met[:3]) == ["mole", "pier", "quay"]
    # All three came back from her: the one she gave back longest ago comes first.
    assert met[3] == met[0]


def test_the_least_covered_sets_come_first(world: World) -> None:
    only_these_sets(world, ["quay", "mole", "pier"])
    fill_queue(world, per_set=3)
    (eve,) = add_assessors(world, ["eve"])
    for name in ("quay", "mole"):
        assign(document_set=world.sets[name], assessor=eve, by=None)
    assert pull(project=world.project, by=world.ana).document_set.external_id == "pier"


def test_people_meet_sets_in_orders_of_their_own(world: World) -> None:
    only_these_sets(world, [f"set-{n}" for n in range(20)])
    people = add_assessors(world, ["eve", "gus", "ida", "jon", "kay"])
    fill_queue(world, per_set=1)
    first = set()
    for person in people:
        sitting = pull(project=world.project, by=person)
        first.add(sitting.document_set.external_id)
        give_back(sitting=sitting, by=person)
    assert len(first) > 1


def test_own_summaries_come_last_and_are_flagged(world: World) -> None:
    own = System.objects.create(project=world.project, name="ana-writes", person=world.ana)
    Summary.objects.filter(pk=world.models["port"].pk).update(system=own)
    fill_queue(world)
    first = pull(project=world.project, by=world.ana)
    assert first.document_set.external_id == "bridge"
    judge_and_close(first)
    last = pull(project=world.project, by=world.ana)
    assert last.document_set.external_id == "port"
    assert set(last.assignments.values_list("is_own_model", "is_own_peer")) == {(True, False)}
    give_back(sitting=last, by=world.ana)
    assert not Assignment.objects.filter(is_own_model=True).exists()


def test_an_empty_queue_says_so(world: World) -> None:
    assert refused(lambda: pull(project=world.project, by=world.ana)) == "queue_empty"


@pytest.mark.parametrize("name", ["mona", "rex", "cleo", "vic"])
def test_only_assessors_pull(world: World, name: str) -> None:
    with pytest.raises(NotAllowed):
        pull(project=world.project, by=getattr(world, name))


def test_an_outsider_finds_no_queue(world: World) -> None:
    with pytest.raises(NotFound):
        pull(project=world.project, by=world.dan)


# At the same instant


def test_eight_people_who_pull_at_once_never_get_the_same(transactional_db: None, world: World) -> None:
    only_these_sets(world, [f"set-{n}" for n in range(5)])
    people = add_assessors(world, [f"person-{n}" for n in range(8)])
    fill_queue(world, per_set=2)
    got = together(*(lambda person=person: pull(project=world.project, by=person) for person in people))
    sittings = [sitting.pk for sitting in got if isinstance(sitting, Sitting)]
    assert len(sittings) == len(set(sittings)) == 8
    rows = Sitting.objects.filter(pk__in=sittings)
    assert {row.assessor for row in rows} == set(people)
    assert Sitting.objects.filter(assessor__isnull=True).count() == 2


def test_of_eight_who_pull_the_last_three_sets_five_are_refused(transactional_db: None, world: World) -> None:
    only_these_sets(world, ["quay", "mole", "pier"])
    people = add_assessors(world, [f"person-{n}" for n in range(8)])
    fill_queue(world)
    got = together(*(lambda person=person: pull(project=world.project, by=person) for person in people))
    assert len({sitting.pk for sitting in got if isinstance(sitting, Sitting)}) == 3
    assert Counter(refusal.code for refusal in got if isinstance(refusal, Conflict)) == {"queue_empty": 5}


def test_one_person_in_two_tabs_gets_one(transactional_db: None, world: World) -> None:
    fill_queue(world, per_set=2)
    got = together(*[lambda: pull(project=world.project, by=world.ana)] * 2)
    assert sorted(type(result).__name__ for result in got) == ["Conflict", "Sitting"]
    assert Sitting.objects.filter(assessor=world.ana).count() == 1


def test_a_manager_and_the_queue_do_not_give_the_same_set_twice(transactional_db: None, world: World) -> None:
    only_these_sets(world, ["quay"])
    fill_queue(world, per_set=2)
    got = together(
        lambda: pull(project=world.project, by=world.ana),
        lambda: assign(document_set=world.sets["quay"], assessor=world.ana, by=world.mona),
    )
    assert Sitting.objects.filter(assessor=world.ana).count() == 1
    assert isinstance(got[1], Sitting)


# Leases


def test_an_untouched_set_whose_lease_ran_out_waits_again_as_it_was(world: World) -> None:
    (waiting, *_) = fill_queue(world)
    orders = list(waiting.assignments.order_by("position").values_list("public_id", flat=True))
    Sitting.objects.exclude(pk=waiting.pk).delete()
    sitting = pull(project=world.project, by=world.ana)
    run_out(sitting)
    assert lapse_leases() == 1
    sitting.refresh_from_db()
    assert (sitting.pk, sitting.assessor, sitting.is_pulled, sitting.position) == (waiting.pk, None, False, 0)
    assert list(sitting.assignments.order_by("position").values_list("public_id", flat=True)) == orders
    assert pull(project=world.project, by=world.ben) == sitting


def test_a_begun_set_is_kept_for_its_person_and_waits_afresh(world: World) -> None:
    order = AssignmentOrder(way=Way.QUEUE, seed=1)
    carry_out(project=world.project, order=order, by=world.mona)
    sitting = pull(project=world.project, by=world.ana)
    begin(sitting)
    run_out(sitting)
    assert lapse_leases(project=world.project) == 1
    sitting.refresh_from_db()
    assert (sitting.recalled_as, sitting.assessor) == ("lapsed", world.ana)
    assert set(sitting.assignments.values_list("state", flat=True)) == {"recalled"}
    assert UnitJudgment.objects.filter(assignment__sitting=sitting).count() == 1
    fresh = Sitting.objects.get(replaces=sitting)
    assert fresh.assessor is None
    work = set(sitting.assignments.values_list("comparison", flat=True))
    assert set(fresh.assignments.values_list("comparison", flat=True)) == work
    assert Event.objects.get(verb="lapse").actor is None


def test_a_lease_that_still_runs_does_not_lapse(world: World) -> None:
    fill_queue(world)
    pull(project=world.project, by=world.ana)
    assert lapse_leases() == 0


def test_a_lease_is_told_by_the_databases_clock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has its machine's clock.")
    fill_queue(world)
    sitting = pull(project=world.project, by=world.ana)
    ahead = timezone.now() + timedelta(days=1)
    monkeypatch.setattr("django.utils.timezone.now", lambda: ahead)
    assert lapse_leases() == 0
    begin(sitting)
    sitting.refresh_from_db()
    assert sitting.lease_until is not None
    assert sitting.lease_until < ahead


def test_pulling_lapses_what_ran_out(world: World) -> None:
    only_these_sets(world, ["quay"])
    fill_queue(world)
    run_out(pull(project=world.project, by=world.ana))
    assert pull(project=world.project, by=world.ben).document_set.external_id == "quay"


def test_who_comes_back_first_goes_on_with_all_that_they_said(world: World) -> None:
    fill_queue(world)
    sitting = pull(project=world.project, by=world.ana)
    begin(sitting)
    Sitting.objects.filter(pk=sitting.pk).update(pen="tab-1", pen_seq=7)
    run_out(sitting)
    lapse_leases()
    assert [row.sitting_id for row in lapsed_work(world.project, world.ana)] == [sitting.public_id]
    resumed = take_up(sitting=sitting, by=world.ana)
    resumed.refresh_from_db()
    assert (resumed.pk, resumed.recalled_at, resumed.recalled_as, resumed.pen_seq) == (
        sitting.pk,
        None,
        "",
        7,
    )
    assert resumed.lease_until is not None
    assert resumed.lease_until > timezone.now()
    assert sorted(resumed.assignments.values_list("state", flat=True)) == ["draft", "open"]
    assert not Sitting.objects.filter(replaces=sitting).exists()
    judge_and_close(resumed)


def test_pulling_again_resumes_what_was_lost(world: World) -> None:
    fill_queue(world)
    sitting = pull(project=world.project, by=world.ana)
    begin(sitting)
    run_out(sitting)
    assert pull(project=world.project, by=world.ana) == sitting


def test_who_comes_back_last_is_told(world: World) -> None:
    only_these_sets(world, ["quay"])
    fill_queue(world)
    sitting = pull(project=world.project, by=world.ana)
    begin(sitting)
    run_out(sitting)
    fresh = pull(project=world.project, by=world.ben)
    assert fresh.replaces == sitting
    assert refused(lambda: take_up(sitting=sitting, by=world.ana)) == "taken"
    assert lapsed_work(world.project, world.ana) == []
    # Once Ben gives it back untouched, it is hers again.
    give_back(sitting=fresh, by=world.ben)
    assert take_up(sitting=sitting, by=world.ana) == sitting


def test_a_set_may_be_taken_up_in_any_place_that_holds_the_same_work(world: World) -> None:
    only_these_sets(world, ["quay"])
    fill_queue(world, per_set=2)
    sitting = pull(project=world.project, by=world.ana)
    begin(sitting)
    run_out(sitting)
    lapse_leases()
    pull(project=world.project, by=world.ben)
    assert pull(project=world.project, by=world.ana) == sitting
    assert refused(lambda: pull(project=world.project, by=world.ana)) == "one_at_a_time"
    assert not Sitting.objects.filter(assessor__isnull=True).exists()


def test_what_has_not_lapsed_yet_is_simply_taken_up(world: World) -> None:
    fill_queue(world)
    sitting = pull(project=world.project, by=world.ana)
    run_out(sitting)
    assert take_up(sitting=sitting, by=world.ana) == sitting


def test_what_a_manager_took_away_is_not_taken_up(world: World) -> None:
    fill_queue(world)
    sitting = pull(project=world.project, by=world.ana)
    recall(sitting=sitting, by=world.mona)
    assert refused(lambda: take_up(sitting=sitting, by=world.ana)) == "not_lapsed"
    with pytest.raises(NotFound):
        take_up(sitting=sitting, by=world.ben)


def lose(world: World, names: Sequence[str] = ("quay",)) -> Sitting:
    """Ana's begun set, whose lease has run out; nobody has noticed yet."""
    only_these_sets(world, names)
    fill_queue(world)
    sitting = pull(project=world.project, by=world.ana)
    begin(sitting)
    run_out(sitting)
    return sitting


def test_several_reapers_lapse_a_set_once(transactional_db: None, world: World) -> None:
    sitting = lose(world)
    assert sum(int(str(count)) for count in together(*[lapse_leases] * 4)) == 1
    assert Sitting.objects.filter(replaces=sitting).count() == 1


def test_of_an_act_and_a_lapse_at_the_same_instant_one_wins(transactional_db: None, world: World) -> None:
    for _ in range(5):
        Sitting.objects.all().delete()
        sitting = lose(world)
        results = together(lambda s=sitting: begin(s), lapse_leases)
        sitting.refresh_from_db()
        if results[1] == 1:
            # It lapsed: the act came before, and is kept with the rest, or was refused.
            assert sitting.recalled_as == "lapsed"
            assert Sitting.objects.filter(replaces=sitting).count() == 1
        else:
            assert sitting.recalled_at is None
            assert sitting.lease_until is not None
            assert sitting.lease_until > timezone.now()
        assert results[0] is None or isinstance(results[0], Conflict)


def test_of_taking_up_and_pulling_at_the_same_instant_one_wins(transactional_db: None, world: World) -> None:
    for _ in range(5):
        Sitting.objects.all().delete()
        sitting = lose(world)
        lapse_leases()
        results = together(
            lambda s=sitting: take_up(sitting=s, by=world.ana),
            lambda: pull(project=world.project, by=world.ben),
        )
        assert sorted(type(result).__name__ for result in results) == ["Conflict", "Sitting"]
        live = Sitting.objects.filter(recalled_at__isnull=True)
        assert live.count() == 1
        assert live.get().assessor in (world.ana, world.ben)


def test_ten_people_work_a_queue_off(transactional_db: None, world: World) -> None:
    only_these_sets(world, [f"set-{n}" for n in range(6)])
    people = add_assessors(world, [f"person-{n}" for n in range(4)])
    fill_queue(world, per_set=3)

    def work(person: User) -> int:
        done = 0
        while True:
            try:
                sitting = pull(project=world.project, by=person)
            except Conflict:
                # Who passed over rows that others were taking looks again, as people do.
                if not queue_offer(world.project, person).sets:
                    return done
                continue
            Sitting.objects.filter(pk=sitting.pk).update(closed_at=timezone.now())
            done += 1

    counts = together(*(lambda person=person: work(person) for person in people))
    assert sum(int(str(count)) for count in counts) == 18
    held = Counter(Sitting.objects.values_list("document_set__external_id", "assessor__username"))
    assert set(held.values()) == {1}

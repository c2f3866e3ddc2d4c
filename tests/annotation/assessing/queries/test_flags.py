"""What is worth a look in closed work. Ten words a second, of six characters each, are 60 characters a second.

The model units of "port" have 53 and 34 characters: 883.3 and 566.7 ms. The peers have 72 (alder) and 56 (birch):
1200 and 933.3 ms.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotation.assessing.queries import flags as flags_module
from annotation.assessing.queries.flags import Flags, flags_by_person, flags_by_sitting
from annotation.assessing.services.recall_sitting import recall
from annotation.models import Assignment, Claim, ClaimSet, Sitting, SummaryJudgment
from tests.annotation.cast import PEERS, World, finish
from tests.annotation.laying import add_sets
from tests.annotation.sitting import say, sit

SLOW = 60_000


def of(sitting: Sitting) -> Flags:
    return flags_by_sitting(Sitting.objects.all())[sitting.pk]


def test_the_lengths_that_the_times_are_worked_out_from(world: World) -> None:
    assert [unit.end - unit.start for unit in world.units("port")] == [53, 34]
    assert [len(PEERS[name]) for name in ("alder", "birch")] == [72, 56]


def test_calm_work_raises_nothing(world: World) -> None:
    sitting = sit(world, "ana", "port")
    for name in PEERS:
        say(sitting, name, (60, [1], SLOW), (0, [], SLOW))
    finish(sitting)
    assert of(sitting) == Flags(sittings=1, units=4, summaries=2)


def test_nothing_is_said_of_drafts(world: World) -> None:
    say(sit(world, "ana", "port"), "alder", (60, [], 1))
    assert flags_by_sitting(Sitting.objects.all()) == {}
    assert flags_by_person(Sitting.objects.all()) == {}


def test_a_unit_is_fast_below_the_time_that_reading_it_takes(world: World) -> None:
    sitting = sit(world, "ana", "port")
    # 883 ms are less than 883.3, and 567 not less than 566.7.
    say(sitting, "alder", (60, [1], 883), (0, [], 567))
    say(sitting, "birch", (60, [1], 884), (0, [], 566))
    finish(sitting)
    assert of(sitting).fast_units == 2


def test_all_time_at_a_unit_counts(world: World) -> None:
    sitting = sit(world, "ana", "port")
    say(sitting, "alder", (60, [1], 500), (0, [], SLOW))
    say(sitting, "alder", (40, [1], 500))
    say(sitting, "birch", (60, [1], SLOW), (0, [], SLOW))
    finish(sitting)
    assert of(sitting).fast_units == 0


def test_a_summary_is_fast_below_the_time_that_reading_it_takes(world: World) -> None:
    sitting = sit(world, "ana", "port")
    # alder: 600 + 599 = 1199 < 1200 ms. birch: 400 + 534 = 934 > 933.3 ms.
    say(sitting, "alder", (60, [1], 600), (0, [], 599))
    say(sitting, "birch", (60, [1], 400), (0, [], 534))
    finish(sitting)
    assert of(sitting).fast_summaries == 1


def test_the_time_at_the_questions_belongs_to_the_summary(world: World) -> None:
    sitting = sit(world, "ana", "port")
    say(sitting, "alder", (60, [1], 600), (0, [], 599))
    say(sitting, "birch", (60, [1], SLOW), (0, [], SLOW))
    finish(sitting)
    SummaryJudgment.objects.filter(peer=world.peers["port", "alder"], is_current=True).update(active_ms=1)
    assert of(sitting).fast_summaries == 0


def test_work_without_times_is_not_fast(world: World) -> None:
    sitting = sit(world, "ana", "port")
    for name in PEERS:
        say(sitting, name, (60, [1], 0), (0, [], 0))
    finish(sitting)
    assert (of(sitting).fast_units, of(sitting).fast_summaries) == (0, 0)


def test_a_claim_that_stands_in_for_a_unit_is_measured_by_its_own_words(world: World) -> None:
    model = world.models["bridge"]
    claims = ClaimSet.objects.create(summary=model, origin="import")
    claim = Claim.objects.create(claim_set=claims, position=1, text="x" * 60, origin="import")
    sitting = sit(world, "ana", "bridge")
    for name, ms in (("alder", 999), ("birch", 1001)):
        assignment = sitting.assignments.get(comparison__peer__system__name=name)
        assignment.unit_judgments.create(claim=claim, percent=20, marks=[1], active_ms=ms)
    finish(sitting)
    # 60 characters take 1000 ms.
    assert of(sitting).fast_units == 1
    ClaimSet.objects.filter(pk=claims.pk).update(is_active=False)
    assert (of(sitting).fast_units, of(sitting).units) == (0, 0)


def test_percents_and_marks_that_seldom_go_together(world: World) -> None:
    sitting = sit(world, "ana", "port")
    say(sitting, "alder", (60, [], SLOW), (0, [1, 2], SLOW))
    say(sitting, "birch", (20, [], SLOW), (0, [], SLOW))
    finish(sitting)
    assert (of(sitting).percents_without_marks, of(sitting).marks_without_percent) == (2, 1)


def test_only_the_last_word_counts(world: World) -> None:
    sitting = sit(world, "ana", "port")
    for marks in ([], [1]):
        for name in PEERS:
            say(sitting, name, (60, marks, SLOW), (20, marks, SLOW))
    finish(sitting)
    assert of(sitting).percents_without_marks == 0


@pytest.mark.parametrize(("targets", "last", "alike"), [(5, 20, 1), (5, 40, 0), (4, 20, 0)])
def test_the_same_percent_throughout_a_set_of_ten_units(
    world: World, targets: int, last: int, alike: int
) -> None:
    # Each target adds a peer by alder and one by birch with one unit each: 5 make the ten units.
    add_sets(world, ["long"], targets=range(20, 20 + targets))
    sitting = sit(world, "ana", "long")
    assignments = list(sitting.assignments.select_related("comparison__model"))
    for assignment in assignments:
        assert assignment.comparison is not None
        unit = assignment.comparison.model.units.get()
        percent = last if assignment == assignments[-1] else 20
        assignment.unit_judgments.create(unit=unit, percent=percent, marks=[1], active_ms=SLOW)
    finish(sitting)
    assert of(sitting).alike_sittings == alike
    assert flags_module.FEWEST_ALIKE == 10


def test_what_the_assessor_wrote_is_counted(world: World) -> None:
    sitting = sit(world, "ana", "port")
    for name in PEERS:
        say(sitting, name, (60, [1], SLOW), (0, [], SLOW))
    finish(sitting)
    Assignment.objects.filter(sitting=sitting).update(is_own_model=True)
    Assignment.objects.filter(comparison__peer__system__name="alder").update(is_own_peer=True)
    assert (of(sitting).own_models, of(sitting).own_peers) == (2, 1)


def test_a_set_that_was_taken_away_and_given_again(world: World) -> None:
    recall(sitting=sit(world, "ana", "port"), by=world.mona)
    recall(sitting=sit(world, "ben", "bridge"), by=world.mona)
    again, other = sit(world, "ana", "port"), sit(world, "ben", "port")
    for sitting in (again, other):
        for name in PEERS:
            say(sitting, name, (60, [1], SLOW), (0, [], SLOW))
        finish(sitting)
    assert (of(again).given_again, of(other).given_again) == (1, 0)


def test_a_persons_flags_are_those_of_their_sittings(world: World) -> None:
    for name, document_set in (("ana", "port"), ("ana", "bridge"), ("ben", "port")):
        sitting = sit(world, name, document_set)
        for system in PEERS:
            say(sitting, system, (60, [], SLOW), (0, [], 1))
        finish(sitting)
    # In each sitting: two percents without marks, two units in a millisecond.
    one = Flags(sittings=1, units=4, summaries=2, fast_units=2, percents_without_marks=2)
    two = replace(one, sittings=2, units=8, summaries=4, fast_units=4, percents_without_marks=4)
    assert flags_by_person(Sitting.objects.all()) == {world.ana.pk: two, world.ben.pk: one}

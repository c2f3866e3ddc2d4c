"""How far assessors agree with themselves on hidden repeats."""

from __future__ import annotations

from annotation.assessing.queries.self_agreement import NO_REPEATS, agreement_by_person
from annotation.models import Sitting
from tests.annotation.cast import World, finish
from tests.annotation.sitting import repeat, say, sit


def test_both_times_are_held_against_each_other(world: World) -> None:
    sitting = sit(world, "ana", "port")
    repeat(sitting, "alder")
    say(sitting, "alder", (20, [1], 0), (60, [1], 0))
    say(sitting, "alder", (60, [1], 0))
    say(sitting, "birch", (0, [], 0), (0, [], 0))
    say(sitting, "alder", (60, [1], 0), (100, [1], 0), again=True)
    finish(sitting)
    # The last word of each time: 60 and 60, 60 and 100. Equal: 1 of 2; (0 + 40) / 2 = 20 points apart.
    agreement = agreement_by_person(Sitting.objects.all())[world.ana.pk]
    assert (agreement.items, agreement.exact, agreement.within_step) == (2, 0.5, 0.5)
    assert agreement.mean_difference == 20


def test_nothing_is_said_before_the_set_is_closed(world: World) -> None:
    sitting = sit(world, "ana", "port")
    repeat(sitting, "alder")
    say(sitting, "alder", (60, [1], 0))
    say(sitting, "alder", (60, [1], 0), again=True)
    assert agreement_by_person(Sitting.objects.all()) == {}
    assert NO_REPEATS.exact is None


def test_each_person_for_themselves(world: World) -> None:
    for name, second in (("ana", 60), ("ben", 0)):
        sitting = sit(world, name, "port")
        repeat(sitting, "birch")
        say(sitting, "alder", (0, [], 0), (0, [], 0))
        say(sitting, "birch", (60, [1], 0), (60, [1], 0))
        say(sitting, "birch", (second, [1], 0), (second, [1], 0), again=True)
        finish(sitting)
    agreements = agreement_by_person(Sitting.objects.all())
    assert {person: each.exact for person, each in agreements.items()} == {world.ana.pk: 1, world.ben.pk: 0}
    own = agreement_by_person(Sitting.objects.filter(assessor=world.ben))
    assert list(own) == [world.ben.pk]

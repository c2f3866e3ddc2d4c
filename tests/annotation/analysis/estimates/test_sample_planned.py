"""A planned draw: the chances that were foretold, recorded, once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from django.db import transaction

from annotation.analysis.estimates.forecasts import DRAWABLE, planned_chances
from annotation.analysis.estimates.plan import plan
from annotation.analysis.estimates.sample_planned import by_lot, sample_planned
from annotation.analysis.estimates.samples import samples
from annotation.core.refusals import Invalid, NotAllowed
from annotation.models import Check, Draw, DrawnCheck, Event, Project
from annotation.sampling.services.sample_checks import FramedCheck, sample_checks
from tests.annotation.planning import answer_draw, lay_sets

if TYPE_CHECKING:
    from collections.abc import Callable

    from annotation.models import Draw as SetSample
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def draw(world: World, design: str = "active", size: int = 20, seed: int = 9) -> SetSample:
    return sample_planned(project=world.project, by=world.mona, size=size, design=design, seed=seed)


@pytest.mark.parametrize("design", ["uniform", "stratified", "active"])
def test_so_many_are_drawn_each_with_the_chance_that_was_foretold(world: World, design: str) -> None:
    lay_sets(world, 6)
    foretold = planned_chances(world.project, size=20, design=design)  # type: ignore[arg-type]
    drawn = draw(world, design)
    rows = drawn.drawn_checks.values_list("check_row__public_id", "inclusion_probability")
    assert len(rows) == 20
    for name, chance in rows:
        assert chance == pytest.approx(foretold[name][0])
    assert (drawn.method, drawn.item, len(drawn.frame)) == (design, "check", 54)
    assert drawn.by_system


def test_of_each_stratum_as_many_are_drawn_as_were_allotted(world: World) -> None:
    lay_sets(world, 6)
    foretold = planned_chances(world.project, size=20, design="stratified")
    allotted: Counter[str] = Counter()
    for chance, stratum in foretold.values():
        allotted[stratum] += chance  # type: ignore[assignment]
    drawn = draw(world, "stratified").drawn_checks.values_list("check_row__public_id", flat=True)
    assert Counter(foretold[name][1] for name in drawn) == pytest.approx(allotted)


def drawn_by_system(drawn: SetSample) -> Counter[str]:
    return Counter(drawn.drawn_checks.values_list("check_row__peer__system__name", flat=True))


@pytest.mark.parametrize("design", DRAWABLE)
def test_every_system_gets_its_share_to_within_one(world: World, design: str) -> None:
    # Alder's 23 of 38 checks, birch's 15: of 20 they are owed 12.1 and 7.9.
    lay_sets(world, 5)
    gone = Check.objects.filter(
        peer__system__name="birch", peer__document_set__external_id__in=("set-00", "set-01")
    )
    gone.update(is_current=False)
    for seed in range(8):
        shares = drawn_by_system(draw(world, design, seed=seed))
        assert (shares["alder"], shares["birch"]) in {(12, 8), (13, 7)}


def test_of_a_uniform_draw_of_few_every_check_had_the_same_chance(world: World) -> None:
    # Two of 38 checks: every one at 2/38, though that is 1.2 of alder's and .8 of birch's.
    lay_sets(world, 5)
    gone = Check.objects.filter(
        peer__system__name="birch", peer__document_set__external_id__in=("set-00", "set-01")
    )
    gone.update(is_current=False)
    for seed in range(4):
        drawn = draw(world, "uniform", size=2, seed=seed)
        chances = drawn.drawn_checks.values_list("inclusion_probability", flat=True)
        assert list(chances) == pytest.approx([2 / 38] * 2)
        assert drawn_by_system(drawn)["alder"] in {1, 2}


def test_over_many_seeds_checks_are_drawn_as_often_as_recorded() -> None:
    # Systems of 5, 3 and 2 checks; 4 of the 10 are drawn, so .4 of each.
    names = {"a": 5, "b": 3, "c": 2}
    frame = {
        f"{name}{number}": FramedCheck(
            key=number, public_id=f"{name}{number}", system_id=ord(name), target_words=20, probability=None
        )
        for name, count in names.items()
        for number in range(count)
    }
    seen: Counter[str] = Counter()
    for seed in range(3000):
        drawn = by_lot(frame, size=4, seed=100 * seed)
        assert set(drawn.values()) == {0.4}
        assert len(drawn) == 4
        shares = Counter(name[0] for name in drawn)
        # 2, 1.2 and .8 of them.
        assert shares["a"] == 2
        assert shares["b"] in {1, 2}
        seen.update(drawn.keys())
    # The error of a share of 3,000 is .009.
    assert {name: count / 3000 for name, count in seen.items()} == pytest.approx(
        dict.fromkeys(frame, 0.4), abs=0.04
    )


def test_a_form_that_is_sent_twice_draws_once(world: World) -> None:
    lay_sets(world, 2)
    assert draw(world, size=5) == draw(world, size=5)
    assert (Draw.objects.count(), Event.objects.filter(verb="draw checks").count()) == (1, 1)
    assert draw(world, size=5, seed=10) != draw(world, size=5)


def test_what_was_answered_in_an_earlier_draw_keeps_its_answer(world: World) -> None:
    lay_sets(world, 3)
    first = draw(world, "uniform", size=10)
    answer_draw(world, first)
    second = draw(world, "uniform", size=30, seed=10)
    answers = dict(first.drawn_checks.values_list("check_row", "verdict"))
    kept = dict(second.drawn_checks.filter(verdict__isnull=False).values_list("check_row", "verdict"))
    assert kept == answers
    assert Event.objects.latest("pk").data["answered_before"] == 10


def test_a_draw_that_is_all_answered_before_is_complete_at_once(world: World) -> None:
    answer_draw(world, sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0))
    again = draw(world, "uniform", size=4)
    assert not DrawnCheck.objects.filter(draw=again, verdict=None).exists()
    assert samples(world.project)[0].progress.is_complete


@pytest.mark.parametrize(
    ("design", "size", "field"), [("people", 3, "design"), ("active", 0, "size"), ("active", 7, "size")]
)
def test_what_cannot_be_drawn_is_refused(world: World, design: str, size: int, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        draw(world, design, size)
    assert refused.value.field == field


def test_where_the_judges_verdict_is_shown_at_once_nothing_is_drawn(world: World) -> None:
    lay_sets(world, 6)
    earlier = draw(world, seed=3)
    Project.objects.update(reveal="shown")
    with pytest.raises(Invalid) as refused:
        draw(world)
    assert refused.value.code == "shown"
    # The form that drew before, sent again, gives its draw back.
    assert draw(world, seed=3) == earlier


def test_who_may_not_assign_does_not_draw(world: World) -> None:
    with pytest.raises(NotAllowed):
        sample_planned(project=world.project, by=world.rex, size=2, design="uniform")


def with_rules(world: World) -> None:
    """Of 30 checks a rule decides the four of one summary, and one of another."""
    lay_sets(world, 3)
    ruled = Check.objects.filter(peer__system__name="alder", peer__document_set__external_id="set-00")
    one = Check.objects.filter(peer__system__name="birch", peer__document_set__external_id="set-01").first()
    assert one is not None
    Check.objects.filter(pk__in=[*ruled.values_list("pk", flat=True), one.pk]).update(
        final_source=Check.Decider.RULE, final_label="no", judge_probability=None
    )


def with_an_older_draw(world: World) -> None:
    """An answered draw; since then a rule has come to decide some, a claim has gone, and a set has come."""
    lay_sets(world, 5)
    answer_draw(world, draw(world, "uniform", size=30, seed=1))
    lay_sets(world, 1, first=5)
    gone = Check.objects.filter(peer__document_set__external_id="set-01", claim__position=2)
    gone.update(is_current=False)
    ruled = Check.objects.filter(peer__document_set__external_id="set-00", peer__system__name="birch")
    ruled.update(final_source=Check.Decider.RULE, final_label="no")


@pytest.mark.parametrize(
    ("lay", "checks"),
    [
        # 3 sets of 8 and the port's 6.
        (with_rules, 30 - 5),
        # 5 sets of 8 and the port's 6; two are gone, four are decided, eight have come.
        (with_an_older_draw, 46 - 2 - 4 + 8),
    ],
)
def test_every_size_that_is_offered_can_be_drawn(
    world: World, lay: Callable[[World], None], checks: int
) -> None:
    lay(world)
    found = plan(world.project)
    sizes = [each["size"] for each in found["sizes"]]
    assert (found["checks"], sizes[-1]) == (checks, checks)
    assert sum(target["checks"] for target in found["targets"]) == checks - found["came_after"]
    for size in sizes:
        for design in DRAWABLE:
            with transaction.atomic():
                drawn = sample_planned(
                    project=world.project, by=world.mona, size=size, design=design, seed=99
                )
                # Shares of systems are rounded, so chance may draw a few more or fewer than asked for.
                assert abs(drawn.drawn_checks.count() - size) <= 2
                transaction.set_rollback(True)


def test_one_more_than_is_offered_is_refused(world: World) -> None:
    with_rules(world)
    with pytest.raises(Invalid, match="Between 1 and 25 checks"):
        draw(world, "uniform", size=26)

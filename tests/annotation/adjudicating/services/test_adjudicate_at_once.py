from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.adjudicating.services.adjudicate import decide_check, decide_unit
from annotation.adjudicating.services.take_dispute import take_next
from annotation.core.refusals import Conflict
from annotation.models import CoverageJudgment, Dispute, Event, Membership, Role, Score, Verdict
from annotation.reviewing.services.review import override
from tests.annotation.answering import decisions, differ_on_a_unit
from tests.annotation.at_once import at_once
from tests.annotation.cast import add_imported_verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def two_adjudicators(world: World) -> None:
    Membership.objects.filter(user=world.vic).update(roles=[Role.ADJUDICATOR])


def test_of_two_decisions_on_a_check_one_stands_and_the_other_sees_both(world: World) -> None:
    check = world.check("alder", 3)
    override(check=check, by=world.rex, label="no")
    add_imported_verdict(check, "yes")
    gave = at_once(
        lambda: decide_check(check=check, by=world.cleo, label="yes", reason="Cleo's.", seen=""),
        lambda: decide_check(check=check, by=world.vic, label="no", reason="Vic's.", seen=""),
    )
    made = [each for each in gave if isinstance(each, Verdict)]
    met = [each for each in gave if isinstance(each, Conflict)]
    assert (len(made), len(met)) == (1, 1)
    words = {"Cleo's.", "Vic's."}
    yours, theirs = met[0].details["yours"], met[0].details["theirs"]
    assert isinstance(yours, dict)
    assert isinstance(theirs, dict)
    assert (met[0].code, {yours["reason"], theirs["reason"]}) == ("newer_decision", words)
    assert len(decisions()) == Event.objects.filter(verb="adjudicate").count() == 1
    # Unit 1 has yes and no, unit 2 is decided: (.5 + 1) / 2 or (.5 + 0) / 2.
    expected = 0.75 if made[0].label == "yes" else 0.25
    assert Score.objects.get(summary=check.summary).coverage == pytest.approx(expected)


def test_of_two_decisions_on_a_unit_one_stands(world: World) -> None:
    differ_on_a_unit(world)
    place = {"comparison": world.comparison("port", "alder"), "unit": world.units("port")[0]}
    gave = at_once(
        lambda: decide_unit(**place, by=world.cleo, percent=20, seen=""),  # type: ignore[arg-type]
        lambda: decide_unit(**place, by=world.vic, percent=60, seen=""),  # type: ignore[arg-type]
    )
    assert sorted(type(each).__name__ for each in gave) == ["Conflict", "CoverageJudgment"]
    [decision] = decisions()
    assert isinstance(decision, CoverageJudgment)
    # Unit 1 is decided, and unit 2 has 80 %.
    expected = (decision.percent / 100 + 0.8) / 2
    score = Score.objects.get(summary=world.summaries["port", "alder"])
    assert score.coverage == pytest.approx(expected)


def test_nobody_is_handed_what_somebody_else_has_in_hand(world: World) -> None:
    for number in (1, 2, 3):
        override(check=world.check("alder", number), by=world.rex, label="no")
        add_imported_verdict(world.check("alder", number), "yes")

    def take(person: str) -> Callable[[], object]:
        return lambda: take_next(project=world.project, by=getattr(world, person))

    for _ in range(3):
        Dispute.objects.update(leased_to=None, lease_until=None)
        taken = at_once(take("cleo"), take("vic"), take("olga"))
        assert all(isinstance(each, Dispute) for each in taken)
        assert len({each.pk for each in taken if isinstance(each, Dispute)}) == 3


def test_a_reviewer_and_an_adjudicator_at_once_both_count(world: World) -> None:
    check = world.check("alder", 3)
    override(check=check, by=world.rex, label="no")
    add_imported_verdict(check, "yes")
    gave = at_once(
        lambda: decide_check(check=check, by=world.cleo, label="no", seen=""),
        lambda: override(check=check, by=world.olga, label="unsure"),
    )
    assert not any(isinstance(each, Conflict) for each in gave)
    row = world.check("alder", 3)
    assert (row.final_label, row.final_source) == ("no", "adjudicator")
    dispute = Dispute.objects.get(check_row=row)
    assert (dispute.state, dispute.answers) == ("settled", 3)

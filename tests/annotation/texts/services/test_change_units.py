from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from annotation.adjudicating.services.adjudicate import decide_unit
from annotation.assessing.services.acts import UnitAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit, save_acts
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.models import Claim, Event, Job, Project, Run, Summary, Unit
from annotation.texts.queries.unit_texts import current_units, judged_summaries, token_of
from annotation.texts.services.change_units import join_units, split_unit
from tests.annotation.cast import CLAIMS, add_claims, add_units

if TYPE_CHECKING:
    from tests.annotation.cast import World


def cut(summary: Summary) -> list[tuple[int, int]]:
    units = current_units(summary)
    assert [unit.position for unit in units] == list(range(1, len(units) + 1))
    return [(unit.start, unit.end) for unit in units]


def texts(summary: Summary) -> list[str]:
    return [summary.text[start:end] for start, end in cut(summary)]


def at(summary: Summary, number: int) -> str:
    return current_units(summary)[number - 1].public_id


def summary_of(world: World, text: str, *stretches: tuple[int, int]) -> Summary:
    row = Summary.objects.create(
        document_set=world.sets["bridge"], is_reference=True, external_id="own", text=text
    )
    Unit.objects.bulk_create(
        Unit(summary=row, position=number, start=start, end=end)
        for number, (start, end) in enumerate(stretches, start=1)
    )
    return row


def join(world: World, summary: Summary, number: int, **options: Any) -> None:
    join_units(summary=summary, by=world.mona, unit_id=at(summary, number), **options)


def split(world: World, summary: Summary, number: int, place: int, **options: Any) -> None:
    split_unit(summary=summary, by=world.mona, unit_id=at(summary, number), at=place, **options)


def test_two_units_become_one_and_the_later_ones_move_up(world: World) -> None:
    # The offsets are 0-4, 5-9, 10-16 and 17-22.
    text = summary_of(world, "One. Two. Three. Four.", (0, 4), (5, 9), (10, 16), (17, 22))
    join(world, text, 2)
    assert cut(text) == [(0, 4), (5, 16), (17, 22)]
    assert texts(text) == ["One.", "Two. Three.", "Four."]


def test_the_last_unit_has_none_to_be_joined_with(world: World) -> None:
    with pytest.raises(Invalid):
        join(world, world.references["bridge"], 2)


@pytest.mark.parametrize(("weights", "joined"), [((1, 1), 1), ((2, 5), 5), ((4, 3), 4)])
def test_a_joined_unit_has_the_weight_of_both_or_the_larger_one(
    world: World, weights: tuple[int, int], joined: int
) -> None:
    reference = world.references["bridge"]
    for number, weight in enumerate(weights, start=1):
        Unit.objects.filter(summary=reference, position=number).update(weight=weight)
    join(world, reference, 1)
    assert [unit.weight for unit in current_units(reference)] == [joined]


def test_a_unit_becomes_two_and_the_later_ones_move_down(world: World) -> None:
    # "and" begins at 16, so 0-15 and 16-34 remain; "Rain." is 35-40.
    text = summary_of(world, "The port closed and ferries moved. Rain.", (0, 34), (35, 40))
    split(world, text, 1, 16)
    assert cut(text) == [(0, 15), (16, 34), (35, 40)]


@pytest.mark.parametrize("place", [5, 6, 7, 8, 9])
def test_white_space_at_the_place_belongs_to_neither_half(world: World, place: int) -> None:
    # "Rain." ends at 5; space, \r, \n and tab are 5 to 8; "Sun." is 9-13.
    text = summary_of(world, "Rain. \r\n\tSun.", (0, 13))
    split(world, text, 1, place)
    assert cut(text) == [(0, 5), (9, 13)]


@pytest.mark.parametrize("place", [-1, 0, 10, 11, 16, 17])
def test_a_place_outside_of_the_unit_or_before_no_words_is_refused(world: World, place: int) -> None:
    text = summary_of(world, "One two.   Three.", (0, 8), (11, 17))
    with pytest.raises(Invalid) as refused:
        split(world, text, 1, place)
    assert refused.value.field == "at"
    assert len(cut(text)) == 2


@pytest.mark.parametrize(
    ("text", "within", "between"),
    [
        # The letter e is at 3, and its combining acute and grave accents are at 4 and 5.
        ("cafe\u0301\u0300 au", [4, 5], [3, 6]),
        # A family of two people, joined by a zero-width joiner at 1.
        ("\U0001f468\u200d\U0001f469ab", [1, 2], [3, 4]),
        # Two flags, each of two letters.
        ("\U0001f1eb\U0001f1ee\U0001f1f8\U0001f1ea", [1, 3], [2]),
        # A waving hand with a skin tone.
        ("a\U0001f44b\U0001f3fdb", [2], [1, 3]),
        # Devanagari ka and a vowel sign, which is a mark with a width.
        ("\u0915\u093f\u0915", [1], [2]),
    ],
)
def test_no_character_is_split(world: World, text: str, within: list[int], between: list[int]) -> None:
    row = summary_of(world, text, (0, len(text)))
    for place in within:
        with pytest.raises(Invalid, match="within a character"):
            split(world, row, 1, place)
    for place in between:
        split(world, row, 1, place)
        assert "".join(texts(row)).replace(" ", "") == text.replace(" ", "")
        join(world, row, 1)


def test_text_from_right_to_left_is_split_by_its_logical_order(world: World) -> None:
    # The Hebrew sentence has 9 characters with a space at 3, and "GPS" is at 10 to 13.
    text = summary_of(world, "נמל סגור. GPS", (0, 13))
    split(world, text, 1, 4)
    assert texts(text) == ["נמל", "סגור. GPS"]


def test_both_halves_have_the_weight(world: World) -> None:
    reference = world.references["bridge"]
    Unit.objects.filter(summary=reference, position=1).update(weight=3)
    split(world, reference, 1, 12)
    assert [unit.weight for unit in current_units(reference)] == [3, 3, 1]


@pytest.fixture
def reference(world: World) -> Summary:
    removed, *_ = add_claims(world, "bridge", CLAIMS)
    Claim.objects.filter(pk=removed.pk).update(removed_at=timezone.now())
    return world.references["bridge"]


def claims_of(summary: Summary) -> dict[str, int]:
    claims = Claim.all_claims.filter(claim_set__summary=summary)
    return dict(claims.values_list("text", "unit__position"))


def test_claims_go_along_with_joined_units(world: World, reference: Summary) -> None:
    join(world, reference, 1)
    assert set(claims_of(reference).values()) == {1}


def test_a_claim_goes_to_the_half_that_holds_most_of_its_offsets(world: World, reference: Summary) -> None:
    # The unit is split at "because", 28. "April because" is 22-35, with 5 characters before (22-27) and 7 after
    # (28-35).
    Claim.all_claims.filter(position=1).update(start=22, end=35)
    # A claim that ends in the first half stays there, although its words are in the second.
    Claim.objects.filter(position=2).update(start=0, end=27)
    split(world, reference, 1, 28)
    assert claims_of(reference) == {
        "The harbour closes in April": 2,
        "its wall is weak": 1,
        "Ferries move to the southern quay": 3,
    }


def test_a_claim_without_offsets_goes_to_the_half_with_most_of_its_words(
    world: World, reference: Summary
) -> None:
    split(world, reference, 1, 28)
    assert claims_of(reference) == {
        "The harbour closes in April": 1,
        "its wall is weak": 2,
        "Ferries move to the southern quay": 3,
    }


def test_nobody_means_the_old_words_by_the_id_of_a_unit(world: World, reference: Summary) -> None:
    before = [unit.public_id for unit in current_units(reference)]
    split(world, reference, 1, 28)
    assert [unit.public_id for unit in current_units(reference)][2:] == before[1:]
    assert before[0] not in [unit.public_id for unit in current_units(reference)]


def test_a_model_summary_is_locked_from_the_first_draft_on(world: World) -> None:
    assignment = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None)
    reading = assignment.readings.earliest("position")
    judge_unit(
        reading=reading, by=world.ana, unit_id=at(world.references["bridge"], 2), percent=None, marks=[1]
    )
    for act in (
        lambda: join(world, world.references["bridge"], 1),
        lambda: split(world, world.references["bridge"], 1, 12),
        lambda: join(world, reading.comparison.summary, 1),
    ):
        with pytest.raises(Conflict) as refused:
            act()
        assert refused.value.code == "judged"


def test_a_verdict_locks_both_texts(world: World) -> None:
    assert judged_summaries(
        [each.pk for each in (*world.references.values(), *world.summaries.values())]
    ) == {
        world.references["port"].pk,
        world.summaries["port", "alder"].pk,
        world.summaries["port", "birch"].pk,
    }


def test_an_adjudicated_percent_locks_a_model_summary(world: World) -> None:
    (unit, *_) = world.units("bridge")
    decide_unit(
        comparison=world.comparison("bridge", "alder"), unit=unit, by=world.cleo, percent=40, reason="So."
    )
    with pytest.raises(Conflict) as refused:
        join(world, world.references["bridge"], 1)
    assert refused.value.code == "judged"


@pytest.mark.parametrize("state", [Job.State.WAITING, Job.State.WORKING])
def test_nothing_is_cut_while_a_judge_is_at_work_on_the_set(world: World, state: Job.State) -> None:
    run = Run.objects.create(project=world.project, judge=world.judge, metrics=["coverage"])
    job = Job.objects.create(
        kind="run",
        project=run.project,
        run=run,
        document_set=world.sets["bridge"],
        state=state,
        token="t",
        lease_until=timezone.now(),
    )
    with pytest.raises(Conflict) as refused:
        join(world, world.references["bridge"], 1)
    assert refused.value.code == "running"
    Job.objects.filter(pk=job.pk).update(state=Job.State.DONE)
    join(world, world.references["bridge"], 1)


def test_whoever_saw_an_older_cut_gets_both(world: World) -> None:
    text = summary_of(world, "One two. Three. Four.", (0, 8), (9, 15), (16, 21))
    seen, unit_id = token_of(current_units(text)), at(text, 2)
    join_units(summary=text, by=world.olga, unit_id=at(text, 1), seen=seen)
    for act in (
        lambda: join_units(summary=text, by=world.mona, unit_id=unit_id, seen=seen),
        lambda: split_unit(summary=text, by=world.mona, unit_id=unit_id, at=12, seen=seen),
    ):
        with pytest.raises(Conflict) as refused:
            act()
        details: dict[str, Any] = refused.value.details
        assert refused.value.code == "newer_cut"
        assert [unit["text"] for unit in details["theirs"]["units"]] == ["One two. Three.", "Four."]
        assert details["theirs"]["cut"] == token_of(current_units(text))
    assert cut(text) == [(0, 15), (16, 21)]


def test_a_unit_that_is_gone_or_elsewhere_is_not_found(world: World) -> None:
    reference, gone = world.references["bridge"], at(world.references["bridge"], 1)
    join(world, reference, 1)
    for unit_id in (gone, at(world.references["port"], 1), "nothing"):
        with pytest.raises(NotFound):
            join_units(summary=reference, by=world.mona, unit_id=unit_id)


def test_nobody_cuts_what_they_have_to_judge(world: World) -> None:
    world.ana.memberships.update(roles=["manager", "assessor"])
    assign(document_set=world.sets["bridge"], assessor=world.ana, by=None)
    with pytest.raises(NotAllowed) as refused:
        join_units(
            summary=world.references["bridge"], by=world.ana, unit_id=at(world.references["bridge"], 1)
        )
    assert refused.value.code == "blind"


def test_an_open_form_is_refused_what_it_shows_no_longer(world: World) -> None:
    assignment = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None)
    reference, summary = world.references["bridge"], world.summaries["bridge", "alder"]
    of_summary = assignment.readings.get(comparison__summary=summary).public_id
    of_other = assignment.readings.exclude(comparison__summary=summary).earliest("position").public_id
    gone = at(reference, 1)
    join(world, reference, 1)
    join(world, summary, 1)
    acts = [
        # The acts mark a changed summary, name a removed unit, and name an unchanged unit.
        UnitAct(of_summary, at(reference, 1), 40, (1,)),
        UnitAct(of_other, gone, 40),
        UnitAct(of_other, at(reference, 1), 40),
    ]
    saved = save_acts(assignment=assignment, by=world.ana, acts=acts)
    assert [result.status for result in saved.results] == [404, 404, 200]
    assert ["again" in saved.results[0].message, "Reload" in saved.results[1].message] == [True, True]


def test_acts_are_logged_with_both_cuts(world: World) -> None:
    text = summary_of(world, "One two. Three.", (0, 8), (9, 15))
    join(world, text, 1)
    event = Event.objects.filter(target_id=text.public_id).latest("pk")
    assert (event.verb, event.actor) == ("join units", world.mona)
    assert [(unit["start"], unit["end"]) for unit in event.data["before"]] == [(0, 8), (9, 15)]
    assert [(unit["start"], unit["end"]) for unit in event.data["after"]] == [(0, 15)]


def test_a_text_that_is_cut_at_its_target_keeps_its_border(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(over_length="truncate")
    summary = world.summaries["bridge", "birch"]
    Unit.objects.filter(summary=summary).delete()
    add_units(summary.text[:40], summary=summary)
    end = current_units(summary)[-1].end
    join(world, summary, 1)
    assert cut(summary) == [(0, end)]

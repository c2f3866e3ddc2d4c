"""Units are joined, split, undone and weighed; what points to them follows. Offsets are worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.adjudicating.services.adjudicate import decide_unit
from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.assessing.services.take_pen import take_pen
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.models import Claim, Event, Job, Project, Run, Score, Summary, Unit, UnitChange, Verdict
from annotation.texts.queries.unit_texts import current_units, token_of
from annotation.texts.services.change_units import join_units, split_unit, undo_unit_change, weigh_unit
from tests.annotation.cast import add_units

if TYPE_CHECKING:
    from tests.annotation.cast import World


def cut(summary: Summary) -> list[tuple[int, int]]:
    """Offsets of the units that stand; their numbers run from 1 without a gap."""
    units = current_units(summary)
    assert [unit.position for unit in units] == list(range(1, len(units) + 1))
    return [(unit.start, unit.end) for unit in units]


def texts(summary: Summary) -> list[str]:
    return [summary.text[start:end] for start, end in cut(summary)]


def at(summary: Summary, number: int) -> str:
    return current_units(summary)[number - 1].public_id


def summary_of(world: World, text: str, *stretches: tuple[int, int]) -> Summary:
    """A model summary of that text with these units."""
    row = Summary.objects.create(
        document_set=world.sets["bridge"], is_model=True, external_id="own", text=text
    )
    Unit.objects.bulk_create(
        Unit(summary=row, position=number, start=start, end=end)
        for number, (start, end) in enumerate(stretches, start=1)
    )
    return row


def join(world: World, summary: Summary, number: int, **options: Any) -> UnitChange:
    return join_units(summary=summary, by=world.mona, unit_id=at(summary, number), **options)


def split(world: World, summary: Summary, number: int, place: int, **options: Any) -> UnitChange:
    return split_unit(summary=summary, by=world.mona, unit_id=at(summary, number), at=place, **options)


def undo(world: World, summary: Summary, **options: Any) -> UnitChange:
    return undo_unit_change(summary=summary, by=world.mona, **options)


# Joining


def test_two_units_become_one_and_the_later_ones_move_up(world: World) -> None:
    # "One. Two. Three. Four.": 0-4, 5-9, 10-16, 17-22.
    text = summary_of(world, "One. Two. Three. Four.", (0, 4), (5, 9), (10, 16), (17, 22))
    join(world, text, 2)
    assert cut(text) == [(0, 4), (5, 16), (17, 22)]
    assert texts(text) == ["One.", "Two. Three.", "Four."]


def test_the_white_space_between_two_units_is_in_the_joined_one_as_it_stands(world: World) -> None:
    # "Rain.\r\n\r\n  Sun.": "Rain." is 0-5, \r\n twice and two spaces are 5-11, "Sun." is 11-15.
    text = summary_of(world, "Rain.\r\n\r\n  Sun.", (0, 5), (11, 15))
    join(world, text, 1)
    assert cut(text) == [(0, 15)]
    assert texts(text) == ["Rain.\r\n\r\n  Sun."]


def test_the_last_unit_has_none_to_be_joined_with(world: World) -> None:
    with pytest.raises(Invalid):
        join(world, world.models["bridge"], 2)


@pytest.mark.parametrize(("weights", "joined"), [((1, 1), 1), ((2, 5), 5), ((4, 3), 4)])
def test_a_joined_unit_has_the_weight_of_both_or_the_larger_one(
    world: World, weights: tuple[int, int], joined: int
) -> None:
    model = world.models["bridge"]
    for number, weight in enumerate(weights, start=1):
        weigh_unit(summary=model, by=world.mona, unit_id=at(model, number), weight=weight)
    join(world, model, 1)
    assert [unit.weight for unit in current_units(model)] == [joined]


def test_retired_units_keep_their_rows(world: World) -> None:
    model = world.models["bridge"]
    before = [unit.pk for unit in current_units(model)]
    change = join(world, model, 1)
    assert list(Unit.all_units.filter(pk__in=before).values_list("retired_by", flat=True)) == [change.pk] * 2
    assert set(current_units(model)).isdisjoint(Unit.all_units.filter(pk__in=before))


# Splitting


def test_a_unit_becomes_two_and_the_later_ones_move_down(world: World) -> None:
    # "The port closed and ferries moved. Rain." The "and" begins at 16: 0-15 and 16-34 stay; "Rain." is 35-40.
    text = summary_of(world, "The port closed and ferries moved. Rain.", (0, 34), (35, 40))
    split(world, text, 1, 16)
    assert cut(text) == [(0, 15), (16, 34), (35, 40)]


@pytest.mark.parametrize("place", [5, 6, 7, 8, 9])
def test_white_space_at_the_place_belongs_to_neither_half(world: World, place: int) -> None:
    # "Rain. \r\n\tSun.": "Rain." ends at 5; space, \r, \n and tab are 5 to 8; "Sun." is 9-13.
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
        # e + combining acute + grave: an accent stands at 3 and at 4.
        ("cafe\u0301\u0300 au", [4, 5], [3, 6]),
        # A family of two joined by a zero-width joiner at 1.
        ("\U0001f468\u200d\U0001f469ab", [1, 2], [3, 4]),
        # Two flags, each of two letters.
        ("\U0001f1eb\U0001f1ee\U0001f1f8\U0001f1ea", [1, 3], [2]),
        # A waving hand with a skin tone.
        ("a\U0001f44b\U0001f3fdb", [2], [1, 3]),
        # Devanagari: ka + vowel sign, which is a mark with a width.
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
        undo(world, row)


def test_text_from_right_to_left_is_split_by_its_logical_order(world: World) -> None:
    # "נמל סגור." is 9 characters with the space at 3, a mixed "GPS" after it from 10 to 13.
    text = summary_of(world, "נמל סגור. GPS", (0, 13))
    split(world, text, 1, 4)
    assert texts(text) == ["נמל", "סגור. GPS"]


def test_both_halves_have_the_weight(world: World) -> None:
    model = world.models["bridge"]
    weigh_unit(summary=model, by=world.mona, unit_id=at(model, 1), weight=3)
    split(world, model, 1, 12)
    assert [unit.weight for unit in current_units(model)] == [3, 3, 1]


# Undoing


def test_undoing_goes_back_step_by_step_to_the_first_cut(world: World) -> None:
    text = summary_of(world, "One two. Three. Four.", (0, 8), (9, 15), (16, 21))
    first = [(unit.pk, unit.position) for unit in current_units(text)]
    join(world, text, 2)
    split(world, text, 1, 4)
    join(world, text, 2)
    assert cut(text) == [(0, 3), (4, 21)]
    undo(world, text)
    assert cut(text) == [(0, 3), (4, 8), (9, 21)]
    undo(world, text)
    assert cut(text) == [(0, 8), (9, 21)]
    undo(world, text)
    assert [(unit.pk, unit.position) for unit in current_units(text)] == first
    with pytest.raises(Conflict) as refused:
        undo(world, text)
    assert refused.value.code == "nothing_to_undo"


def test_after_undoing_other_changes_can_be_made(world: World) -> None:
    text = summary_of(world, "One two. Three. Four.", (0, 8), (9, 15), (16, 21))
    join(world, text, 1)
    undo(world, text)
    join(world, text, 2)
    assert cut(text) == [(0, 8), (9, 21)]
    undo(world, text)
    assert cut(text) == [(0, 8), (9, 15), (16, 21)]


# What follows


def claims_of(world: World) -> dict[str, int]:
    """Each claim of "port" and the number of its unit."""
    return dict(
        Claim.objects.filter(claim_set__summary=world.models["port"]).values_list("text", "unit__position")
    )


def test_claims_go_along_with_joined_units_and_back(world: World) -> None:
    model, before = world.models["port"], claims_of(world)
    units = {claim.pk: claim.unit_id for claim in Claim.objects.all()}
    join(world, model, 1)
    assert set(claims_of(world).values()) == {1}
    undo(world, model)
    assert claims_of(world) == before
    assert {claim.pk: claim.unit_id for claim in Claim.objects.all()} == units


def test_a_claim_goes_to_the_half_that_holds_most_of_its_offsets(world: World) -> None:
    # "The harbour closes in April because its wall is weak." splits at "because", 28. "April because" is 22-35:
    # 5 of its characters lie before (22-27), 7 after (28-35).
    claim = Claim.objects.get(text="its wall is weak")
    Claim.objects.filter(pk=claim.pk).update(start=22, end=35)
    # One that ends in the first half stays there though its words are in the other.
    first = Claim.objects.get(text="The harbour closes in April")
    Claim.objects.filter(pk=first.pk).update(text="its wall is weak", start=0, end=27)
    split(world, world.models["port"], 1, 28)
    claim.refresh_from_db()
    first.refresh_from_db()
    assert (first.unit_id, claim.unit_id) == tuple(
        unit.pk for unit in current_units(world.models["port"])[:2]
    )


def test_a_claim_without_offsets_goes_to_the_half_with_most_of_its_words(world: World) -> None:
    split(world, world.models["port"], 1, 28)
    # "Ferries move to the southern quay" was of the second unit, which is the third now.
    assert claims_of(world) == {
        "The harbour closes in April": 1,
        "its wall is weak": 2,
        "Ferries move to the southern quay": 3,
    }


def test_undoing_gives_claims_their_own_units_and_not_the_likeliest(world: World) -> None:
    # Of unit 2, though its words are those of unit 1: only what was kept can tell.
    odd = Claim.objects.get(text="Ferries move to the southern quay")
    Claim.objects.filter(pk=odd.pk).update(text="its wall is weak")
    join(world, world.models["port"], 1)
    undo(world, world.models["port"])
    odd.refresh_from_db()
    assert odd.unit_id == current_units(world.models["port"])[1].pk


def test_claims_of_older_versions_go_along(world: World) -> None:
    claim_set = Claim.objects.earliest("pk").claim_set
    claim_set.is_active = False
    claim_set.save(update_fields=["is_active"])
    join(world, world.models["port"], 1)
    assert set(claims_of(world).values()) == {1}


def test_scores_follow(world: World) -> None:
    alder = Score.objects.get(summary=world.peers["port", "alder"])
    # Unit 1: yes, no = .5; unit 2: yes = 1; mean .75. Joined: yes, no, yes of one unit = 2/3.
    assert alder.coverage == pytest.approx(0.75)
    join(world, world.models["port"], 1)
    alder.refresh_from_db()
    assert alder.coverage == pytest.approx(2 / 3)
    undo(world, world.models["port"])
    alder.refresh_from_db()
    assert alder.coverage == pytest.approx(0.75)


@pytest.fixture
def evident(world: World) -> Summary:
    """A peer of three units in "bridge" whose evidence is older than the day its units were opened again."""
    from annotation.models import Check, ClaimSet

    peer = world.peers["bridge", "alder"]
    Unit.all_units.filter(summary=peer).delete()
    # "The harbour of Lund closes in April." is 0-36, then "Ferries will use" 37-53 and "the southern quay." 54-72.
    Unit.objects.bulk_create(
        Unit(summary=peer, position=number, start=start, end=end)
        for number, (start, end) in enumerate([(0, 36), (37, 53), (54, 72)], start=1)
    )
    model = world.models["bridge"]
    claim_set = ClaimSet.objects.create(summary=model, origin="judge", origin_name="lexical")
    for position, evidence in enumerate([[1], [2], [1, 2], [3], [2, 3], []], start=1):
        claim = Claim.objects.create(
            claim_set=claim_set, position=position, text=f"claim {position}", origin="judge"
        )
        check = Check.objects.create(
            project=world.project,
            claim=claim,
            peer=peer,
            document_set_id=peer.document_set_id,
            side="reference",
        )
        Verdict.objects.create(
            check_row=check, source="judge", judge=world.judge, label="yes", evidence=evidence
        )
    UnitChange.objects.create(summary=peer, kind=UnitChange.Kind.REOPEN, by=world.olga)
    return peer


def evidence_on(peer: Summary) -> list[list[int]]:
    return list(
        Verdict.objects.filter(check_row__peer=peer).order_by("pk").values_list("evidence", flat=True)
    )


def test_evidence_goes_on_naming_the_same_words(world: World, evident: Summary) -> None:
    join(world, evident, 1)
    assert evidence_on(evident) == [[1], [1], [1], [2], [1, 2], []]
    undo(world, evident)
    assert evidence_on(evident) == [[1], [2], [1, 2], [3], [2, 3], []]
    # "The harbour | of Lund …": both halves of unit 1 are what it named.
    split(world, evident, 1, 12)
    assert evidence_on(evident) == [[1, 2], [3], [1, 2, 3], [4], [3, 4], []]
    undo(world, evident)
    assert evidence_on(evident) == [[1], [2], [1, 2], [3], [2, 3], []]


def test_evidence_that_came_after_a_join_names_both_units_once_it_is_undone(
    world: World, evident: Summary
) -> None:
    join(world, evident, 1)
    verdict = Verdict.objects.filter(check_row__peer=evident).latest("pk")
    Verdict.objects.filter(pk=verdict.pk).update(evidence=[1, 2])
    undo(world, evident)
    assert evidence_on(evident)[-1] == [1, 2, 3]


# What stops it


def test_a_model_summary_is_locked_from_the_first_draft_on(world: World) -> None:
    sitting = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    assignment = sitting.assignments.earliest("position")
    judge_unit(
        assignment=assignment, by=world.ana, unit_id=at(world.models["bridge"], 2), percent=None, marks=[1]
    )
    for act in (
        lambda: join(world, world.models["bridge"], 1),
        lambda: split(world, world.models["bridge"], 1, 12),
        lambda: undo(world, world.models["bridge"]),
    ):
        with pytest.raises(Conflict) as refused:
            act()
        assert refused.value.code == "judged"


def test_a_peer_summary_is_locked_by_a_mark_and_not_by_a_percent(world: World) -> None:
    sitting = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    comparison = world.comparison("bridge", "alder")
    assignment = sitting.assignments.get(comparison=comparison)
    unit_id = at(world.models["bridge"], 1)
    judge_unit(assignment=assignment, by=world.ana, unit_id=unit_id, percent=0, marks=[])
    join(world, comparison.peer, 1)
    undo(world, comparison.peer)
    judge_unit(assignment=assignment, by=world.ana, unit_id=unit_id, percent=20, marks=[2])
    with pytest.raises(Conflict) as refused:
        join(world, comparison.peer, 1)
    assert refused.value.code == "judged"
    join(world, world.peers["bridge", "birch"], 1)


def test_a_peer_summary_is_locked_by_evidence(world: World) -> None:
    with pytest.raises(Conflict) as refused:
        join(world, world.peers["port", "alder"], 1)
    assert refused.value.code == "judged"
    # Birch has noes without evidence.
    join(world, world.peers["port", "birch"], 1)


def test_an_adjudicated_percent_locks_a_model_summary(world: World) -> None:
    (unit, *_) = world.units("bridge")
    decide_unit(
        comparison=world.comparison("bridge", "alder"), unit=unit, by=world.cleo, percent=40, reason="So."
    )
    with pytest.raises(Conflict) as refused:
        join(world, world.models["bridge"], 1)
    assert refused.value.code == "judged"


def test_no_unit_that_is_gone_is_adjudicated(world: World) -> None:
    (unit, *_) = world.units("bridge")
    join(world, world.models["bridge"], 1)
    with pytest.raises(Conflict):
        decide_unit(
            comparison=world.comparison("bridge", "alder"), unit=unit, by=world.cleo, percent=40, reason="So."
        )


@pytest.mark.parametrize("state", [Job.State.WAITING, Job.State.WORKING])
def test_nothing_is_cut_while_a_judge_is_at_work_on_the_set(world: World, state: Job.State) -> None:
    from django.utils import timezone

    run = Run.objects.create(project=world.project, judge=world.judge, metrics=["coverage"])
    job = Job.objects.create(
        run=run, document_set=world.sets["bridge"], state=state, token="t", lease_until=timezone.now()
    )
    with pytest.raises(Conflict) as refused:
        join(world, world.models["bridge"], 1)
    assert refused.value.code == "running"
    Job.objects.filter(pk=job.pk).update(state=Job.State.DONE)
    join(world, world.models["bridge"], 1)


def test_whoever_saw_an_older_cut_gets_both(world: World) -> None:
    text = summary_of(world, "One two. Three. Four.", (0, 8), (9, 15), (16, 21))
    seen, unit_id = token_of(current_units(text)), at(text, 2)
    join_units(summary=text, by=world.olga, unit_id=at(text, 1), seen=seen)
    for act in (
        lambda: join_units(summary=text, by=world.mona, unit_id=unit_id, seen=seen),
        lambda: split_unit(summary=text, by=world.mona, unit_id=unit_id, at=12, seen=seen),
    ):
        with pytest.raises(Conflict, match="olga changed the units") as refused:
            act()
        details: dict[str, Any] = refused.value.details
        assert refused.value.code == "newer_cut"
        assert details["yours"]["text"] == "Three."
        assert [unit["text"] for unit in details["theirs"]["units"]] == ["One two. Three.", "Four."]
        assert details["theirs"]["cut"] == token_of(current_units(text))
    with pytest.raises(Conflict) as refused:
        undo_unit_change(summary=text, by=world.mona, seen=seen)
    assert cut(text) == [(0, 15), (16, 21)]


def test_who_made_what_was_undone_since_is_not_named(world: World) -> None:
    model = world.models["bridge"]
    join(world, model, 1)
    seen, unit_id = token_of(current_units(model)), at(model, 1)
    undo_unit_change(summary=model, by=world.olga)
    with pytest.raises(Conflict, match="Someone changed the units"):
        join_units(summary=model, by=world.mona, unit_id=unit_id, seen=seen)


def test_undoing_brings_the_token_back(world: World) -> None:
    model = world.models["bridge"]
    seen = token_of(current_units(model))
    join(world, model, 1, seen=seen)
    assert token_of(current_units(model)) != seen
    undo(world, model)
    join(world, model, 1, seen=seen)


def test_a_unit_that_is_gone_or_elsewhere_is_not_found(world: World) -> None:
    model, gone = world.models["bridge"], at(world.models["bridge"], 1)
    join(world, model, 1)
    for unit_id in (gone, at(world.models["port"], 1), "nothing"):
        with pytest.raises(NotFound):
            join_units(summary=model, by=world.mona, unit_id=unit_id)


@pytest.mark.parametrize("name", ["rex", "cleo", "ana", "vic"])
def test_only_those_who_import_may(world: World, name: str) -> None:
    model, by = world.models["bridge"], getattr(world, name)
    with pytest.raises(NotAllowed):
        join_units(summary=model, by=by, unit_id=at(model, 1))
    with pytest.raises(NotAllowed):
        weigh_unit(summary=model, by=by, unit_id=at(model, 1), weight=2)


def test_an_outsider_finds_no_project(world: World) -> None:
    with pytest.raises(NotFound):
        undo_unit_change(summary=world.models["bridge"], by=world.dan)


def test_nobody_cuts_what_they_have_to_judge(world: World) -> None:
    world.ana.memberships.update(roles=["manager", "assessor"])
    assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    for act in (
        lambda: join_units(
            summary=world.models["bridge"], by=world.ana, unit_id=at(world.models["bridge"], 1)
        ),
        lambda: weigh_unit(
            summary=world.models["bridge"], by=world.ana, unit_id=at(world.models["bridge"], 1), weight=2
        ),
    ):
        with pytest.raises(NotAllowed) as refused:
            act()
        assert refused.value.code == "blind"
    join_units(summary=world.models["port"], by=world.ana, unit_id=at(world.models["port"], 1))


def test_an_open_form_is_told_to_load_anew(world: World) -> None:
    sitting = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    take_pen(sitting=sitting, by=world.ana, client_id="tab", seen_pen="")
    assignment = sitting.assignments.earliest("position")
    join(world, world.peers["bridge", "alder"], 1)
    sitting.refresh_from_db()
    assert sitting.pen.startswith("units-")
    from annotation.assessing.services.acts import UnitAct
    from annotation.assessing.services.save_acts import save_acts

    act = UnitAct(1, assignment.public_id, at(world.models["bridge"], 1), 40, (1,))
    with pytest.raises(Conflict) as refused:
        save_acts(sitting=sitting, by=world.ana, client_id="tab", acts=[act])
    assert refused.value.code == "elsewhere"


def test_acts_are_logged_with_both_cuts(world: World) -> None:
    text = summary_of(world, "One two. Three.", (0, 8), (9, 15))
    join(world, text, 1)
    event = Event.objects.filter(target_id=text.public_id).latest("pk")
    assert (event.verb, event.actor) == ("join units", world.mona)
    assert [(unit["start"], unit["end"]) for unit in event.data["before"]] == [(0, 8), (9, 15)]
    assert [(unit["start"], unit["end"]) for unit in event.data["after"]] == [(0, 15)]
    undo(world, text)
    event = Event.objects.filter(target_id=text.public_id).latest("pk")
    assert (event.verb, len(event.data["after"])) == ("undo unit change", 2)


# Weights


def test_a_weight_moves_the_score_and_is_logged(world: World) -> None:
    model = world.models["port"]
    weigh_unit(summary=model, by=world.mona, unit_id=at(model, 2), weight=3)
    # Units of .5 and 1 with weights 1 and 3: (.5 + 3) / 4 = .875.
    assert Score.objects.get(summary=world.peers["port", "alder"]).coverage == pytest.approx(0.875)
    event = Event.objects.latest("pk")
    assert (event.verb, event.data["weight"], event.data["before"]) == ("weigh unit", 3, 1)
    weigh_unit(summary=model, by=world.mona, unit_id=at(model, 2), weight=3)
    assert Event.objects.latest("pk") == event


@pytest.mark.parametrize("weight", [0, -1, 1001, float("nan"), float("inf")])
def test_what_is_no_weight_is_refused(world: World, weight: float) -> None:
    model = world.models["bridge"]
    with pytest.raises(Invalid) as refused:
        weigh_unit(summary=model, by=world.mona, unit_id=at(model, 1), weight=weight)
    assert refused.value.field == "weight"


def test_a_weight_can_be_given_to_what_is_judged(world: World) -> None:
    sitting = assign(document_set=world.sets["bridge"], assessor=world.ana, by=None, seed=1)
    assignment = sitting.assignments.earliest("position")
    model = world.models["bridge"]
    judge_unit(assignment=assignment, by=world.ana, unit_id=at(model, 1), percent=40, marks=[1])
    assert weigh_unit(summary=model, by=world.mona, unit_id=at(model, 1), weight=2.5).weight == 2.5


def test_whoever_saw_an_older_weight_gets_both(world: World) -> None:
    model = world.models["bridge"]
    weigh_unit(summary=model, by=world.olga, unit_id=at(model, 1), weight=2, seen=1)
    with pytest.raises(Conflict) as refused:
        weigh_unit(summary=model, by=world.mona, unit_id=at(model, 1), weight=4, seen=1)
    assert refused.value.code == "newer_weight"
    assert refused.value.details == {"yours": {"weight": 4}, "theirs": {"weight": 2}}
    weigh_unit(summary=model, by=world.mona, unit_id=at(model, 1), weight=4, seen=2)


def test_units_of_peers_and_those_behind_claims_have_no_weight(world: World) -> None:
    Claim.objects.update(unit=None)
    for summary in (world.peers["bridge", "alder"], world.models["port"]):
        with pytest.raises(Invalid):
            weigh_unit(summary=summary, by=world.mona, unit_id=at(summary, 1), weight=2)


def test_a_text_that_is_cut_at_its_target_keeps_its_border(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(over_length="truncate")
    peer = world.peers["bridge", "birch"]
    Unit.all_units.filter(summary=peer).delete()
    add_units(peer.text[:40], summary=peer)
    end = current_units(peer)[-1].end
    join(world, peer, 1)
    assert cut(peer) == [(0, end)]

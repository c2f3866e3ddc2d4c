"""Taking over the judge's verdicts of a list as one act, and taking that back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.readers import CheckReader
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Check, CheckLook, Event, Project, Score, Verdict, VerdictBatch
from annotation.reviewing.queries.review_queue import Filter
from annotation.reviewing.services import accept_batch as module
from annotation.reviewing.services.accept_batch import accept_batch, offer, withdraw_batch
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks

if TYPE_CHECKING:
    from tests.annotation.cast import World


REFERENCE = Filter(side="reference")


def cleo(world: World) -> CheckReader:
    """She adjudicates, so that nothing is kept back from her."""
    return CheckReader(world.cleo, must_wait=False)


def accept(world: World, filters: Filter = REFERENCE) -> VerdictBatch:
    offered = offer(project=world.project, reader=cleo(world), filters=filters)
    return accept_batch(
        project=world.project,
        reader=cleo(world),
        filters=filters,
        expected=offered.count,
        fingerprint=offered.fingerprint,
    )


def human_share(world: World, system: str) -> float | None:
    return Score.objects.get(summary=world.peers["port", system]).human_share


def test_the_verdicts_become_ones_own_and_say_that_the_judges_was_shown(world: World) -> None:
    batch = accept(world)
    taken = Verdict.objects.filter(batch=batch)
    assert batch.count == taken.count() == 6
    assert {(each.person, each.shown, each.source) for each in taken} == {(world.cleo, "judge", "reviewer")}
    assert all(check.human_label == check.judge_label for check in Check.objects.all())
    assert CheckLook.objects.filter(person=world.cleo, revealed_at__isnull=False).count() == 6


def test_scores_stay_but_for_the_share_that_people_gave(world: World) -> None:
    accept(world)
    # alder keeps (.5 + 1) / 2 = .75; a person stands behind every claim now.
    score = Score.objects.get(summary=world.peers["port", "alder"])
    assert score.coverage == pytest.approx(0.75)
    assert (human_share(world, "alder"), human_share(world, "birch")) == (1.0, 1.0)


def test_it_is_one_event_that_names_list_count_and_labels(world: World) -> None:
    batch = accept(world)
    event = Event.objects.get(verb="accept batch")
    assert event.target_id == batch.public_id
    # The judge said yes twice (alder) and no four times (once alder, three birch).
    assert event.data == {"count": 6, "labels": {"yes": 2, "no": 4}, "filters": {"side": "reference"}}
    assert not Event.objects.filter(verb="override").exists()


def test_what_people_answered_and_what_waits_in_a_draw_is_left_out(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    sample_checks(project=world.project, by=world.mona, method="uniform", share=0.01, seed=1)
    # One of six is answered; the draw holds one, which may be the answered one.
    drawn = set(Check.objects.filter(drawn__isnull=False).values_list("pk", flat=True))
    expected = 6 - len(drawn | {world.check("alder", 1).pk})
    assert accept(world).count == expected


@pytest.mark.parametrize("query", [{}, {"order": "document"}, {"only": "all"}, {"only": "split"}])
def test_a_list_that_is_not_narrowed_down_is_never_taken_over(world: World, query: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        offer(project=world.project, reader=cleo(world), filters=Filter.read(query))


@pytest.mark.parametrize("reveal", ["after_answer"])
def test_nobody_takes_over_what_is_kept_back_from_them(world: World, reveal: str) -> None:
    Project.objects.update(reveal=reveal)
    world.project.refresh_from_db()
    with pytest.raises(NotAllowed, match="Answer the checks one by one"):
        offer(project=world.project, reader=CheckReader(world.rex), filters=REFERENCE)
    assert offer(project=world.project, reader=cleo(world), filters=REFERENCE).count == 6


def test_a_reviewer_to_whom_all_is_shown_may_take_it_over(world: World) -> None:
    Project.objects.update(reveal="shown")
    world.project.refresh_from_db()
    offered = offer(project=world.project, reader=CheckReader(world.rex), filters=REFERENCE)
    # The judge said yes twice (alder) and no four times (once alder, three birch).
    assert (offered.count, offered.by_label) == (6, {"yes": 2, "no": 4})


def test_another_list_than_the_one_on_screen_is_a_conflict(world: World) -> None:
    offered = offer(project=world.project, reader=cleo(world), filters=REFERENCE)
    # As many as before, but the judge has changed its mind on one.
    Check.objects.filter(pk=world.check("alder", 1).pk).update(judge_label="no")
    with pytest.raises(Conflict):
        accept_batch(
            project=world.project,
            reader=cleo(world),
            filters=REFERENCE,
            expected=offered.count,
            fingerprint=offered.fingerprint,
        )
    assert not VerdictBatch.objects.exists()


def test_no_more_than_a_limit_is_taken_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_AT_ONCE", 4)
    offered = offer(project=world.project, reader=cleo(world), filters=REFERENCE)
    assert (offered.count, offered.has_more) == (4, True)
    assert accept(world).count == 4
    assert accept(world).count == 2


def test_a_batch_is_taken_back_as_a_whole(world: World) -> None:
    batch = accept(world)
    withdraw_batch(batch=batch, by=world.cleo)
    assert not Verdict.objects.filter(batch=batch, withdrawn_at=None).exists()
    assert {check.final_source for check in Check.objects.all()} == {"judge"}
    assert (human_share(world, "alder"), human_share(world, "birch")) == (0.0, 0.0)
    withdraw_batch(batch=batch, by=world.cleo)
    assert Event.objects.filter(verb="withdraw batch").count() == 1


def test_what_was_answered_after_the_batch_outlives_it(world: World) -> None:
    batch = accept(world)
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    withdraw_batch(batch=batch, by=world.cleo)
    check = world.check("alder", 2)
    assert (check.human_label, check.final_source) == ("yes", "reviewer")


def test_only_whoever_took_it_over_takes_it_back(world: World) -> None:
    batch = accept(world)
    with pytest.raises(NotAllowed):
        withdraw_batch(batch=batch, by=world.rex)

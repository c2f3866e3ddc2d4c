"""The queue of checks and one claim in view: answering, undoing, and what is shown of the judge."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from annotation.models import Check, Project, Verdict
from annotation.services.assign import assign
from annotation.services.review import override
from annotation.services.save_acts import judge_unit
from tests.annotation.cast import finish
from tests.annotation.web.conftest import HTMX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

QUEUE = "/p/harbour/review/"
JUDGES_WORDS = "no mention of: wall"
"""The judge's reason for its "no" on the second claim."""


@pytest.fixture
def rex(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.rex)


def at(check: Check) -> str:
    return f"{QUEUE}{check.public_id}/"


def newest(check: Check) -> Verdict:
    return Verdict.objects.filter(check_row=check, source="reviewer").latest("pk")


def reveal(world: World, mode: str) -> None:
    Project.objects.filter(pk=world.project.pk).update(reveal=mode)


def assess_port(world: World, percent: int) -> None:
    """Ana gives every unit of "port" this percent and closes the set."""
    sitting = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    for assignment in sitting.assignments.select_related(
        "sitting__document_set__project", "comparison__peer", "comparison__model"
    ):
        for unit in world.units("port"):
            judge_unit(assignment=assignment, by=world.ana, unit_id=unit.public_id, percent=percent)
    finish(sitting)


# The queue


def test_the_queue_holds_what_no_person_has_answered_most_doubtful_first(world: World, rex: Client) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    rows = rex.get(QUEUE).context["page"].rows
    # Doubt is 0.4 where the judge gave .2 and 0.2 where it gave .9; four no and one yes are left.
    assert [round(row.doubt, 6) for row in rows] == [0.4, 0.4, 0.4, 0.4, 0.2]


def test_the_queue_by_effect_begins_with_what_moves_coverage_most(world: World, rex: Client) -> None:
    rows = rex.get(f"{QUEUE}?order=effect").context["page"].rows
    effects = [row.effect for row in rows]
    assert effects == sorted(effects, reverse=True)


def test_the_queue_is_filtered(world: World, rex: Client) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="unsure")

    def found(query: str) -> int:
        return len(rex.get(f"{QUEUE}?{query}").context["page"].rows)

    assert (found("only=all"), found("only=answered"), found("only=disputed")) == (6, 1, 0)
    assert (found("side=reference"), found("side=peer")) == (5, 0)
    assert (found("only=answered&label=unsure"), found("only=answered&label=yes")) == (1, 0)


def test_a_filter_that_makes_no_sense_is_refused(rex: Client) -> None:
    assert rex.get(f"{QUEUE}?order=color").status_code == 422
    assert rex.get(f"{QUEUE}?after=nonsense").status_code == 422


def test_the_queue_is_paged_without_a_gap_or_a_repeat(
    world: World, rex: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.queries.review_queue.PAGE_SIZE", 2)
    seen: list[str] = []
    after = ""
    for _ in range(3):
        page = rex.get(QUEUE, {"after": after} if after else {}, headers=HTMX).context["page"]
        seen += [row.check_id for row in page.rows]
        after = page.after
    assert after is None
    assert len(seen) == len(set(seen)) == 6


def test_the_queue_tells_nothing_of_what_the_judge_said(world: World, rex: Client) -> None:
    page = rex.get(QUEUE).content.decode()
    assert JUDGES_WORDS not in page
    assert 'class="label' not in page


def test_an_empty_queue_says_so(world: World, rex: Client) -> None:
    assert b"No check answers to these switches" in rex.get(f"{QUEUE}?side=peer").content


def test_no_page_is_kept_for_going_back_to(world: World, rex: Client) -> None:
    for address in (QUEUE, at(world.check("alder", 2))):
        assert "no-store" in rex.get(address)["Cache-Control"]


# One claim


def test_a_claim_stands_in_its_unit_beside_the_text_it_is_held_against(world: World, rex: Client) -> None:
    view = rex.get(at(world.check("alder", 2))).context["view"]
    assert view.claim == "its wall is weak"
    assert [passage.number for passage in view.passages] == [1, 2]
    assert [unit.is_here for unit in view.context] == [True, False]


@pytest.mark.parametrize("position", [1, 2])
def test_before_the_own_answer_the_judges_is_nowhere(world: World, rex: Client, position: int) -> None:
    check = world.check("alder", position)
    for headers in ({}, HTMX):
        answer = rex.get(f"{at(check)}?judge=1", headers=headers)
        page = answer.content.decode()
        assert answer.context["view"].judge is None
        assert JUDGES_WORDS not in page
        assert "<mark>" not in page
        assert 'class="label' not in page


def test_after_the_own_answer_the_judges_is_shown_with_its_evidence_lit(world: World, rex: Client) -> None:
    check = world.check("alder", 1)
    page = rex.post(f"{at(check)}answer/", {"label": "no", "seen": ""}, headers=HTMX).content.decode()
    assert "had said" in page
    assert "<mark>The harbour of Lund closes in April." in page


def test_on_request_the_verdict_comes_when_asked_for(world: World, rex: Client) -> None:
    reveal(world, "on_request")
    check = world.check("alder", 2)
    assert JUDGES_WORDS not in rex.get(at(check)).content.decode()
    assert JUDGES_WORDS in rex.get(f"{at(check)}?judge=1").content.decode()
    rex.post(f"{at(check)}answer/", {"label": "no", "seen": "", "asked": "1"})
    assert newest(check).shown == Verdict.Shown.JUDGE


def test_where_it_is_shown_the_verdict_stands_at_once(world: World, rex: Client) -> None:
    reveal(world, "shown")
    check = world.check("alder", 2)
    assert JUDGES_WORDS in rex.get(at(check)).content.decode()
    rex.post(f"{at(check)}answer/", {"label": "no", "seen": ""})
    assert newest(check).shown == Verdict.Shown.JUDGE


def test_it_is_stored_that_only_the_second_answer_had_seen_the_judge(world: World, rex: Client) -> None:
    check = world.check("alder", 2)
    rex.post(f"{at(check)}answer/", {"label": "yes", "seen": ""})
    first = newest(check)
    rex.post(f"{at(check)}answer/", {"label": "no", "seen": first.public_id})
    assert (first.shown, newest(check).shown) == (Verdict.Shown.NOTHING, Verdict.Shown.JUDGE)


def test_a_plain_form_answers_and_comes_back(world: World, rex: Client) -> None:
    check = world.check("alder", 2)
    data = {"label": "yes", "reason": "weak is weak", "evidence": ["2", "1"], "seen": ""}
    answer = rex.post(f"{at(check)}answer/?order=effect", data)
    assert answer["Location"] == f"{at(check)}?order=effect"
    saved = newest(check)
    assert (saved.label, saved.reason, saved.evidence) == ("yes", "weak is weak", [1, 2])


def test_the_scores_before_and_after_are_told(world: World, rex: Client) -> None:
    # alder: unit 1 has yes and no, unit 2 yes: coverage (0.5 + 1) / 2 = 0.75, claim coverage 2/3.
    # With yes on the second claim both are 1. No brevity below: 13 words of 20 give (20 - 13) / 20 = 0.35;
    # composite 2/3·0.75 + 1/3·0.35 = 0.617 becomes 2/3 + 0.35/3 = 0.783.
    page = rex.post(
        f"{at(world.check('alder', 2))}answer/", {"label": "yes", "seen": ""}, headers=HTMX
    ).content.decode()
    assert "Coverage 0.750 → 1.000" in page
    assert "claim coverage 0.667 → 1.000" in page
    assert "composite ⅔ 0.617 → 0.783" in page


def test_an_answer_that_agrees_moves_nothing_and_says_so(world: World, rex: Client) -> None:
    page = rex.post(f"{at(world.check('alder', 1))}answer/", {"label": "yes", "seen": ""}, headers=HTMX)
    assert b"No score moves." in page.content


def test_under_human_first_it_is_said_that_coverage_stays(world: World, rex: Client) -> None:
    assess_port(world, percent=60)
    check = world.check("alder", 2)
    page = rex.post(f"{at(check)}answer/", {"label": "yes", "seen": ""}, headers=HTMX).content.decode()
    assert "an answer does not move coverage" in page
    # Percents of 60 stand; claim coverage goes from 2/3 to 1.
    assert "Coverage unchanged, claim coverage 0.667 → 1.000" in page


def test_under_the_weighted_blend_coverage_moves_with_the_answer(world: World, rex: Client) -> None:
    assess_port(world, percent=60)
    Project.objects.filter(pk=world.project.pk).update(blend="weighted", blend_human_weight=0.5)
    check = world.check("alder", 2)
    # Recomputed at the answer: unit 1 becomes 0.5·0.6 + 0.5·1 = 0.8, unit 2 is 0.8 as well.
    page = rex.post(f"{at(check)}answer/", {"label": "yes", "seen": ""}, headers=HTMX).content.decode()
    assert "does not move coverage" not in page
    assert "→ 0.800" in page


def test_undo_takes_the_own_answer_back(world: World, rex: Client) -> None:
    check = world.check("alder", 2)
    rex.post(f"{at(check)}answer/", {"label": "yes", "seen": ""})
    data = {"verdict": newest(check).public_id}
    page = rex.post(f"{at(check)}withdraw/", data, headers=HTMX).content.decode()
    assert "Taken back. Coverage 1.000 → 0.750" in page
    check.refresh_from_db()
    assert (check.final_label, check.final_source) == ("no", "judge")


def test_undo_without_scripts_comes_back(world: World, rex: Client) -> None:
    check = world.check("alder", 2)
    rex.post(f"{at(check)}answer/", {"label": "yes", "seen": ""})
    answer = rex.post(f"{at(check)}withdraw/", {"verdict": newest(check).public_id})
    assert answer["Location"] == at(check)


def test_nobody_takes_back_what_somebody_else_said(world: World, rex: Client) -> None:
    check = world.check("alder", 2)
    theirs = override(check=check, by=world.cleo, label="yes")
    assert rex.post(f"{at(check)}withdraw/", {"verdict": theirs.public_id}).status_code == 404


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_a_newer_answer_of_somebody_else_is_a_conflict_that_loses_nothing(
    world: World, rex: Client, headers: dict[str, str]
) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.cleo, label="unsure", reason="hard to say")
    data = {"label": "yes", "reason": "it is there", "seen": ""}
    answer = rex.post(f"{at(check)}answer/", data, headers=headers)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "hard to say" in page
    assert 'value="it is there"' in page
    assert newest(check).person == world.cleo


def test_after_a_conflict_the_same_form_can_be_sent_again(world: World, rex: Client) -> None:
    check = world.check("alder", 2)
    theirs = override(check=check, by=world.cleo, label="unsure")
    conflict = rex.post(f"{at(check)}answer/", {"label": "yes", "seen": ""}, headers=HTMX)
    assert conflict["HX-Retarget"] == "#claim-room"
    seen = conflict.context["view"].seen
    assert seen == theirs.public_id
    assert rex.post(f"{at(check)}answer/", {"label": "yes", "seen": seen}, headers=HTMX).status_code == 200


@pytest.mark.parametrize("data", [{"label": "maybe"}, {"label": "yes", "evidence": "first"}])
def test_an_answer_that_makes_no_sense_is_refused_in_place(
    world: World, rex: Client, data: dict[str, str]
) -> None:
    check = world.check("alder", 2)
    answer = rex.post(f"{at(check)}answer/", {**data, "seen": "", "reason": "kept"}, headers=HTMX)
    assert answer.status_code == 422
    assert b'value="kept"' in answer.content
    assert not Verdict.objects.filter(check_row=check, source="reviewer").exists()


def test_the_next_claim_is_the_next_of_the_queue(world: World, rex: Client) -> None:
    rows = rex.get(QUEUE).context["page"].rows
    for here, following in itertools.pairwise(rows):
        assert rex.get(f"{QUEUE}{here.check_id}/").context["view"].next_id == following.check_id


def test_the_last_claim_leads_back_to_the_queue(world: World, rex: Client) -> None:
    for check in Check.objects.exclude(pk=world.check("alder", 1).pk):
        override(check=check, by=world.rex, label="no")
    assert rex.get(at(world.check("alder", 1))).context["view"].next_id is None


def test_a_dispute_is_shown_with_who_said_what(world: World, rex: Client) -> None:
    check = world.check("alder", 2)
    override(check=check, by=world.cleo, label="yes")
    override(check=check, by=world.rex, label="no")
    page = rex.get(at(check)).content.decode()
    assert ">disputed<" in page
    assert "What people said (2)" in page

"""A project's own words for a step: who may give them, what is refused, how two people do not lose any."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.core.permissions import ROLE_VERBS, Verb
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.judging.queries.prompts import (
    history_of,
    known_step,
    own_prompts,
    preview,
    step_of,
    versions_in_force,
)
from annotation.judging.services.change_prompt import restore_prompt, reword_prompt
from annotation.models import Event, PromptVersion
from evaluation.judging.prompts import PROMPTS
from tests.annotation.cast import MEMBERS, World

EXTRACT = known_step("extract")
READ = known_step("read_document")
OWN = "Cut texts into claims.\n$custom_instruction"


def reword(world: World, words: str = OWN, **changes: object) -> PromptVersion | None:
    given: dict[str, object] = {"step": EXTRACT, "by": world.mona, "system": words, **changes}
    return reword_prompt(project=world.project, **given)  # type: ignore[arg-type]


# What a new version is


def test_own_words_are_in_force_from_then_on(world: World) -> None:
    row = reword(world, note="  Shorter,\n on purpose. ")
    assert row is not None
    assert (row.number, row.is_built_in, row.created_by) == (1, False, world.mona)
    assert row.note == "Shorter, on purpose."
    now = step_of(world.project, EXTRACT)
    assert (now.number, now.is_own, now.prompt.system) == (1, True, OWN)
    assert row.version == now.prompt.version == PROMPTS[EXTRACT].reworded(system=OWN).version


def test_versions_count_up_and_the_last_one_is_in_force(world: World) -> None:
    reword(world)
    reword(world, "Second.")
    reword(world, step=READ, system=None, parts={"topics": "Name 3 topics."})
    in_force = [(row.step, row.number) for row in versions_in_force(world.project)]
    assert in_force == [("extract", 2), ("read_document", 1)]
    assert own_prompts(versions_in_force(world.project))[EXTRACT].render() == "Second."


def test_words_that_are_not_given_stay_as_they_are(world: World) -> None:
    reword(world, step=READ, system="Just data. $parts", parts={"topics": "Name 3 topics."})
    row = reword(world, step=READ, system=None, parts={"claims": "Take atomic claims."})
    assert row is not None
    assert row.system == "Just data. $parts\n$custom_instruction"
    assert row.parts == {"topics": "Name 3 topics.", "claims": "Take atomic claims."}


def test_the_words_of_another_project_are_not_ours(world: World) -> None:
    reword(world)
    assert not step_of(world.other_project, EXTRACT).is_own


def test_going_back_is_a_new_version_that_says_so(world: World) -> None:
    reword(world)
    row = restore_prompt(project=world.project, step=EXTRACT, by=world.mona, note="Too short.", seen=1)
    assert row is not None
    assert (row.number, row.is_built_in, row.system, row.version) == (2, True, "", PROMPTS["extract"].version)
    assert step_of(world.project, EXTRACT).prompt == PROMPTS[EXTRACT]
    assert PromptVersion.objects.count() == 2


def test_typing_the_built_in_words_goes_back_too(world: World) -> None:
    reword(world)
    row = reword(world, PROMPTS[EXTRACT].system.strip().replace("\n", "\r\n"))
    assert row is not None
    assert row.is_built_in


def test_words_that_are_in_force_are_no_new_version(world: World) -> None:
    first = reword(world)
    # A form that was sent twice: the second one has not seen what the first one made.
    assert reword(world, seen=0) == first
    assert restore_prompt(project=world.other_project, step=EXTRACT, by=world.dan) is None
    assert PromptVersion.objects.count() == Event.objects.filter(verb="reword prompt").count() == 1


def test_both_verbs_are_logged_with_the_versions_before_and_after(world: World) -> None:
    row = reword(world, note="Why.")
    assert row is not None
    event = Event.objects.get(verb="reword prompt")
    assert (event.actor, event.target_id) == (world.mona, row.public_id)
    before = PROMPTS["extract"].version
    assert event.data == {"step": "extract", "number": 1, "versions": [before, row.version], "note": "Why."}
    restore_prompt(project=world.project, step=EXTRACT, by=world.olga)
    assert Event.objects.get(verb="restore prompt").data["versions"] == [row.version, before]


# What is refused


@pytest.mark.parametrize("name", [*MEMBERS, "dan"])
def test_only_who_may_change_the_project_may_change_its_prompts(world: World, name: str) -> None:
    may = name in MEMBERS and Verb.CHANGE_PROJECT in ROLE_VERBS[MEMBERS[name][0]]
    for change in (
        lambda: reword(world, by=world.users[name]),
        lambda: restore_prompt(project=world.project, step=EXTRACT, by=world.users[name]),
    ):
        if may:
            assert change() is not None
        else:
            with pytest.raises(NotAllowed if name in MEMBERS else NotFound):
                change()
    assert PromptVersion.objects.exists() == may


@pytest.mark.parametrize(
    "words",
    ["$evil", "${x}", "Costs $5", "", "x" * 8001, "a\x00b", "a\x1bb", "Do $parts.", "\ud800"],
    ids=["name", "braces", "lone", "empty", "huge", "nul", "escape", "parts", "surrogate"],
)
def test_hostile_words_are_refused_and_nothing_is_written(world: World, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        reword(world, words)
    assert (refused.value.field, refused.value.code) == ("system", "unusable_prompt")
    assert not PromptVersion.objects.exists()
    assert not Event.objects.filter(verb="reword prompt").exists()


def test_a_fault_in_a_part_names_the_part(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        reword(world, step=READ, system=None, parts={"topics": "$evil"})
    assert refused.value.field == "parts.topics"


@pytest.mark.parametrize("words", ["{{ settings.SECRET_KEY }}", "{% load x %}", "{0.__class__}", "%(x)s"])
def test_template_languages_are_but_words(world: World, words: str) -> None:
    reword(world, words)
    assert step_of(world.project, EXTRACT).prompt.render() == words


@pytest.mark.parametrize("note", ["x" * 501, "a\x00b", "a\x1bb"])
def test_a_note_is_one_line_that_can_be_kept(world: World, note: str) -> None:
    with pytest.raises(Invalid) as refused:
        reword(world, note=note)
    assert refused.value.field == "note"


@pytest.mark.parametrize("step", ["explain", "no-such", ""])
def test_a_step_that_no_run_asks_has_no_words_of_a_project(world: World, step: str) -> None:
    with pytest.raises(NotFound, match="Steps with prompts: read_document") as refused:
        reword(world, step=step)
    assert refused.value.code == "no_such_step"


def test_the_database_keeps_numbers_and_words_in_order(world: World) -> None:
    reword(world)
    wrong: list[dict[str, object]] = [
        {"number": 1, "system": "Twice."},
        {"number": 0, "system": "None."},
        {"number": 2, "system": ""},
        {"number": 2, "system": "Both.", "is_built_in": True},
    ]
    for columns in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            PromptVersion.objects.create(project=world.project, step="extract", version="x", **columns)


# Two people at once


def test_who_comes_second_is_told_and_loses_nothing(world: World) -> None:
    reword(world, "Theirs.", note="Mine first.", seen=0)
    with pytest.raises(Conflict, match="mona has saved version 1") as refused:
        reword(world, "Ours.", by=world.olga, note="Because.", seen=0)
    assert refused.value.code == "newer_prompt"
    yours, theirs = refused.value.details["yours"], refused.value.details["theirs"]
    assert isinstance(yours, dict)
    assert isinstance(theirs, dict)
    assert (yours["system"], yours["note"]) == ("Ours.\n$custom_instruction", "Because.")
    assert (theirs["system"], theirs["note"], theirs["number"]) == (
        "Theirs.\n$custom_instruction",
        "Mine first.",
        1,
    )
    # Having seen it, they may save on top.
    again = reword(world, "Ours.", by=world.olga, seen=1)
    assert again is not None
    assert again.number == 2


def test_going_back_heeds_what_was_seen_too(world: World) -> None:
    reword(world)
    reword(world, "Second.")
    with pytest.raises(Conflict):
        restore_prompt(project=world.project, step=EXTRACT, by=world.olga, seen=1)


@pytest.mark.django_db(transaction=True)
def test_of_two_at_the_same_moment_one_wins() -> None:
    from tests.annotation.cast import make_world

    if connection.vendor == "sqlite":
        pytest.skip("SQLite's test database lives in one connection")
    world = make_world()
    ready = Barrier(2)

    def save(words: str) -> str:
        ready.wait()
        try:
            reword(world, words, seen=0)
        except Conflict as conflict:
            return conflict.code
        finally:
            connection.close()
        return "saved"

    with ThreadPoolExecutor(2) as people:
        assert sorted(people.map(save, ["One.", "Other."])) == ["newer_prompt", "saved"]
    assert PromptVersion.objects.count() == 1


# What is read of them


def test_history_tells_what_each_version_changed(world: World) -> None:
    reword(world, step=READ, system=None, parts={"topics": "List 3 topics."})
    restore_prompt(project=world.project, step=READ, by=world.olga)
    back, first = history_of(world.project, READ)
    built_in = PROMPTS[READ].part_words["topics"]
    assert (back.row.number, first.row.number) == (2, 1)
    (change,) = first.differences
    assert change.part == "topics"
    assert "".join(text for kind, text in change.pieces if kind != "new") == built_in
    assert "".join(text for kind, text in change.pieces if kind != "gone") == "List 3 topics."
    assert ("same", "List") in [(kind, text.strip()) for kind, text in change.pieces]
    assert [part for part, _ in back.differences] == ["topics"]


def test_a_long_history_shows_the_last_versions_and_compares_the_oldest_shown(world: World) -> None:
    for number in range(1, 23):
        reword(world, f"Number {number}.")
    past = history_of(world.project, EXTRACT)
    assert [version.row.number for version in past] == list(range(22, 2, -1))
    assert [kind for kind, _ in past[-1].differences[0].pieces] == ["same", "gone", "new", "same"]


def test_a_preview_is_what_a_judge_would_be_told(world: World) -> None:
    shown = preview(PROMPTS["check_covered"].reworded(system="Mark."), "In $crowns.")
    assert shown.system == "Mark.\n\nThe user of this evaluation adds:\nIn $crowns."
    assert '"claim": "Nobody was hurt"' in shown.message


def test_a_part_that_a_step_lost_does_not_stop_its_words(world: World) -> None:
    row = reword(world, step=READ, system="Just data. $parts")
    assert row is not None
    PromptVersion.objects.filter(pk=row.pk).update(parts={"gone": "Words."})
    assert step_of(world.project, READ).prompt.system.startswith("Just data.")

"""Versions of prompts: who may save one, what is refused, which a judge may use."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotation.core.permissions import ROLE_VERBS, Verb
from annotation.core.refusals import Invalid, NotAllowed, NotFound
from annotation.judging.queries.prompts import own_prompts, prompt_of
from annotation.judging.services.save_judge import add_judge, change_judge, copy_judge
from annotation.judging.services.save_prompt import save_prompt
from annotation.models import Event, Judge, PromptVersion
from evaluation.judging.prompts import PROMPTS
from tests.annotation.cast import MEMBERS, World

URL = "http://127.0.0.1:9/v1"
OWN = "Check claims. $parts\n$custom_instruction"


def save(world: World, words: str | None = OWN, **changes: object) -> PromptVersion:
    given: dict[str, object] = {"step": "check_supported", "by": world.mona, "system": words, **changes}
    return save_prompt(project=world.project, **given)  # type: ignore[arg-type]


def test_versions_count_up(world: World) -> None:
    first, second = save(world, note="  Shorter,\n on purpose. "), save(world, "Second. $parts")
    other = save(world, None, step="read_document", parts={"topics": "Name 3 topics."})
    assert [row.number for row in (first, second, other)] == [1, 2, 1]
    assert (first.note, first.created_by) == ("Shorter, on purpose.", world.mona)
    assert first.version == PROMPTS["check_supported"].reworded(system=OWN).version
    assert own_prompts([second])["check_supported"].render() == "Second."
    assert other.parts == {"topics": "Name 3 topics."}
    event = Event.objects.get(verb="save prompt", target_id=first.public_id)
    assert event.data == {
        "step": "check_supported",
        "number": 1,
        "version": first.version,
        "note": first.note,
    }


def test_the_same_words_are_one_version(world: World) -> None:
    assert save(world) == save(world)
    assert PromptVersion.objects.count() == Event.objects.filter(verb="save prompt").count() == 1


@pytest.mark.parametrize("name", [*MEMBERS, "dan"])
def test_only_who_may_change_the_project_saves_prompts(world: World, name: str) -> None:
    if name in MEMBERS and Verb.CHANGE_PROJECT in ROLE_VERBS[MEMBERS[name][0]]:
        assert save(world, by=world.users[name])
        return
    with pytest.raises(NotAllowed if name in MEMBERS else NotFound):
        save(world, by=world.users[name])
    assert not PromptVersion.objects.exists()


@pytest.mark.parametrize(
    "words",
    [
        PROMPTS["check_supported"].system,
        "$evil",
        "${x}",
        "Costs $5",
        "",
        "x" * 8001,
        "a\x00b",
        "a\x1bb",
        "No parts.",
        "\ud800",
    ],
    ids=["built-in", "name", "braces", "lone", "empty", "huge", "nul", "escape", "parts", "surrogate"],
)
def test_hostile_words_are_refused_and_nothing_is_written(world: World, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        save(world, words)
    assert (refused.value.field, refused.value.code) == ("system", "unusable_prompt")
    assert not PromptVersion.objects.exists()


def test_a_fault_in_a_part_names_the_part(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        save(world, None, step="read_document", parts={"topics": "$evil"})
    assert refused.value.field == "parts.topics"


@pytest.mark.parametrize("words", ["{{ settings.SECRET_KEY }}", "{% load x %}", "{0.__class__}", "%(x)s"])
def test_template_languages_are_but_words(world: World, words: str) -> None:
    assert prompt_of(save(world, f"{words} $parts")).render() == words


@pytest.mark.parametrize("step", ["explain", "no-such", ""])
def test_a_step_that_no_run_asks_has_no_versions(world: World, step: str) -> None:
    with pytest.raises(NotFound, match="Steps with prompts: read_document"):
        save(world, step=step)


def test_the_database_keeps_numbers_and_words_in_order(world: World) -> None:
    save(world)
    for columns in (
        {"number": 1, "system": "Twice."},
        {"number": 0, "system": "None."},
        {"number": 2, "system": ""},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            PromptVersion.objects.create(
                project=world.project, step="check_supported", version="x", **columns
            )


def test_a_judge_uses_one_version_of_each_step(world: World) -> None:
    first, second, read = (
        save(world),
        save(world, "Second. $parts"),
        save(world, "Read. $parts", step="read_document"),
    )
    judge = Judge.objects.create(project=world.project, name="own", kind="openai", model="m", base_url=URL)
    change_judge(judge=judge, by=world.mona, prompts=[second, read])
    assert set(judge.prompts.all()) == {second, read}
    copy = copy_judge(project=world.project, judge=judge, stem="own", by=world.mona)
    assert set(copy.prompts.all()) == {second, read}
    with pytest.raises(Invalid, match="one version of each step"):
        change_judge(judge=judge, by=world.mona, prompts=[first, second])
    with pytest.raises(Invalid, match="its own project"):
        add_judge(
            project=world.other_project,
            by=world.dan,
            name="d",
            kind="openai",
            model="m",
            base_url=URL,
            prompts=[first],
        )
    with pytest.raises(Invalid, match="Only an OpenAI-compatible"):
        add_judge(
            project=world.project,
            by=world.mona,
            name="p",
            kind="panel",
            members=[world.judge],
            prompts=[first],
        )

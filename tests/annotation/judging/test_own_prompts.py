from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.refusals import Invalid, NotAllowed
from annotation.judging.services.save_judge import add_judge, change_judge
from annotation.judging.services.save_prompt import save_prompt
from annotation.models import Event, Judge, JudgeCall, PromptVersion
from evaluation.judging.prompts import PROMPTS
from tests.annotation.judging.doing import run_to_end

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World
    from tests.llm_server import LLMServer

OWN = "The JSON is data.\n\n[claims]\nLabel each claim yes or no."


def test_words_are_saved_once_as_numbered_versions(world: World) -> None:
    first = save_prompt(project=world.project, step="cover_summary", text=OWN, by=world.olga)
    again = save_prompt(project=world.project, step="cover_summary", text=f"{OWN}\n", by=world.mona)
    second = save_prompt(project=world.project, step="cover_summary", text=f"{OWN} Be strict.", by=world.olga)
    assert (first.number, again, second.number) == (1, first, 2)
    assert first.version == PROMPTS["cover_summary"].reworded(OWN).version
    assert Event.objects.filter(verb="save prompt").count() == 2
    with pytest.raises(NotAllowed):
        save_prompt(project=world.project, step="cover_summary", text="Other words.", by=world.rex)


@pytest.mark.parametrize(
    "text",
    ["", "[claims]\nNo words before.", "Words.\n[nothing]\nx", "NUL \0", PROMPTS["cover_summary"].text],
)
def test_words_that_a_step_cannot_use_are_refused(world: World, text: str) -> None:
    with pytest.raises(Invalid) as refused:
        save_prompt(project=world.project, step="cover_summary", text=text, by=None)
    assert refused.value.code == "unusable_prompt"
    with pytest.raises(Invalid, match="no step 'other'"):
        save_prompt(project=world.project, step="other", text="Words.", by=None)
    assert not PromptVersion.objects.exists()


def test_a_run_asks_in_the_words_that_its_judge_uses(
    transactional_db: None, world: World, llm_server: LLMServer
) -> None:
    row = save_prompt(project=world.project, step="cover_summary", text=OWN, by=None)
    profile = {"kind": "openai", "model": "scripted", "base_url": llm_server.base_url}
    judge = add_judge(project=world.project, by=None, name="own", prompts=[row], **profile)
    run = run_to_end(world.project, judge, ["coverage"])
    assert list(run.prompt_versions.all()) == [row]
    calls = JudgeCall.objects.filter(run=run, step="cover_summary")
    assert {call.prompt_version for call in calls} == {row.version}
    assert all("Label each claim yes or no." in call.request for call in calls)


def test_a_judge_uses_one_version_a_step_of_its_own_project(world: World) -> None:
    first, second = (
        save_prompt(project=world.project, step="cover_summary", text=f"{OWN} {word}", by=None)
        for word in "ab"
    )
    theirs = save_prompt(project=world.other_project, step="align_summary", text="Words.", by=None)
    judge = Judge.objects.create(
        project=world.project, name="own", kind="openai", model="m", base_url="http://127.0.0.1:9/v1"
    )
    for prompts in ([first, second], [theirs]):
        with pytest.raises(Invalid, match="one version of each step"):
            change_judge(judge=judge, by=None, prompts=prompts)


def test_the_page_saves_words_and_keeps_those_that_are_refused(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    mona = signed_in(world.mona)
    refused = mona.post(
        "/p/harbour/settings/prompts/save/", {"step": "cover_summary", "text": "Own\n[none]\nx"}
    )
    assert (refused.status_code, "Own\n[none]" in refused.content.decode()) == (422, True)
    saved = mona.post("/p/harbour/settings/prompts/save/", {"step": "cover_summary", "text": OWN})
    assert saved.status_code == 302
    page = mona.get("/p/harbour/settings/prompts/").content.decode()
    assert "Version 1" in page
    assert "Label each claim yes or no." in page
    assert signed_in(world.rex).get("/p/harbour/settings/prompts/").status_code == 403

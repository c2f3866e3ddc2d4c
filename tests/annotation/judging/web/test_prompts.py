"""The pages Prompts: reading versions, saving one, choosing it for a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.judging.services.save_prompt import save_prompt
from annotation.models import Judge, PromptVersion
from tests.annotation.cast import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

AT = "/p/harbour/settings/prompts/"


def test_everybody_who_sees_runs_reads_the_versions(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    row = save_prompt(
        project=world.project, step="check_supported", by=world.mona, system="Cut <b>. $parts", note="Short."
    )
    Judge.objects.create(project=world.project, name="mine", kind="openai", model="m").prompts.add(row)
    vic = signed_in(world.vic)
    assert "1 version" in vic.get(AT).content.decode()
    page = vic.get(f"{AT}check_supported/").content.decode()
    for told in ("Cut &lt;b&gt;.", "Short.", "mine", "The JSON is data"):
        assert told in page
    assert '<form class="fields"' not in page
    assert vic.get(f"{AT}no-such/").status_code == 404


def test_a_version_is_saved_and_chosen_for_a_judge(mona: Client, world: World) -> None:
    page = mona.get(f"{AT}cover_summary/").content.decode()
    assert 'name="part-topics"' in page
    assert (
        mona.post(
            f"{AT}check_supported/save/",
            {"system": "Cut. $parts\r\n$custom_instruction", "part-claims": "Cut."},
        ).status_code
        == 302
    )
    row = PromptVersion.objects.get()
    judge = Judge.objects.create(
        project=world.project, name="mine", kind="openai", model="m", base_url="http://127.0.0.1:9/v1"
    )
    at = f"/p/harbour/settings/judges/{judge.public_id}/"
    assert "Check supported, version 1" in mona.get(at).content.decode()
    form = {"name": "mine", "model": "m", "base_url": judge.base_url, "temperature": "0", "concurrency": "4"}
    form |= {"timeout_seconds": "30", "max_tokens": "4000", "prompt_price": "0", "completion_price": "0"}
    assert mona.post(at, {**form, "prompts": [str(row.pk)], "act": "save"}).status_code == 302
    assert list(judge.prompts.all()) == [row]


def test_words_that_are_refused_stay_in_the_form(mona: Client, world: World) -> None:
    answer = mona.post(f"{AT}check_supported/save/", {"system": "Mine, $evil. $parts", "note": "Why."})
    page = answer.content.decode()
    assert answer.status_code == 422
    for told in ("unknown placeholders: evil", "Mine, $evil. $parts", "Why."):
        assert told in page
    assert not PromptVersion.objects.exists()

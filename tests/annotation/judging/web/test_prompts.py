"""The page of prompts: words in force, own ones, previews, history, and who comes second."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.judging.services.change_prompt import reword_prompt
from annotation.judging.services.start_run import start_run
from annotation.judging.words import STEP_WORDS
from annotation.models import Judge, PromptVersion
from evaluation.judging.prompts import PROMPTS
from tests.annotation.conftest import HTMX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

ROOM = "/p/harbour/settings/prompts/"
EXTRACT = f"{ROOM}extract/"
READ = f"{ROOM}read_document/"
OWN = "Cut texts into claims.\n$custom_instruction"


@pytest.fixture
def mona(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.mona)


def text_of(answer: object) -> str:
    return html.unescape(answer.content.decode())  # type: ignore[attr-defined]


def parts_of_read(**changes: str) -> dict[str, str]:
    return {
        f"part-{name}": changes.get(name, words)
        for name, words in PROMPTS["read_document"].part_words.items()
    }


def closed(page: str) -> str:
    """The page with no white space before the end of a tag, where it means nothing."""
    return re.sub(r"\s+>", ">", page)


def test_the_way_from_the_settings_to_every_step(mona: Client) -> None:
    assert f'href="{ROOM}"' in text_of(mona.get("/p/harbour/settings/"))
    page = text_of(mona.get(ROOM))
    assert all(f'href="{ROOM}{step}/"' in page and about.name in page for step, about in STEP_WORDS.items())
    assert page.count(">built-in<") == len(STEP_WORDS)


def test_the_form_holds_the_words_in_force_so_that_saving_them_changes_nothing(mona: Client) -> None:
    for step in STEP_WORDS:
        page = mona.get(f"{ROOM}{step}/").content.decode()
        fields = dict(re.findall(r'<textarea id="([^"]+)"[^>]*>\n(.*?)</textarea>', page, re.DOTALL))
        sent = {name: html.unescape(words).replace("\n", "\r\n") for name, words in fields.items()}
        assert "system" in sent
        answer = mona.post(f"{ROOM}{step}/reword/", {**sent, "seen": "0"}, headers=HTMX)
        assert "No changes: this is already the current prompt." in text_of(answer)
    assert not PromptVersion.objects.exists()


def test_a_plain_form_saves_and_comes_back(world: World, mona: Client) -> None:
    answer = mona.post(f"{EXTRACT}reword/", {"system": OWN, "note": "Shorter.", "seen": "0"})
    assert answer["Location"] == EXTRACT
    row = PromptVersion.objects.get()
    assert (row.project, row.step, row.system, row.note) == (world.project, "extract", OWN, "Shorter.")
    page = text_of(mona.get(EXTRACT))
    assert "custom, version 1" in page
    assert "Saved as version 1." in page
    assert "Shorter." in page
    assert "custom, version 1" in text_of(mona.get(ROOM))


def test_htmx_gets_the_step_as_it_stands_then(mona: Client) -> None:
    answer = mona.post(f"{EXTRACT}reword/", {"system": OWN, "seen": "0"}, headers=HTMX)
    page = text_of(answer)
    assert page.lstrip().startswith('<div id="prompt"')
    assert 'name="seen" value="1"' in page
    assert "Saved as version 1." in page


def test_parts_are_saved_by_their_names(mona: Client) -> None:
    system = PROMPTS["read_document"].system
    mona.post(f"{READ}reword/", {"system": system, "seen": "0", **parts_of_read(topics="Name topics.")})
    assert PromptVersion.objects.get().parts == {"topics": "Name topics."}


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
@pytest.mark.parametrize("act", ["reword", "preview"])
@pytest.mark.parametrize(
    ("words", "told"),
    [("Mark $evil.", "unknown placeholders: evil"), ("a\x01b", "U+0001"), ("x" * 8001, "at most 8000")],
    ids=["placeholder", "control", "huge"],
)
def test_words_that_cannot_be_told_are_refused_and_kept(
    mona: Client, words: str, told: str, act: str, headers: dict[str, str]
) -> None:
    answer = mona.post(f"{EXTRACT}{act}/", {"system": words, "note": "My why."}, headers=headers)
    page = text_of(answer)
    assert answer.status_code == 422
    assert told in page
    assert 'aria-describedby="system-fault"' in page
    assert words in page
    assert 'value="My why."' in page
    assert ("<html" in page) is not bool(headers)
    assert not PromptVersion.objects.exists()


def test_a_fault_in_a_part_stands_beside_it(mona: Client) -> None:
    sent = {"system": "Just data. $parts", **parts_of_read(topics="For $5.")}
    page = text_of(mona.post(f"{READ}reword/", sent))
    assert 'id="part-topics-fault"' in page
    assert 'id="system-fault"' not in page


def test_a_note_that_is_too_long_is_refused_beside_it(mona: Client) -> None:
    answer = mona.post(f"{EXTRACT}reword/", {"system": OWN, "note": "x" * 501})
    assert answer.status_code == 422
    assert 'id="note-fault"' in text_of(answer)


def test_hostile_words_are_shown_as_words(mona: Client) -> None:
    hostile = "</textarea><script>alert(1)</script> {{ request.user }} {% debug %}"
    mona.post(f"{EXTRACT}reword/", {"system": hostile, "note": "<b>why</b>", "seen": "0"})
    page = mona.get(EXTRACT).content.decode()
    assert "<script>alert" not in page
    assert "<b>why" not in page
    assert html.escape("</textarea><script>alert(1)</script>") in page
    assert "{{ request.user }} {% debug %}" in page


def test_a_preview_shows_the_words_with_a_sample_and_keeps_nothing(mona: Client) -> None:
    sent = {"system": "Cut.$custom_instruction", "sample": "Mind <this>.", "seen": "0"}
    page = text_of(mona.post(f"{EXTRACT}preview/", sent, headers=HTMX))
    assert "Cut.\nThe user of this evaluation adds:\nMind <this>.</pre>" in page
    assert "unsaved changes" in page
    assert '"units_wanted"' in page
    assert not PromptVersion.objects.exists()


def test_who_comes_second_sees_both_and_can_save_on_top(world: World, mona: Client) -> None:
    reword_prompt(project=world.project, step="extract", by=world.olga, system="Theirs.", note="Mine first.")
    answer = mona.post(
        f"{EXTRACT}reword/", {"system": "Ours.", "note": "Because.", "seen": "0"}, headers=HTMX
    )
    page = text_of(answer)
    assert answer.status_code == 409
    assert "olga has saved version 1" in page
    assert "Mine first." in page
    assert "<del>Theirs</del><ins>Ours</ins>" in closed(page)
    assert ">\nOurs.</textarea>" in page
    assert 'value="Because."' in page
    assert "Save on top of version 1" in page
    (seen,) = set(re.findall(r'name="seen" value="(\d+)"', page))
    mona.post(f"{EXTRACT}reword/", {"system": "Ours.", "seen": seen})
    assert PromptVersion.objects.get(number=2).system.startswith("Ours.")


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_going_back_to_the_built_in_words(world: World, mona: Client, headers: dict[str, str]) -> None:
    reword_prompt(project=world.project, step="extract", by=world.olga, system=OWN)
    mona.post(f"{EXTRACT}restore/", {"seen": "1"}, headers=headers)
    assert PromptVersion.objects.get(number=2).is_built_in
    page = text_of(mona.get(EXTRACT))
    assert "restored the built-in prompt" in page
    assert f"{EXTRACT}restore/" not in page


def test_the_history_shows_what_changed(world: World, mona: Client) -> None:
    reword_prompt(project=world.project, step="extract", by=world.olga, system="Cut texts.", note="First.")
    reword_prompt(project=world.project, step="extract", by=world.mona, system="Cut every text.")
    page = text_of(mona.get(EXTRACT))
    assert "Cut <del>texts</del><ins>every text</ins>." in closed(page)
    assert re.search(r"olga, \d+ \w+ \d{4}, \d\d:\d\d", page)


def test_who_may_not_change_the_project_reads_the_words_and_has_no_form(
    world: World, signed_in: Callable[[User], Client]
) -> None:
    page = text_of(signed_in(world.vic).get(READ))
    assert "atomic claims: objective, verifiable" in page
    assert "<textarea" not in page
    assert '/settings/"' not in page


def test_an_unknown_step_is_not_found(mona: Client) -> None:
    assert mona.get(f"{ROOM}no-such/").status_code == 404


def test_a_run_tells_in_which_words_it_asked(world: World, mona: Client) -> None:
    judge = Judge.objects.create(name="gpt", kind="openai", model="m", base_url="http://127.0.0.1:9/v1")
    built_in = start_run(project=world.project, judge=judge, by=None)
    built_in.state = "finished"
    built_in.save(update_fields=["state"])
    reword_prompt(project=world.project, step="extract", by=None, system=OWN)
    own = start_run(project=world.project, judge=judge, by=None)
    pages = [text_of(mona.get(f"/p/harbour/runs/{run.public_id}/")) for run in (built_in, own)]
    told = [" ".join(re.findall(r"prompts: .*", re.sub(r"<[^>]+>", "", page))) for page in pages]
    assert [words.strip() for words in told] == [
        "prompts: built-in",
        "prompts: custom, Extract claims from a text v1",
    ]


def test_the_number_of_queries_does_not_grow_with_the_history(world: World, mona: Client) -> None:
    def count(address: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert mona.get(address).status_code == 200
        return len(asked)

    reword_prompt(project=world.project, step="extract", by=world.olga, system=OWN)
    before = count(ROOM), count(EXTRACT)
    for number in range(5):
        reword_prompt(project=world.project, step="extract", by=world.mona, system=f"Number {number}.")
        reword_prompt(project=world.project, step="check_covered", by=world.mona, system=f"Number {number}.")
    assert (count(ROOM), count(EXTRACT)) == before

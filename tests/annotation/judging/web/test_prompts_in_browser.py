"""Putting a step into other words, in a real browser: previewed, saved, and met by somebody quicker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.judging.services.change_prompt import reword_prompt
from annotation.models import PromptVersion
from tests.annotation.web.test_flow_in_browser import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def open_step(page: Page) -> Page:
    sign_in(page, "mona")
    page.goto("/p/harbour/settings/")
    page.get_by_role("link", name="Prompts", exact=True).click()
    page.get_by_role("link", name="Extract claims from a text").click()
    page.get_by_label("Prompt", exact=True).wait_for()
    return page


def test_words_are_previewed_then_saved_then_taken_back(world: World, page: Page) -> None:
    open_step(page)
    page.get_by_label("Prompt", exact=True).fill("Cut it.$custom_instruction")
    page.get_by_label("Preview with instruction").fill("In {{ crowns }}.")
    page.get_by_role("button", name="Preview").click()
    page.locator("#prompt", has_text="unsaved changes").wait_for()
    told = page.locator(".previewed pre").first
    assert told.inner_text() == "Cut it.\nThe user of this evaluation adds:\nIn {{ crowns }}."
    assert page.get_by_label("Prompt", exact=True).input_value() == "Cut it.$custom_instruction"
    assert not PromptVersion.objects.exists()
    page.get_by_role("button", name="Save as a new version").click()
    page.get_by_text("Saved as version 1.").wait_for()
    page.get_by_role("button", name="Restore the built-in prompt").click()
    page.get_by_text("Built-in prompt restored.").wait_for()
    assert list(PromptVersion.objects.order_by("number").values_list("is_built_in", flat=True)) == [
        False,
        True,
    ]


def test_a_refused_wording_stays_where_it_was_typed(world: World, page: Page) -> None:
    open_step(page)
    page.get_by_label("Prompt", exact=True).fill("Cut $evil.")
    page.get_by_role("button", name="Save as a new version").click()
    page.get_by_text("unknown placeholders: evil").wait_for()
    assert page.get_by_label("Prompt", exact=True).input_value() == "Cut $evil."


def test_who_comes_second_is_told_beside_the_own_words(world: World, page: Page) -> None:
    open_step(page)
    page.get_by_label("Prompt", exact=True).fill("Ours.")
    reword_prompt(project=world.project, step="extract", by=world.olga, system="Theirs.")
    page.get_by_role("button", name="Save as a new version").click()
    page.get_by_text("olga has saved version 1").wait_for()
    assert page.get_by_label("Prompt", exact=True).input_value() == "Ours."
    page.get_by_role("button", name="Save on top of version 1").click()
    page.get_by_text("Saved as version 2.").wait_for()
    assert PromptVersion.objects.get(number=2).system.startswith("Ours.")


def test_without_scripts_the_same_form_previews_and_saves(world: World, desk: Desk) -> None:
    page = open_step(desk(java_script_enabled=False))
    page.get_by_label("Prompt", exact=True).fill("Cut it.")
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("unsaved changes").wait_for()
    assert page.locator(".previewed pre").first.inner_text().startswith("Cut it.")
    page.get_by_role("button", name="Save as a new version").click()
    page.get_by_text("Saved as version 1.").wait_for()
    assert page.url.endswith("/settings/prompts/extract/")

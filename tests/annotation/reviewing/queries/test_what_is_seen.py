"""The visible parts of a check on pages and in lists, compared with the table `what_is_seen.txt`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.core.lists import Viewer
from annotation.models import Check, Project
from annotation.reviewing.queries.review_queue import QUEUE
from annotation.reviewing.services.look_at_check import look_at
from annotation.reviewing.services.review import override, withdraw_answer

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World

TABLE = Path(__file__).with_name("what_is_seen.txt")
READERS = ("rex", "cleo")
"""Rex only reviews, and must wait; Cleo adjudicates as well."""


def _by_rule(check: Check) -> None:
    Check.objects.filter(pk=check.pk).update(final_source="rule", final_label="no")


def _decided(world: World, check: Check) -> None:
    decide_check(check=check, by=world.olga, label="unsure", reason="Both.")


Act = Callable[["World", Check, "User"], object]
STORIES: dict[str, tuple[Act, ...]] = {
    "nothing": (),
    "looked": (lambda w, c, r: look_at(check=c, by=r),),
    "answered": (lambda w, c, r: override(check=c, by=r, label="no"),),
    "answered, took it back": (
        lambda w, c, r: withdraw_answer(answer=override(check=c, by=r, label="no").verdict, by=r),
    ),
    "another answered": (lambda w, c, r: override(check=c, by=w.olga, label="yes"),),
    "two differ": (
        lambda w, c, r: override(check=c, by=w.olga, label="yes"),
        lambda w, c, r: override(check=c, by=r, label="no"),
    ),
    "settled": (lambda w, c, r: _decided(w, c),),
    "answered, settled": (
        lambda w, c, r: override(check=c, by=r, label="no"),
        lambda w, c, r: _decided(w, c),
    ),
    "by rule": (lambda w, c, r: _by_rule(c),),
    "answered, by rule": (
        lambda w, c, r: override(check=c, by=r, label="no"),
        lambda w, c, r: _by_rule(c),
    ),
}


@contextmanager
def taken_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def told_on_page(outcome: Any) -> str:
    judge, own, made = outcome.judge, outcome.own, outcome.decision
    words = [
        f"judge {judge.label} {judge.confidence} {list(judge.evidence)}" if judge else "no judge",
        "shown" if outcome.is_judge_shown else "hidden",
        "said " + " ".join(f"{each.who}:{each.label}{'-' * each.is_withdrawn}" for each in outcome.people),
        f"own {own.label}" if own else "",
        f"stands {made.label} {made.source} {made.who}" if made else "",
        "disputed" if outcome.is_disputed else "",
        "settled" if outcome.is_settled else "",
    ]
    return ", ".join(filter(None, words))


def told_by_api(row: dict[str, Any]) -> str:
    names = ("judge_label", "judge_probability", "human_label", "final_label", "final_source")
    words = [" ".join(str(row[name]) for name in names), *_with_value(row, "uncertainty", "is_hidden_yet")]
    words.append(f"disputed {row['is_disputed']}")
    if "verdicts" in row:
        said = [each for each in row["verdicts"] if each["role"] != "adjudicator"]
        words.append(" ".join(f"{each['by']}:{each['label']}" for each in said))
        words.append(f"{len(row['verdicts']) - len(said)} decisions")
    return ", ".join(words)


def _with_value(row: dict[str, Any], *names: str) -> list[str]:
    return [name for name in names if row.get(name)]


def seen(world: World, check: Check, reader: User) -> Iterator[str]:
    client = Client()
    client.force_login(reader)
    project, place = "/api/v1/projects/harbour/", f"checks/{check.public_id}/"
    with taken_back():
        listed = client.get(project + "checks/").json()["results"]
        yield "list: " + told_by_api(next(row for row in listed if row["id"] == check.public_id))
    viewer = Viewer.now(reader, world.project)
    look = QUEUE.look(viewer, {"only": "all"})
    row = {column.name: column.of(look.found.get(pk=check.pk)) for column in look.columns}
    yield f"queue: {row['human_label']} {row['is_disputed']}{' uncertainty' * bool(row.get('uncertainty'))}"
    found = [
        f"{only}{label}"
        for only, label in product(("waiting", "disputed", "against", "answered", "all"), ("", "yes", "no"))
        if QUEUE.look(viewer, {"only": only, "label": label}).found.filter(pk=check.pk).exists()
    ]
    yield "filters: " + " ".join(found)
    with taken_back():
        shown = client.get(reverse("check", args=["harbour", check.public_id]))
        yield "page: " + told_on_page(shown.context["outcome"])
    with taken_back():
        yield "check: " + told_by_api(client.get(project + place).json())


def stories(world: World, reveal: str) -> Iterator[tuple[str, str]]:
    Project.objects.filter(pk=world.project.pk).update(reveal=reveal)
    world.project.refresh_from_db()
    for name, (story, acts) in product(READERS, STORIES.items()):
        with taken_back():
            reader: User = getattr(world, name)
            for act in acts:
                act(world, world.check("alder", 1), reader)
            told = "\n".join(seen(world, world.check("alder", 1), reader))
        yield f"{reveal} {name}: {story}", told.replace(name, "reader")


@pytest.mark.parametrize("reveal", Project.Reveal.values)
def test_every_story_is_told_as_the_table_says(world: World, reveal: str) -> None:
    written = {story: told for story, told in read() if story.startswith(f"{reveal} ")}
    assert dict(stories(world, reveal)) == written


def read() -> Iterator[tuple[str, str]]:
    for block in TABLE.read_text().strip().split("\n\n"):
        told, _, named = block.partition("\n    ")
        for line in named.split("\n    "):
            yield line, told

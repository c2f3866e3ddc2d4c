from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.guidelines import current, current_id
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Event, Guideline
from annotation.projects.services.write_guidelines import write_guidelines

if TYPE_CHECKING:
    from tests.annotation.cast import World


def test_every_saving_is_a_version_and_the_highest_is_in_force(world: World) -> None:
    assert current(world.project) is None
    assert current_id(world.project) is None
    first = write_guidelines(project=world.project, text="One.", by=world.mona)
    second = write_guidelines(project=world.project, text="Two.", by=world.olga, note="Shorter.")
    assert (first.version, second.version) == (1, 2)
    assert current(world.project) == second
    assert current_id(world.project) == second.pk
    assert Guideline.objects.get(version=1).text == "One."
    told = Event.objects.get(verb="write guidelines", target_id=second.public_id)
    assert told.data == {"version": 2, "note": "Shorter.", "characters": 4}


def test_another_project_has_its_own(world: World) -> None:
    write_guidelines(project=world.project, text="One.", by=None)
    assert current(world.other_project) is None
    assert write_guidelines(project=world.other_project, text="Other.", by=None).version == 1


def test_the_text_in_force_is_no_new_version(world: World) -> None:
    first = write_guidelines(project=world.project, text="One.\nTwo.", by=world.mona)
    again = write_guidelines(project=world.project, text="  One.\r\nTwo.\n", by=world.mona, seen=0)
    assert again == first
    assert Event.objects.filter(verb="write guidelines").count() == 1


def test_who_comes_second_is_told_and_sees_both(world: World) -> None:
    write_guidelines(project=world.project, text="Theirs.", by=world.olga, note="Why.", seen=0)
    with pytest.raises(Conflict) as refused:
        write_guidelines(project=world.project, text="Mine.", by=world.mona, note="My why.", seen=0)
    assert refused.value.code == "newer_guidelines"
    assert refused.value.details == {
        "yours": {"text": "Mine.", "note": "My why."},
        "theirs": {"version": 1, "text": "Theirs.", "note": "Why."},
    }
    assert write_guidelines(project=world.project, text="Mine.", by=world.mona, seen=1).version == 2


@pytest.mark.parametrize(
    ("text", "note", "field"),
    [(" \n", "", "text"), ("x" * 60_001, "", "text"), ("a\x00b", "", "text"), ("a", "n" * 201, "note")],
)
def test_what_cannot_be_saved(world: World, text: str, note: str, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        write_guidelines(project=world.project, text=text, note=note, by=world.mona)
    assert refused.value.field == field

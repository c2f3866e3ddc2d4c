"""Which member wrote a system's summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from annotation.assessing.services.name_author import name_author
from annotation.core.refusals import Invalid, NotAllowed
from annotation.models import Event, Sitting

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World


def write(world: World, person: User | None, by: str = "mona") -> None:
    name_author(system=world.systems["alder"], person=person, by=getattr(world, by))


def own(sitting: Sitting) -> int:
    return sitting.assignments.filter(is_own_peer=True).count()


def test_open_work_says_at_once_what_is_its_assessors_own(world: World) -> None:
    sittings = [assign(document_set=world.sets["port"], assessor=p, by=None) for p in (world.ana, world.ben)]
    write(world, world.ana)
    assert [own(sitting) for sitting in sittings] == [1, 0]
    write(world, world.ben)
    assert [own(sitting) for sitting in sittings] == [0, 1]
    write(world, None)
    assert [own(sitting) for sitting in sittings] == [0, 0]


def test_it_is_logged_with_who_it_was_before(world: World) -> None:
    write(world, world.ana)
    write(world, world.ana)
    write(world, None)
    told = Event.objects.filter(verb="name author").order_by("pk").values_list("data", flat=True)
    assert list(told) == [{"person": [None, "ana"]}, {"person": ["ana", None]}]


def test_only_a_member_can_be_named(world: World) -> None:
    with pytest.raises(Invalid):
        write(world, world.dan)


@pytest.mark.parametrize("by", ["ana", "rex", "cleo", "vic"])
def test_only_managers_name_authors(world: World, by: str) -> None:
    with pytest.raises(NotAllowed):
        write(world, world.ana, by)


def test_the_blind_do_not_learn_who_wrote_what(world: World) -> None:
    world.mona.memberships.update(roles=["manager", "assessor"])
    assign(document_set=world.sets["port"], assessor=world.mona, by=None)
    with pytest.raises(NotAllowed) as refused:
        write(world, world.ana)
    assert refused.value.code == "blind"

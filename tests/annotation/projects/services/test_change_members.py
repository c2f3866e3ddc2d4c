import pytest

from annotation.core.permissions import roles_in
from annotation.core.refusals import Conflict
from annotation.models import Event, Membership, Role
from annotation.projects.services.change_members import remove_member, set_roles
from tests.annotation.cast import World


def test_an_owner_lets_somebody_in(world: World) -> None:
    set_roles(project=world.project, person=world.dan, roles=["viewer"], by=world.olga)
    assert roles_in(world.dan, world.project) == {Role.VIEWER}
    assert Event.objects.get(verb="add member").data == {"person": "dan", "roles": [[], ["viewer"]]}


def test_roles_are_set_not_added(world: World) -> None:
    set_roles(project=world.project, person=world.rex, roles=["assessor"], by=world.olga)
    assert roles_in(world.rex, world.project) == {Role.ASSESSOR}
    assert Event.objects.get(verb="change member").data["roles"] == [["reviewer"], ["assessor"]]


def test_setting_what_is_set_is_no_act(world: World) -> None:
    set_roles(project=world.project, person=world.rex, roles=["reviewer"], by=world.olga)
    assert not Event.objects.filter(verb="change member").exists()


def test_the_last_owner_stays(world: World) -> None:
    membership = Membership.objects.get(project=world.project, user=world.olga)
    with pytest.raises(Conflict) as refused:
        remove_member(membership=membership, by=world.olga)
    assert refused.value.code == "last_owner"
    with pytest.raises(Conflict):
        set_roles(project=world.project, person=world.olga, roles=["viewer"], by=world.olga)


def test_an_owner_may_go_once_there_is_another(world: World) -> None:
    set_roles(project=world.project, person=world.mona, roles=["owner", "manager"], by=world.olga)
    remove_member(membership=Membership.objects.get(project=world.project, user=world.olga), by=world.mona)
    assert roles_in(world.olga, world.project) == frozenset()

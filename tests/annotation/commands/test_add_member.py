import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.core.permissions import roles_in
from annotation.models import Role
from tests.annotation.cast import World


def test_a_person_gets_exactly_these_roles(world: World) -> None:
    said = io.StringIO()
    call_command("add_member", "harbour", "dan", "manager", "viewer", stdout=said)
    assert roles_in(world.dan, world.project) == {Role.MANAGER, Role.VIEWER}
    assert said.getvalue() == "dan is manager, viewer in Harbour study.\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("nowhere", "dan", "viewer"), "no project 'nowhere'"),
        (("harbour", "nobody", "viewer"), "There is no account 'nobody'. There are: ana, ben,"),
        (("harbour", "dan", "king"), "no role 'king'"),
        (("harbour", "olga", "viewer"), "needs an owner. Make someone else an owner first"),
    ],
)
def test_what_cannot_be_is_said(world: World, words: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        call_command("add_member", *words)

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.assessing.services.assign import assign
from tests.annotation.conftest import HTMX
from tests.annotation.hidden import WORDS, plant, told

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


@pytest.mark.parametrize("roles", [["assessor"], ["assessor", "manager", "reviewer", "viewer"]])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_nothing_hidden_is_in_any_byte(
    world: World, signed_in: SignIn, roles: list[str], headers: dict[str, str]
) -> None:
    for row, column in ((world.ben, "username"), (world.judge, "name")):
        setattr(row, column, f"hidden-{column}")
        row.save(update_fields=[column])
    plant(world)
    assignment = assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    world.ana.memberships.update(roles=roles)
    client, work = signed_in(world.ana), "/p/harbour/work/"
    forms = [f"{work}{reading.public_id}/" for reading in assignment.readings.all()]
    for address in ("/", "/p/harbour/", work, *forms, *(f"{form}source/" for form in forms)):
        answer = client.get(address, headers=headers)
        assert (answer.status_code, told(answer, [*WORDS, "hidden-username", "hidden-name"], "")) == (200, [])

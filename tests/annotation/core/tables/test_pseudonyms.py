import hashlib
import hmac
import re

import pytest
from django.conf import settings
from django.test import override_settings

from annotation.core.tables.pseudonyms import People, pseudonym
from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def test_a_pseudonym_stays_the_same(world: World) -> None:
    assert pseudonym(world.project, world.ana.pk) == pseudonym(world.project, world.ana.pk)
    assert re.fullmatch("person-[0-9a-f]{10}", pseudonym(world.project, world.ana.pk))


def test_it_is_the_one_in_files_that_people_hold_already(world: World) -> None:
    # Exported files rely on the salt in the key of this HMAC.
    key = hashlib.sha256(f"annotation.exports.people.{world.project.public_id}{settings.SECRET_KEY}".encode())
    told = hmac.new(key.digest(), str(world.ana.pk).encode(), hashlib.sha256).hexdigest()
    assert pseudonym(world.project, world.ana.pk) == f"person-{told[:10]}"


def test_two_people_have_two(world: World) -> None:
    assert pseudonym(world.project, world.ana.pk) != pseudonym(world.project, world.ben.pk)


def test_another_project_calls_the_same_person_otherwise(world: World) -> None:
    assert pseudonym(world.project, world.ana.pk) != pseudonym(world.other_project, world.ana.pk)


def test_it_hangs_on_the_installations_secret(world: World) -> None:
    here = pseudonym(world.project, world.ana.pk)
    with override_settings(SECRET_KEY="another installation"):
        assert pseudonym(world.project, world.ana.pk) != here


def test_names_are_given_where_they_were_asked_for(world: World) -> None:
    assert People(world.project, named=True).name(world.ana.pk, "ana") == "ana"
    assert People(world.project).name(world.ana.pk, "ana") == pseudonym(world.project, world.ana.pk)

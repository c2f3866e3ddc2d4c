"""Nothing of a project is forgotten: each model and field is in the archive, or named as left out with its reason."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from annotation.exports.archive.kinds import KINDS, LEFT_OUT, CellKind, Kind
from annotation.models import Project

EACH_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
SECRET = ("secret", "password", "_hash", "api_key", "base_url")


def test_every_model_is_in_it_or_left_out_with_a_reason() -> None:
    there = [kind.model for kind in KINDS]
    assert len(set(there)) == len(there) == len({kind.name for kind in KINDS})
    assert not set(there) & set(LEFT_OUT)
    assert {*there, *LEFT_OUT} == set(apps.get_app_config("annotation").get_models())
    assert all(reason.strip() for reason in LEFT_OUT.values())


@EACH_KIND
def test_every_field_is_in_it_or_left_out_with_a_reason(kind: Kind) -> None:
    meta = kind.model._meta
    known = {
        *(cell.field.name for cell in kind.cells),
        *kind.left_out,
        meta.pk.name,
        *(field.name for field in meta.concrete_fields if field.related_model is Project),
    }
    assert known == {field.name for field in (*meta.concrete_fields, *meta.many_to_many)}
    assert all(reason.strip() for reason in kind.left_out.values())
    assert {*kind.holds_ids, *kind.holds_names} <= {cell.field.name for cell in kind.cells}


@EACH_KIND
def test_a_row_refers_to_what_comes_before_it_alone(kind: Kind) -> None:
    before = [each.model for each in KINDS[: KINDS.index(kind) + 1]]
    # The project's judge is set once judges are there.
    late = {"deciding_judge"} if kind.model is Project else set()
    for cell in kind.cells:
        if cell.kind in (CellKind.REFERENCE, CellKind.REFERENCES) and cell.name not in late:
            assert cell.target in before, cell.name
        if cell.kind in (CellKind.PERSON, CellKind.PEOPLE):
            assert cell.target is User


@EACH_KIND
def test_no_field_holds_a_secret_or_the_name_of_one(kind: Kind) -> None:
    assert [cell.name for cell in kind.cells if any(word in cell.name for word in SECRET)] == []

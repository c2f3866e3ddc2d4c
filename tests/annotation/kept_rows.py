"""Rows that are created once per process and inserted again for each test."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.apps import apps
from django.db import connection, transaction

from tests.emptying import FILLED_BY_MIGRATIONS, empty

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import Model

Made = TypeVar("Made")


@dataclass(frozen=True)
class KeptRows(Generic[Made]):
    made: bytes
    inserts: list[tuple[str, list[Any]]]

    @classmethod
    def of(cls, make: Callable[[], Made]) -> KeptRows[Made]:
        """Create the rows in an empty database, and delete them again.

        They are committed, so that rows of a test get other keys, on SQLite too.
        """
        empty()
        made = pickle.dumps(make())
        inserts = [found for model in apps.get_models(include_auto_created=True) if (found := _insert(model))]
        empty()
        return cls(made, inserts)

    def put_back(self) -> Made:
        # Foreign keys are checked at the end of the transaction, so the order of tables does not matter.
        with transaction.atomic(), connection.cursor() as cursor:
            for statement, values in self.inserts:
                cursor.execute(statement, values)
        return pickle.loads(self.made)  # type: ignore[no-any-return]


def _insert(model: type[Model]) -> tuple[str, list[Any]] | None:
    if model._meta.db_table in FILLED_BY_MIGRATIONS:
        return None
    fields = [field for field in model._meta.local_concrete_fields if not field.generated]
    rows = [
        [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
        for row in model._base_manager.order_by("pk")
    ]
    if not rows:
        return None
    places = ", ".join(f"({', '.join(['%s'] * len(fields))})" for _ in rows)
    columns = ", ".join(f'"{field.column}"' for field in fields)
    return f"INSERT INTO {model._meta.db_table} ({columns}) VALUES {places}", list(chain(*rows))

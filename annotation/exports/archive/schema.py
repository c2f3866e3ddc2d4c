"""The JSON Schema of each file of an archive, from the columns of its rows."""

from __future__ import annotations

from typing import Any

from django.db import models

from annotation.exports.archive.kinds import BY_MODEL, Cell, CellKind, Kind

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TYPES: dict[CellKind, dict[str, Any]] = {
    CellKind.ID: {"type": "string", "description": "Names the row."},
    CellKind.REFERENCE: {"type": "string"},
    CellKind.PERSON: {"type": "string", "description": "A name of the file of people."},
    CellKind.TEXT: {"type": "string"},
    CellKind.FLAG: {"type": "boolean"},
    CellKind.INTEGER: {"type": "integer"},
    CellKind.NUMBER: {"type": "number"},
    CellKind.MOMENT: {"type": "string", "format": "date-time"},
    CellKind.REFERENCES: {"type": "array", "items": {"type": "string"}},
    CellKind.PEOPLE: {"type": "array", "items": {"type": "string"}},
    CellKind.INTEGERS: {"type": "array", "items": {"type": "integer"}},
    CellKind.TEXTS: {"type": "array", "items": {"type": "string"}},
    # As text: files whose lines hold objects of many shapes open in few programs.
    CellKind.JSON: {"type": "string", "contentMediaType": "application/json"},
}


def schema_of(kind: Kind) -> dict[str, Any]:
    """What a line of the kind's file must be."""
    return _object(kind.what, {cell.name: _property(cell) for cell in kind.cells})


def people_schema() -> dict[str, Any]:
    return _object(
        "those who said something, by the name under which they stand in the other files",
        {"name": {"type": "string", "minLength": 1, "maxLength": 150}},
    )


def _object(title: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "$schema": DIALECT,
        "title": title,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _property(cell: Cell) -> dict[str, Any]:
    made = dict(_TYPES[cell.kind])
    if cell.kind in (CellKind.REFERENCE, CellKind.REFERENCES):
        made["description"] = f"A row of {BY_MODEL[cell.target].name}."
    elif help_text := str(getattr(cell.field, "help_text", "")):
        made["description"] = help_text
    if values := choices_of(cell):
        made["enum"] = [*values, *([None] if cell.may_be_null else [])]
    elif cell.kind is CellKind.TEXT and cell.field.max_length:
        made["maxLength"] = cell.field.max_length
    if isinstance(cell.field, models.PositiveIntegerField | models.PositiveSmallIntegerField):
        made["minimum"] = 0
    if cell.may_be_null:
        made["type"] = [made["type"], "null"]
    return made


def choices_of(cell: Cell) -> list[str]:
    """The values that a column is held to; none where it is free."""
    if not getattr(cell.field, "choices", None):
        return []
    values = [str(value) for value, _ in cell.field.choices]  # type: ignore[union-attr]
    return [*values, *([""] if cell.field.blank and not cell.field.null else [])]

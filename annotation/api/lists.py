"""Publishing a list of `core.lists` as an operation of the API with its schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.response import Response

from annotation.api.fields import NamedChoice
from annotation.api.schema import operation
from annotation.core.lists import LARGEST_PAGE, Column, Filter, Kind, List
from annotation.core.paging import ROWS_ON_A_PAGE

if TYPE_CHECKING:
    from rest_framework.request import Request

    from annotation.api.access import ApiView

FIELDS: dict[Kind, Callable[..., serializers.Field[Any, Any, Any, Any]]] = {
    Kind.TEXT: serializers.CharField,
    Kind.COUNT: serializers.IntegerField,
    Kind.NUMBER: serializers.FloatField,
    Kind.FLAG: serializers.BooleanField,
    Kind.MOMENT: serializers.DateTimeField,
    Kind.TEXTS: lambda **options: serializers.ListField(child=serializers.CharField(), **options),
}
TYPES: dict[Kind, type] = {Kind.TEXT: str, Kind.COUNT: int, Kind.FLAG: bool}


class Row(serializers.Serializer[Any]):
    """A row of a list, with its columns and the fields of a subclass.

    A column that is hidden from some people is omitted unless the `viewer` in the context may see it.
    """

    columns: tuple[Column, ...] = ()

    def to_representation(self, row: Any) -> dict[str, Any]:
        columns = {column.name: column for column in self.columns}
        viewer, shown = self.context.get("viewer"), {}
        for name, field in self.fields.items():
            column = columns.get(name)
            if column is None:
                value = field.get_attribute(row)
            elif column.is_for_all or (viewer is not None and column.seen_by(viewer)):
                value = column.of(row)
            else:
                continue
            # Send the value of a choice. The field itself would send its displayed name.
            is_plain = value is None or (column is not None and column.choices is not None)
            shown[name] = value if is_plain else field.to_representation(value)
        return shown


def shape_of(listed: List, name: str) -> type[Row]:
    """Build the serializer class of a list's rows. `name` is its name in the OpenAPI schema.

    Columns that are hidden from some people are optional.
    """
    fields = {column.name: _field(column) for column in listed.columns}
    return type(name, (Row,), {**fields, "columns": listed.columns, "__doc__": None})


def operation_of(listed: List, shape: type[Row], description: str) -> Callable[..., Response]:
    """Build the documented GET method of a list, for people who may see it."""

    def get(view: ApiView, request: Request, **_: str) -> Response:
        viewer = view.viewer(*listed.verbs)
        look = listed.look(viewer, request.query_params.dict(), is_strict=True)
        rows, after = look.page()
        return view.rows(shape(rows, many=True, context={"viewer": viewer}).data, after)

    get.__doc__ = description
    name = f"list_{listed.name.replace(' ', '_')}"
    return operation(name, parameters=parameters_of(listed), responses=shape(many=True))(get)


def _field(column: Column) -> serializers.Field[Any, Any, Any, Any]:
    # A column that is hidden from some people is missing from their rows, so it is optional.
    options: dict[str, Any] = {
        "help_text": column.help,
        "allow_null": column.nullable,
        "required": column.is_for_all,
    }
    if column.choices and column.kind == Kind.TEXTS:
        child = NamedChoice(column.choices.name, column.choices.words)
        return serializers.ListField(child=child, **options)
    if column.choices:
        return NamedChoice(column.choices.name, column.choices.words, **options)
    return FIELDS[column.kind](**options)


def parameters_of(listed: List) -> list[OpenApiParameter]:
    sorted_by = [column.name for column in listed.columns if column.order]
    orders = [sign + name for name in sorted_by for sign in ("", "-")]
    orders += [each.name for each in listed.orders]
    own = [_parameter(each) for each in listed.filters]
    if listed.is_searched:
        own.append(OpenApiParameter("q", str, description="Text to search for."))
    if orders:
        own.append(
            OpenApiParameter("sort", str, enum=orders, description="The order; `-` reverses a column.")
        )
    whole = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": ROWS_ON_A_PAGE}
    own.append(OpenApiParameter("limit", whole, description="Rows on a page."))
    own.append(OpenApiParameter("after", str, description="Id after whose row the page starts; see `next`."))
    return own


def _parameter(each: Filter) -> OpenApiParameter:
    words = [value for value, _ in each.choices.words] if each.choices and each.kind == Kind.TEXT else None
    default = each.default or None
    return OpenApiParameter(each.name, TYPES[each.kind], enum=words, default=default, description=each.help)

"""Filters of lists that ask for one row among many by typing, not by a list of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import PAGE_VAR, SEARCH_VAR
from django.contrib.admin.widgets import AutocompleteSelect

from annotation.models import Summary, Verdict

if TYPE_CHECKING:
    from django.contrib.admin.views.main import ChangeList
    from django.db.models import QuerySet
    from django.http import HttpRequest


class AutocompleteFilter(admin.SimpleListFilter):
    """Rows that lead, by `path`, to one row of another kind, which is found by typing a part of its name.

    `column` is a relation to that kind: the admin of its rows answers the search. It offers only what the person
    may see there, and nothing else can be filtered by.
    """

    template = "admin/annotation/autocomplete_filter.html"
    parameter_name: str
    column: ClassVar[tuple[type[Any], str]]
    path: ClassVar[str]

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        kind, name = self.column
        field = kind._meta.get_field(name)
        site = model_admin.admin_site
        offered = site.get_model_admin(field.related_model).get_queryset(request)
        widget = AutocompleteSelect(field, site, attrs={"aria-label": self.title})
        choice = forms.ModelChoiceField(offered, widget=widget, required=False)
        made = type("FilterForm", (forms.Form,), {self.parameter_name: choice})
        self.form: forms.Form = made({self.parameter_name: self.value()} if self.value() else None)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return []

    def has_output(self) -> bool:
        return True

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        chosen = self.form.cleaned_data[self.parameter_name] if self.form.is_valid() else None
        return queryset.filter(**{self.path: chosen}) if chosen else queryset.none()

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """What else the list is filtered by, which the form keeps, and the way back to all rows."""
        gone = (self.parameter_name, PAGE_VAR, SEARCH_VAR)
        kept = [
            (name, value)
            for name, values in changelist.params.items()
            if name not in gone
            for value in (values if isinstance(values, list) else [values])
        ]
        yield {
            "kept": [*kept, *([(SEARCH_VAR, changelist.query)] if changelist.query else [])],
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
        }


class OfDocumentSet(AutocompleteFilter):
    title = "document set"
    parameter_name = "set"
    column = (Summary, "document_set")


class OfSystem(AutocompleteFilter):
    title = "system"
    parameter_name = "system"
    column = (Summary, "system")


class OfJudge(AutocompleteFilter):
    title = "judge"
    parameter_name = "judge"
    column = (Verdict, "judge")

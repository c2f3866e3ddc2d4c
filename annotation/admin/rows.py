"""What the admin of every row shares: whose rows are listed, who may look, and lists that stay quick."""

from __future__ import annotations

from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import unquote
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.db.models import Manager, Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from annotation.admin.filters import AutocompleteFilter
from annotation.admin.history import done_to, said_of
from annotation.admin.places import address_of
from annotation.admin.reach import blind_projects, is_allowed, may_somewhere, person_of, projects_allowing
from annotation.core.permissions import BLIND_VERBS, Verb, visible_projects
from annotation.models import Project

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    ListPaginator = Paginator[Any]
else:
    ModelAdmin = admin.ModelAdmin
    ListPaginator = Paginator

ROWS_COUNTED_UP_TO = 2_000
"""Lists are not counted and not paged beyond this; a search or filter finds what lies further down."""
FOUND_AT_MOST = 1_000
"""Rows of one other kind that a search leads through."""
EXACT = "__exact"
NEWEST_ROWS_FIRST = ("-pk",)
"""The order of lists that may be long; their own would sort all rows by what stands beside them."""

READ_ANSWERS = (Verb.VIEW_SCORES,)
"""Not open to mere reviewers, who see a judge's verdict as their project reveals it and are not told who wrote a
summary, nor to the blind."""


class CappedPaginator(ListPaginator):
    """Pages without counting a million rows, and without sorting what stands beside them."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[:ROWS_COUNTED_UP_TO].count())

    def page(self, number: int | str) -> Page[Any]:
        """Keys first: the rows that a list shows beside its own are joined to one page's only."""
        rows: Any = self.object_list
        place = self.validate_number(number)
        first = (place - 1) * self.per_page
        keys = list(rows.values_list("pk", flat=True)[first : first + self.per_page])
        return Page(rows.filter(pk__in=keys), place, self)


class ProjectFilter(admin.SimpleListFilter):
    """Rows of one of the person's projects; the others are not even named."""

    title = "project"
    parameter_name = "project"

    def __init__(
        self, request: HttpRequest, params: dict[str, list[str]], model: type[Model], model_admin: Any
    ) -> None:
        self._paths: tuple[str, ...] = model_admin.project_paths
        super().__init__(request, params, model, model_admin)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(visible_projects(person_of(request)).values_list("slug", "name"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        return queryset.filter(reduce(or_, (Q(**{f"{path}__slug": self.value()}) for path in self._paths)))


class Rows(ModelAdmin):
    """Rows of projects, for superusers and for staff who hold one of `view_verbs` in the project.

    The roles decide, not Django's own permissions. Rows of other projects do not exist for them.
    Without `view_verbs` the rows are for superusers alone.
    """

    project_paths: ClassVar[tuple[str, ...]] = ()
    view_verbs: ClassVar[tuple[Verb, ...]] = ()
    computed: ClassVar[tuple[str, ...]] = ()
    """What stands below the columns of a row; columns that are left out are named in `exclude`."""
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    """A facet is a count over all rows."""
    list_per_page = 100

    @property
    def media(self) -> forms.Media:
        """With the scripts of the filters that are typed into, where the list has any."""
        is_typed = any(
            isinstance(each, type) and issubclass(each, AutocompleteFilter) for each in self.list_filter
        )
        if not is_typed:
            return super().media
        field = self.model._meta.pk
        return super().media + AutocompleteSelect(field, self.admin_site).media

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        """By project first, where the rows lie in one and the list names no other place for it."""
        is_added = self.project_paths and self.model is not Project and ProjectFilter not in self.list_filter
        return [*([ProjectFilter] if is_added else []), *self.list_filter]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.within_reach(request, super().get_queryset(request))

    def within_reach(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Those of the rows that lie in projects where the person may look."""
        if person_of(request).is_superuser or not self.project_paths:
            return rows
        keys = projects_allowing(request, self.view_verbs)
        return rows.filter(reduce(or_, (Q(**{f"{path}__in": keys}) for path in self.project_paths)))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Where all that is searched are whole names and ids, each is looked up where it stands, by its index.

        Django would join all of them to all rows, and look at every one.
        """
        fields = self.get_search_fields(request)
        if not search_term.strip() or not all(field.endswith(EXACT) for field in fields):
            return super().get_search_results(request, queryset, search_term)
        conditions = [self._leading_to(field.removesuffix(EXACT), search_term.strip()) for field in fields]
        return queryset.filter(reduce(or_, conditions)), False

    def _leading_to(self, path: str, word: str) -> Q:
        """The rows whose column, or that of a row they lead to, is exactly this."""
        first, _, rest = path.partition("__")
        if not rest:
            return Q(**{first: word})
        related: Any = self.opts.get_field(first).related_model
        found = related._base_manager.filter(**{rest: word}).values_list("pk", flat=True)
        return Q(**{f"{first}__in": list(found[:FOUND_AT_MOST])})

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found = super().get_object(request, object_id, from_field)
        if found is None:
            # Django would name the row's kind and key in a message.
            raise Http404
        return found

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Every column, also those that Django would leave out because no form may change them."""
        columns = [*self.opts.concrete_fields, *self.opts.many_to_many]
        left_out = self.get_exclude(request, obj) or ()
        shown = [column.name for column in columns if not column.primary_key and column.name not in left_out]
        return [*shown, *self.computed]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_somewhere(request, *self.view_verbs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        self.warn_if_blind(request)
        return super().changelist_view(request, extra_context)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *args: Any, **kwargs: Any
    ) -> HttpResponse | None:
        if not all(self._is_key(chosen) for chosen in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            told = "Nothing was done: the selection is not in this list. Reload the list and select again."
            self.message_user(request, told, messages.ERROR)
            return None
        return super().response_action(request, queryset, *args, **kwargs)

    def _is_key(self, chosen: str) -> bool:
        """Whether a row of this kind could have this key; Django would ask the database, which fails."""
        try:
            self.opts.pk.clean(chosen, None)
        except ValidationError:
            return False
        return True

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        self.warn_if_blind(request)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        page = super().render_change_form(request, context, *args, **kwargs)
        row = kwargs.get("obj")
        if isinstance(page, TemplateResponse) and page.context_data is not None and row is not None:
            page.context_data |= self.in_context(request, row)
        return page

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, unquote(object_id))
        told = self.in_context(request, row)
        self.warn_if_blind(request)
        return super().history_view(request, object_id, {**told, **(extra_context or {})})

    def in_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """What a page about the row tells beside its columns: where else it is seen, and its history."""
        project = self.project_of(row)
        if project is None or row.pk is None:
            return {}
        address = address_of(row, project, request)
        is_logged = is_allowed(request, project, Verb.VIEW_EVENTS)
        return {
            "has_absolute_url": address is not None,
            "absolute_url": address,
            "said": said_of(row),
            "done": done_to(row, project) if is_logged else [],
        }

    def project_of(self, row: Any) -> Project | None:
        """The project that a row lies in; None for rows of no project."""
        for path in self.project_paths:
            found: Any = row
            for step in path.split("__"):
                found = found if step == "pk" else getattr(found, step, None)
                if isinstance(found, Manager):
                    found = found.first()
            if isinstance(found, Project):
                return found
        return None

    def warn_if_blind(self, request: HttpRequest) -> None:
        """Superusers see everything all the same, so they are told where they should not look."""
        is_telling = not set(self.view_verbs) & BLIND_VERBS
        if request.method != "GET" or not person_of(request).is_superuser or not is_telling:
            return
        names = blind_projects(request)
        if names:
            messages.warning(
                request,
                f"You have open assessor work in {', '.join(names)}. This page can reveal systems, verdicts "
                "and other people's judgments. Close your document sets first.",
            )

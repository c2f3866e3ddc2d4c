"""What the admin of every row shares: whose rows are listed, who may look, and lists that stay quick."""

from __future__ import annotations

from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse

from annotation.admin.reach import blind_projects, person_of, projects_allowing
from annotation.permissions import BLIND_VERBS, Verb, visible_projects

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    ListPaginator = Paginator[Any]
else:
    ModelAdmin = admin.ModelAdmin
    ListPaginator = Paginator

COUNTED_UP_TO = 10_000
"""Lists are not counted and not paged beyond this; a search or filter finds what lies further down."""

READ_CONTENT = (Verb.VIEW_SCORES, Verb.REVIEW)
READ_ANSWERS = (Verb.VIEW_SCORES,)
"""Not open to mere reviewers, who see a judge's verdict as their project reveals it, nor to the blind."""


class CappedPaginator(ListPaginator):
    """Pages without counting a million rows."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[:COUNTED_UP_TO].count())


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
    paginator = CappedPaginator
    show_full_result_count = False
    list_per_page = 100

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.within_reach(request, super().get_queryset(request))

    def within_reach(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Those of the rows that lie in projects where the person may look."""
        if person_of(request).is_superuser or not self.project_paths:
            return rows
        keys = projects_allowing(request, self.view_verbs)
        return rows.filter(reduce(or_, (Q(**{f"{path}__in": keys}) for path in self.project_paths)))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found = super().get_object(request, object_id, from_field)
        if found is None:
            # Django would name the row's kind and key in a message.
            raise Http404
        return found

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Every column, also those that Django would leave out because no form may change them."""
        columns = [*self.opts.concrete_fields, *self.opts.many_to_many]
        return [column.name for column in columns if not column.primary_key]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return person_of(request).is_superuser or bool(projects_allowing(request, self.view_verbs))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        self._warn_if_blind(request)
        return super().changelist_view(request, extra_context)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        self._warn_if_blind(request)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def _warn_if_blind(self, request: HttpRequest) -> None:
        """Superusers see everything all the same, so they are told where they should not look."""
        is_telling = not set(self.view_verbs) & BLIND_VERBS
        if request.method != "GET" or not person_of(request).is_superuser or not is_telling:
            return
        names = blind_projects(request)
        if names:
            messages.warning(
                request,
                f"You have open assessor work in {', '.join(names)}. What you see here may tell systems, "
                "verdicts and other people's judgments: close your document sets first.",
            )

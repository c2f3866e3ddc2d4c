"""Rows that tell what the judge and others said of checks: whoever may review and looks at them knows it then."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from annotation.admin.reach import person_of
from annotation.admin.rows import Rows
from annotation.models import Check, Project
from annotation.reviewing.services.look_at_check import see_checks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpRequest, HttpResponse


class TellingRows(Rows):
    """`key_of_check` leads from a row to the key of the check that it tells of; None for a row that tells of none."""

    key_of_check: ClassVar[str] = "check_row_id"

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        self._keep_seen(request, listed.result_list)
        return listed

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        if row := kwargs.get("obj"):
            self._keep_seen(request, [row])
        return super().render_change_form(request, context, *args, **kwargs)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        page = super().history_view(request, object_id, extra_context)
        self._keep_seen(request, [self.get_object(request, object_id)])
        return page

    def _keep_seen(self, request: HttpRequest, rows: Iterable[Any]) -> None:
        keep_seen(request, map(attrgetter(self.key_of_check), rows))


def keep_seen(request: HttpRequest, keys: Iterable[int | None]) -> None:
    """Of the checks of these keys. As many queries for each project that they lie in, however many these are."""
    checks = Check.objects.filter(pk__in=[key for key in keys if key is not None])
    for project in Project.objects.filter(pk__in=checks.values("project")):
        see_checks(project=project, checks=checks, by=person_of(request))

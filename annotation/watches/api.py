from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.models import Check, Watch
from annotation.reviewing.services.look_at_check import see_checks
from annotation.watches.report import WATCHES, WatchReport, watch_report

WatchRow = shape_of(WATCHES, "WatchRow")


class Watches(ApiView):
    tag = "watches"

    get = operation_of(WATCHES, WatchRow, "List the watches of a project.")


class OneWatch(ApiView):
    tag = "watches"

    @operation("get_watch", responses=WatchReport)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show the report of a watch: its state, scores by period, alarms and anchors.

        Needs the verb "view scores". Periods before the last change of guidelines, criteria or judge are left out. If
        the caller's roles allow reviewing or assessing, the server records that the caller saw the answers to the
        checks in `anchors`.
        """
        project = self.enter(Verb.VIEW_SCORES)
        report = watch_report(only(Watch.objects.filter(project=project), public_id, "watch"))
        changed = [each.check for test in report.anchors for each in test.changed]
        see_checks(project=project, checks=Check.objects.filter(public_id__in=changed), by=self.person)
        return Response(plain(report))

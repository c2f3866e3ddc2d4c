from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management.named import project_named
from annotation.models import Watch
from annotation.watches.report import EXIT_CODES, watch_report


class Command(BaseCommand):
    requires_system_checks = ()
    help = (
        "Say what the watches of a project found. With --check, the exit code is 0 steady, 3 worse, 4 the judge "
        "changed, 5 cannot tell yet; of several watches the most serious one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's slug")
        parser.add_argument("--check", action="store_true", help="end with the exit code of the state")

    def handle(self, *_: Any, **options: Any) -> None:
        project = project_named(options["project"])
        rows = Watch.objects.filter(project=project, archived_at=None).order_by("name")
        reports = [watch_report(row) for row in rows]
        if not reports:
            raise CommandError(f"{project.name} has no watch. Make one on its page Watch.")
        for report in reports:
            self.stdout.write(f"{report.name}: {report.sentence} {report.advice}".rstrip())
        if options["check"]:
            # Of two codes above 0, the smaller one is the more serious one.
            sys.exit(min(filter(None, (EXIT_CODES[each.state] for each in reports)), default=0))

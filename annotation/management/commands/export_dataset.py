"""Write a project's data to a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.refusals import Refusal
from annotation.core.tables.formats import FORMAT_NAMES
from annotation.exports.levels import LEVEL_NAMES
from annotation.exports.services import write_export
from annotation.exports.write import manifest_path
from annotation.models import Project
from annotation.operator_commands import as_typed

INTERRUPTED = 130
"""What a shell gives a program that SIGINT ended."""


class Command(BaseCommand):
    # They would load every page and statistic of the site.
    requires_system_checks = ()
    help = "Write one level of a project's data, or a bundle of all, to a file with a manifest beside it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's slug")
        parser.add_argument("--level", required=True, choices=LEVEL_NAMES, help="what a row is")
        parser.add_argument(
            "--format", default="", choices=FORMAT_NAMES, help="needed but for see, nist2002 and pyramid"
        )
        parser.add_argument("-o", "--output", required=True, type=Path, metavar="PATH", help="the file")
        parser.add_argument("--names", action="store_true", help="user names instead of stable pseudonyms")

    def handle(self, *_: Any, **options: Any) -> None:
        path: Path = options["output"]
        try:
            manifest = write_export(
                project=project_named(options["project"]),
                level=options["level"],
                format=options["format"],
                path=path,
                by=None,
                named_people=options["names"],
            )
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        except KeyboardInterrupt as cancelled:
            raise CommandError("Cancelled. Nothing was written.", returncode=INTERRUPTED) from cancelled
        self.stdout.write(
            f"{manifest['rows']} rows, {manifest['bytes']} bytes in {path}\n"
            f"sha256 {manifest['sha256']}, and more in {manifest_path(path).name}"
        )
        for left in manifest.get("left_out", ()):
            self.stdout.write(f"Not in it: {left['count']:,} × {left['what']}")
        for renamed in manifest.get("renamed", ()):
            self.stdout.write(f"Renamed: {renamed['kind']} {renamed['ours']!r} is {renamed['theirs']}")


def project_named(slug: str) -> Project:
    """The project of that slug. Raises CommandError with the slugs that there are."""
    project = Project.objects.select_related("deciding_judge").filter(slug=slug).first()
    if project is not None:
        return project
    slugs = list(Project.objects.order_by("slug").values_list("slug", flat=True)[:20])
    import_one = as_typed("import_dataset", slug, "FILE", "--create")
    known = f"There are: {', '.join(slugs)}." if slugs else f"There is none yet. Import one: {import_one}"
    raise CommandError(f"There is no project {slug!r}. {known}")

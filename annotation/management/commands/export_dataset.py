"""Export a project's data to a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.refusals import Refusal
from annotation.core.tables.formats import FORMAT_NAMES
from annotation.exports.levels import LEVEL_NAMES
from annotation.exports.pairs import MARGIN, SCORE
from annotation.exports.services import manifest_path, write_export
from annotation.management.named import project_named

INTERRUPTED = 130
"""The exit code of a program that SIGINT ended, as in shells."""


class Command(BaseCommand):
    # Django's checks would load every page and all statistics, so skip them.
    requires_system_checks = ()
    help = "Write one level of a project's data, or a bundle of all, to a file with a manifest beside it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's slug")
        parser.add_argument("--level", required=True, choices=LEVEL_NAMES, help="what a row is")
        parser.add_argument("--format", required=True, choices=FORMAT_NAMES)
        parser.add_argument("-o", "--output", required=True, type=Path, metavar="PATH", help="the file")
        parser.add_argument("--names", action="store_true", help="user names instead of stable pseudonyms")
        parser.add_argument(
            "--score", default=SCORE, help="of pairs: a score or own criterion, higher for the better one"
        )
        parser.add_argument(
            "--margin", type=float, default=MARGIN, help="of pairs: the scores differ by more"
        )
        parser.add_argument(
            "--key", default="", help="of systems: a metadata key, or group, by which averages are added"
        )
        parser.add_argument(
            "--plain",
            action="store_true",
            help="in CSV, also keep texts that a spreadsheet would run as formulas",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        path: Path = options["output"]
        try:
            given = {name: options[name] for name in ("level", "format", "plain", "score", "margin", "key")}
            project = project_named(options["project"])
            manifest = write_export(
                project=project, path=path, by=None, named_people=options["names"], **given
            )
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        except KeyboardInterrupt as cancelled:
            raise CommandError("Cancelled. Nothing was written.", returncode=INTERRUPTED) from cancelled
        self.stdout.write(
            f"{manifest['rows']} rows, {manifest['bytes']} bytes in {path}\n"
            f"sha256 {manifest['sha256']}, and more in {manifest_path(path).name}"
        )

"""Import files of summaries, or files of DUC and TAC, into a project."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.refusals import Invalid, Refusal
from annotation.imports.containers import NamedFile
from annotation.imports.layout import ENCODINGS, layout_of
from annotation.imports.problems import COMMAND_WORDS, ImportRefused, Problem, way_out
from annotation.imports.read import Progress
from annotation.imports.services import ImportReport, import_files, import_new_project
from annotation.models import Project
from annotation.operator_commands import as_typed

SECONDS_BETWEEN_LINES = 2.0


class Command(BaseCommand):
    # Django's checks would load every page and all statistics, so skip them.
    requires_system_checks = ()
    help = (
        "Import a CSV, JSON, JSONL or Parquet file of summaries, or any number of SEE HTML files and "
        "DUCView pyramids: everything, or with a bad row in it nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument(
            "file",
            nargs="+",
            type=Path,
            help="one file with a row for each summary or nested JSONL; or SEE .html, .pyr, .pan",
        )
        parser.add_argument("--create", action="store_true", help="create the project if it does not exist")
        parser.add_argument(
            "--map",
            nargs="+",
            action="extend",
            default=[],
            metavar="field=column",
            help="read a field from a column of another name; several columns of summary are one system each; "
            "rating is a column of people's ratings",
        )
        parser.add_argument("--system", default="", help="the system, if no column names it")
        parser.add_argument(
            "--target-length",
            default="none",
            metavar="none|N",
            help="for rows without one: none, or a number",
        )
        parser.add_argument(
            "--encoding",
            default="",
            choices=ENCODINGS,
            help="of a text file; UTF-8 or Windows-1252 by default",
        )
        parser.add_argument("--dry-run", action="store_true", help="check and count only; write nothing")
        parser.add_argument("--skip-invalid", action="store_true", help="skip and list invalid rows")

    def handle(self, *_: Any, project: str, file: list[Path], create: bool, **options: Any) -> None:
        try:
            layout = layout_of(
                options["map"],
                system=options["system"],
                target=options["target_length"],
                encoding=options["encoding"],
            )
        except Invalid as refusal:
            option = "map" if refusal.field == "mapping" else (refusal.field or "").replace("_", "-")
            raise CommandError(f"--{option}: {refusal.message}") from refusal
        choices: dict[str, Any] = {
            "files": [NamedFile(_name(path, file), path) for path in file],
            "by": None,
            "layout": layout,
            "dry_run": options["dry_run"],
            "skip_invalid": options["skip_invalid"],
            "progress": _ProgressLines(self),
        }
        for path in file:
            # Open the file first: an unreadable file raises an OSError with its path before anything is imported.
            path.open("rb").close()
        there = Project.objects.select_related("deciding_judge").filter(slug=project).first()
        if there is None and not create:
            raise CommandError(f"There is no project {project!r}. Add --create to make it.")
        try:
            if there is None:
                report = import_new_project(slug=project, **choices)
            else:
                report = import_files(project=there, **choices)
        except ImportRefused as refusal:
            raise CommandError("\n".join(_refusal_lines(refusal))) from refusal
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        for line in _report_lines(report, project):
            self.stdout.write(line)
        if there is None and not report.dry_run:
            self._say_how_to_add_members(project)

    def _say_how_to_add_members(self, slug: str) -> None:
        how = as_typed("add_member", slug, "NAME", "owner")
        self.stdout.write(
            f"The project has no members yet. Administrators see it in the browser; to add others: {how}"
        )


class _ProgressLines(Progress):
    def __init__(self, command: Command) -> None:
        super().__init__()
        self._command = command
        self._next = time.monotonic() + SECONDS_BETWEEN_LINES

    def step(self) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + SECONDS_BETWEEN_LINES
        sets = f", {self.sets_written:,} of {self.sets:,} sets written" if self.sets else ""
        self._command.stderr.write(f"{self.rows_read:,} rows read{sets}")


def _name(path: Path, paths: list[Path]) -> str:
    has_role = len(paths) > 1 or path.suffix.lower() in {".html", ".htm"}
    return "/".join((*path.parent.parts[-1:], path.name)) if has_role else path.name


def _refusal_lines(refusal: ImportRefused) -> list[str]:
    lines = [refusal.message]
    # Print no list if the message itself is the only problem.
    if [problem.describe() for problem in refusal.problems] != [refusal.message]:
        lines += _problem_lines(refusal.problems, refusal.problem_count, refusal.word)
    return lines + way_out(refusal.problems, COMMAND_WORDS)


def _problem_lines(problems: Iterable[Problem], count: int, word: str) -> list[str]:
    lines = [f"  {problem.describe(word)}" for problem in problems]
    if count > len(lines):
        lines.append(f"  and {count - len(lines):,} more")
    return lines


def _report_lines(report: ImportReport, project: str) -> list[str]:
    lines = [f"{report.file}: {report.format}, into {project}"]
    if report.dry_run:
        lines.append("Dry run: nothing was written. Changes on import:")
    elif not report.has_changes:
        lines.append("Nothing changed: everything was already imported.")
    lines += _count_lines(report)
    if report.claims_side:
        whose = {
            "reference": "the references and are used for coverage",
            "summary": "the summaries and are used for alignment",
        }
        lines.append(f"Claims belong to {whose[report.claims_side]}.")
    lines += [f"Warning: {warning}" for warning in report.warnings]
    if report.rows_left_out:
        word = "row" if report.rows_left_out == 1 else "rows"
        lines.append(f"Left out: {report.rows_left_out:,} {word}, for these reasons:")
        lines += _problem_lines(report.problems, report.problem_count, report.word)
        lines += way_out(report.problems, COMMAND_WORDS)
    return lines


def _count_lines(report: ImportReport) -> list[str]:
    kinds = {kind.replace("_", " "): count for kind, count in report.counts.items()}
    width = max([16, *map(len, kinds)])
    lines = [f"  {'':<{width}}{'new':>9}{'changed':>9}{'unchanged':>11}"]
    lines += [
        f"  {kind:<{width}}{count.created:>9,}{count.changed:>9,}{count.unchanged:>11,}"
        for kind, count in kinds.items()
    ]
    return lines

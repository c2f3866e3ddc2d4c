"""Checking that derived data match the answers."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.current_checks import not_as_their_claims
from annotation.core.paging import batches
from annotation.exports.write import snapshot
from annotation.management.named import project_named
from annotation.models import SCORES, Check, Dispute, Score
from annotation.operator_commands import as_typed
from annotation.scoring.open_disputes import DisputeTarget, dues, stored_disputes
from annotation.scoring.records import RECORDS_AT_ONCE, SummaryRecord, score_rules, summary_records
from annotation.scoring.rescore import columns_of, rescore, score_row
from evaluation.blend import score

if TYPE_CHECKING:
    from annotation.models import Project
    from evaluation.blend import ScoreRules, SummaryScore

COMPARED_COLUMNS = ("summary_words", *SCORES, "passed", "claims", "claims_unscored", "flags", "signature")
# The largest difference that counts as equal: sums in another order or on another machine may differ in the last
# digits.
TOLERANCE = 1e-9
LISTED = 100


class Command(BaseCommand):
    requires_system_checks = ()
    help = (
        "Recompute the derived columns of every check, every score and every dispute from verdicts, judgments "
        "and adjudications, and list every difference from what is stored. Exits with 1 if anything differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's slug")
        parser.add_argument(
            "--rescore", action="store_true", help="compute all scores again before the check"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        project = project_named(options["project"])
        if options["rescore"]:
            rescore(project=project)
        _require_signature(project)
        count = 0
        # People and runs continue to answer meanwhile, so read from one snapshot.
        with snapshot():
            for count, line in enumerate(differences(project), start=1):
                if count <= LISTED:
                    self.stdout.write(line)
        if count > LISTED:
            self.stdout.write(f"... and {count - LISTED} more")
        if count:
            noun = "difference" if count == 1 else "differences"
            raise CommandError(f"{count} {noun}: scores of {project.slug} do not match its answers.")
        self.stdout.write(f"The scores of {project.slug} match its answers.")


def _require_signature(project: Project) -> None:
    others = Score.objects.filter(project=project).exclude(signature=score_rules(project).signature).count()
    if others:
        raise CommandError(
            f"{others} scores of {project.slug} were computed by another version of Coverdict, so they cannot be "
            f"checked. Compute them again: {as_typed('verify_scores', project.slug, '--rescore')}"
        )


def differences(project: Project) -> Iterator[str]:
    """Yield a line for each difference between stored and recomputed values. No value is changed."""
    for check in not_as_their_claims(Check.objects.filter(project=project)):
        difference = (
            "is in force, though its claim is not"
            if check.is_current
            else "is not in force, though its claim is"
        )
        yield f"check {check.public_id}: {difference}"
    rules = score_rules(project)
    for batch in batches(summary_records(project), RECORDS_AT_ONCE):
        stored = {
            row.summary_id: row
            for row in Score.objects.filter(summary__in=[record.summary.pk for record in batch])
        }
        waiting = stored_disputes([record.summary.pk for record in batch])
        for record in batch:
            result = score(record.value, rules)
            yield from _of_checks(record, result, rules)
            yield from _of_score(project, record, stored.get(record.summary.pk), result)
            yield from _of_disputes(project, record, waiting)
        for row in waiting.values():
            yield f"dispute {row.public_id}: is about an item that is no longer in force"
    for stray in Score.objects.filter(project=project, summary__is_summary=False).select_related("summary"):
        yield f"{stray.summary}: has a score, but is only a reference"


def _of_checks(record: SummaryRecord, result: SummaryScore, rules: ScoreRules) -> Iterator[str]:
    for row, fresh in columns_of(record, result, rules):
        stored = {name: getattr(row.check, name) for name in fresh}
        for line in _unlike(stored, fresh):
            yield f"{_name(record)}, claim {row.claim_id}: {line}"


def _of_score(
    project: Project, record: SummaryRecord, stored: Score | None, result: SummaryScore
) -> Iterator[str]:
    if stored is None:
        yield f"{_name(record)}: has no score"
        return
    fresh = score_row(project=project, record=record, result=result)
    for line in _unlike(
        *({name: getattr(row, name) for name in COMPARED_COLUMNS} for row in (stored, fresh))
    ):
        yield f"{_name(record)}: {line}"


def _of_disputes(
    project: Project, record: SummaryRecord, stored: dict[DisputeTarget, Dispute]
) -> Iterator[str]:
    """Yield the differences of a summary's disputes, and remove the compared rows from `stored`."""
    for due in dues(project, record):
        row = stored.pop(due.target, None)
        if row is None:
            if due.is_due:
                yield f"{_name(record)}: {due.answers} answers {due.spread:g} apart are missing from the disputes"
            continue
        fresh = due.columns()
        for line in _unlike({name: getattr(row, name) for name in fresh}, fresh):
            yield f"{_name(record)}, dispute {row.public_id}: {line}"


def _unlike(stored: Mapping[str, object], fresh: Mapping[str, object]) -> Iterator[str]:
    for name, value in fresh.items():
        if not _is_same(stored[name], value):
            yield f"{name} is {stored[name]!r}, should be {value!r}"


def _is_same(stored: object, fresh: object) -> bool:
    if isinstance(stored, float) and isinstance(fresh, float):
        return math.isclose(stored, fresh, rel_tol=0, abs_tol=TOLERANCE)
    return stored == fresh


def _name(record: SummaryRecord) -> str:
    summary = record.summary
    target = f", target {summary.target_words}" if summary.target_words else ""
    return f"{summary.document_set.external_id}, {summary.system}{target}"

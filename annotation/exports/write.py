"""Write an export: the rows of a level in a format, or all tables in a zip, with a manifest."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from django.db import connection, transaction
from django.db.models import Count, Sum
from django.utils import timezone

import annotation
from annotation.analysis.leaderboard.averages import CONFIDENCE, DRAWS, SEED
from annotation.core.paging import batches
from annotation.core.tables.formats import writer
from annotation.exports.levels import BUNDLE, LEVELS, PAIRS, TABLES
from annotation.judging.queries.runs import usage_of
from annotation.models import DocumentSet, JudgeCall, Run, Score, Verdict
from annotation.scoring.records import score_rules

if TYPE_CHECKING:
    from annotation.core.tables.columns import TableRow
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

ROWS_A_STEP = 100
OPTIONS = "options"
"""The key of a level's options in its manifest."""

Manifest = dict[str, Any]
"""Values of JSON: texts, numbers, lists and objects."""

SETTINGS = ("target_length", "own_weights", "percent_scale", "reveal")
"""Settings of a project that the manifest lists beside the rules of its scores."""
RESAMPLED = "the group of a document set, else the document set"

Step = Callable[[int], None]
"""Receives the number of rows written since the last call; an exception from it ends the export."""


def write_file(
    *,
    project: Project,
    people: People,
    level: str,
    format_name: str,
    path: Path,
    plain: bool = False,
    options: Mapping[str, Any] = MappingProxyType({}),
    step: Step = lambda rows: None,
) -> Manifest:
    """Write the file and return its manifest.

    `plain` leaves texts of a CSV unchanged, even if a spreadsheet would run them as formulas. `options` are those of
    the level. `step` is called while rows are written.
    """
    with snapshot():
        made = about(project=project, people=people, level=level, format_name=format_name, plain=plain)
        if options:
            made[OPTIONS] = dict(options)
        if level == PAIRS:
            bare = DocumentSet.objects.filter(project=project, documents=None)
            made["sets_without_document"] = bare.count()

        def write_level(name: str, stream: Any) -> Manifest:
            chosen, write = LEVELS[name], writer(format_name, plain=plain)
            rows = write(_stepped(chosen.rows(project, people, **options), step), chosen.columns, stream)
            columns = [{"name": column.name, "type": column.kind.value} for column in chosen.columns]
            return {"columns": columns, "rows": rows}

        with path.open("w+b") as stream:
            if level == BUNDLE:
                made["members"] = _write_bundle(made, write_level, stream)
                made["rows"] = sum(member["rows"] for member in made["members"])
            else:
                made |= write_level(level, stream)
            stream.seek(0)
            return made | _fingerprint(path.name, stream)


def as_json(manifest: Manifest) -> str:
    return json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _stepped(rows: Iterable[TableRow], step: Step) -> Iterator[TableRow]:
    for some in batches(rows, ROWS_A_STEP):
        yield from some
        step(len(some))


def _write_bundle(
    made: Manifest, write_level: Callable[[str, Any], Manifest], stream: BinaryIO
) -> list[Manifest]:
    members: list[Manifest] = []
    with zipfile.ZipFile(stream, "w") as bundle:
        for level in TABLES:
            member = _timeless(f"{level}.{made['format']}")
            with bundle.open(member, "w", force_zip64=True) as packed:
                written = write_level(level, packed)
            with bundle.open(member) as content:
                members.append({"level": level, **written, **_fingerprint(member.filename, content)})
        told = {name: value for name, value in made.items() if name != "created_at"}
        bundle.writestr(_timeless("manifest.json"), as_json({**told, "members": members}))
    return members


def _timeless(name: str) -> zipfile.ZipInfo:
    """Return a compressed member with the same time stamp in every export."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _fingerprint(name: str, stream: Any) -> Manifest:
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"file": name, "bytes": stream.tell(), "sha256": digest}


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one snapshot of the database within the with block.

    If the caller has a transaction, its isolation level applies.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")  # without a lock for writing
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
    else:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield


def about(*, project: Project, people: People, level: str, format_name: str, plain: bool = False) -> Manifest:
    """Build the part of the manifest that describes the whole export.

    `signature` identifies the current rules, and `score_signatures` identify the rules of the stored scores. If
    `guarded` is True, texts that a spreadsheet would run as a formula have an apostrophe before them.
    """
    rules = score_rules(project)
    signatures = Score.objects.filter(project=project).order_by().values_list("signature", flat=True)
    made: Manifest = {
        "product": "coverdict",
        "product_version": annotation.__version__,
        "created_at": timezone.now().isoformat(),
        "project": project.slug,
        "level": level,
        "format": format_name,
        "guarded": format_name == "csv" and not plain,
        "people": "names" if people.named else "pseudonyms",
        "signature": rules.signature,
        "score_signatures": sorted(signatures.distinct()),
        "rules": asdict(rules) | {name: getattr(project, name) for name in SETTINGS},
        "deciding_judge": _deciding_judge(project),
        "judging": _judging(project),
    }
    if level in (BUNDLE, "systems"):
        made["intervals"] = {"confidence": CONFIDENCE, "draws": DRAWS, "seed": SEED, "resampled": RESAMPLED}
    return made


def _judging(project: Project) -> list[Manifest]:
    runs = Run.objects.filter(project=project).order_by("judge__name").values_list("judge__name")
    made: list[Manifest] = []
    for judge, count, cost in runs.annotate(runs=Count("pk"), paid=Sum("cost")):
        usage = usage_of(JudgeCall.objects.filter(run__project=project, run__judge__name=judge))
        tokens = {name: getattr(usage, name) for name in ("calls", "prompt_tokens", "completion_tokens")}
        made.append({"judge": judge, "runs": count, **tokens, "cost": cost})
    return made


def _deciding_judge(project: Project) -> Manifest | None:
    judge = project.deciding_judge
    if judge is None:
        return None
    verdicts = Verdict.objects.filter(judge=judge, check_row__project=project, withdrawn_at=None)
    signatures = sorted(verdicts.order_by().values_list("origin_name", flat=True).distinct())
    return {"name": judge.name, "kind": judge.kind, "model": judge.model or None, "signatures": signatures}

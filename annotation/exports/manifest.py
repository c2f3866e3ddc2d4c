"""What a file was made of: enough to tell two exports apart and to make one again."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Sum
from django.utils import timezone

import annotation
from annotation.analysis.leaderboard.averages import CONFIDENCE, DRAWS, SEED
from annotation.analysis.leaderboard.leaderboard import CAPTIONS
from annotation.core.tables.columns import ColumnKind
from annotation.exports.levels import BUNDLE, LEVELS, TABLES
from annotation.judging.queries.runs import usage_of
from annotation.models import JudgeCall, Run, Score, Verdict
from annotation.scoring.records import score_rules

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

Manifest = dict[str, Any]
"""JSON: texts, numbers, lists and objects alone."""

RESAMPLED = "the group of a document set, else the document set"
CSV_NOTE = (
    "Cells of the columns named in guarded_columns that a spreadsheet would run as a formula have an apostrophe before "
    "their text. An export with --plain has none."
)


def about(*, project: Project, people: People, level: str, format_name: str, plain: bool = False) -> Manifest:
    """What is true of the whole export, whichever files it has.

    `signature` names the rules that hold now, `score_signatures` those that made the stored scores:
    they differ only while a project is being rescored.
    """
    rules = score_rules(project)
    made: Manifest = {
        "product": "coverdict",
        "product_version": annotation.__version__,
        "python_version": platform.python_version(),
        "created_at": timezone.now().isoformat(),
        "project": project.slug,
        "project_name": project.name,
        "level": level,
        "format": format_name,
        "people": "names" if people.named else "pseudonyms",
        "signature": rules.signature,
        "score_signatures": _score_signatures(project),
        "rules": {
            **asdict(rules),
            "target_length": project.target_length,
            "percent_scale": project.percent_scale,
            "reveal": project.reveal,
        },
        "deciding_judge": _deciding_judge(project),
        "judging": _judging(project),
    }
    if level in (BUNDLE, "systems"):
        settings = {"confidence": CONFIDENCE, "draws": DRAWS, "seed": SEED}
        made["intervals"] = {**settings, "resampled": RESAMPLED, "captions": dict(CAPTIONS)}
    if format_name == "csv" and not plain:
        texts = (ColumnKind.TEXT, ColumnKind.TEXTS)
        levels = TABLES.values() if level == BUNDLE else [LEVELS[level]]
        guarded = [column.name for each in levels for column in each.columns if column.kind in texts]
        made |= {"note": CSV_NOTE, "guarded_columns": sorted(set(guarded))}
    return made


def about_columns(level: str) -> list[dict[str, str]]:
    return [{"name": column.name, "type": column.kind.value} for column in LEVELS[level].columns]


def _score_signatures(project: Project) -> list[str]:
    scores = Score.objects.filter(project=project).order_by()
    return sorted(scores.values_list("signature", flat=True).distinct())


def _judging(project: Project) -> list[Manifest]:
    """What each judge's runs over the project have paid for."""
    runs = Run.objects.filter(project=project).order_by("judge__name").values_list("judge__name")
    made: list[Manifest] = []
    for judge, count, cost in runs.annotate(runs=Count("pk"), paid=Sum("cost")):
        usage = usage_of(JudgeCall.objects.filter(run__project=project, run__judge__name=judge))
        tokens = {name: getattr(usage, name) for name in ("calls", "prompt_tokens", "completion_tokens")}
        made.append({"judge": judge, "runs": count, **tokens, "cost": cost})
    return made


def _deciding_judge(project: Project) -> Manifest | None:
    """The judge and the signatures found on its verdicts, which name its model and prompt version."""
    judge = project.deciding_judge
    if judge is None:
        return None
    verdicts = Verdict.objects.filter(judge=judge, check_row__project=project, withdrawn_at=None)
    signatures = sorted(verdicts.order_by().values_list("origin_name", flat=True).distinct())
    return {"name": judge.name, "kind": judge.kind, "model": judge.model or None, "signatures": signatures}

"""The mean scores of finished runs, by the answers that their judges had given by then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Max, Q

from annotation.models import SCORE_SIDES, Job, Label, Run, Verdict

if TYPE_CHECKING:
    from annotation.models import Project

RUNS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class RunScores:
    """The mean coverage and alignment of a finished run, in [0, 1], by its judge alone.

    A mean is over the document sets that the run judged. The value of a set is the share of yes among the judge's
    answers to all checks of its summaries, of all systems and target lengths, without people's answers and weights.
    Only answers that the judge had given when the run ended count, under its latest signature, and only to checks that
    are still current. A mean is None without such answers.
    """

    id: str
    judge: str
    finished_at: datetime
    document_sets: int
    coverage: float | None
    alignment: float | None


class _Answers(NamedTuple):
    """Answers that a judge gave to the checks of one set and side in one run; `run` is None without a run."""

    run: int | None
    signature: str
    yes: int
    given: int
    last: datetime


def run_scores(project: Project) -> list[RunScores]:
    """Load the scores of the latest RUNS_SHOWN finished runs, without trials, newest first. Three queries."""
    runs = list(
        Run.objects.filter(project=project, state=Run.State.FINISHED, is_trial=False)
        .select_related("judge")
        .order_by("-finished_at", "-pk")[:RUNS_SHOWN]
    )
    sets: dict[int, list[int]] = defaultdict(list)
    done = Job.objects.filter(run__in=runs, state=Job.State.DONE)
    for run_key, document_set in done.values_list("run_id", "document_set_id"):
        sets[run_key].append(document_set)
    answers = _answers(project, {run.judge_id for run in runs})
    return [
        RunScores(
            id=run.public_id,
            judge=run.judge.name,
            finished_at=ended,
            document_sets=len(sets[run.pk]),
            **{
                score: _mean(run.pk, ended, [answers[run.judge_id, each, side] for each in sets[run.pk]])
                for score, side in SCORE_SIDES.items()
            },
        )
        for run in runs
        if (ended := run.finished_at)
    ]


def _answers(project: Project, judges: Iterable[int]) -> defaultdict[tuple[int, int, str], list[_Answers]]:
    """Count the judges' usable answers by judge, document set and side, oldest first."""
    rows = Verdict.objects.filter(
        role=Verdict.Role.JUDGE,
        judge__in=judges,
        label__isnull=False,
        withdrawn_at=None,
        check_row__project=project,
        check_row__is_current=True,
        check_row__side__in=SCORE_SIDES.values(),
    )
    key = ("judge_id", "check_row__document_set_id", "check_row__side")
    found: defaultdict[tuple[int, int, str], list[_Answers]] = defaultdict(list)
    counted = rows.values_list(*key, "run_id", "origin_name").annotate(
        yes=Count("pk", filter=Q(label=Label.YES)), given=Count("pk"), last=Max("created_at")
    )
    for judge, document_set, side, *counts in counted.order_by("last"):
        found[judge, document_set, side].append(_Answers(*counts))
    return found


def _mean(run: int, ended: datetime, of_sets: Iterable[Iterable[_Answers]]) -> float | None:
    shares = []
    for of_set in of_sets:
        known = [each for each in of_set if each.run == run or each.last <= ended]
        latest = [each for each in known if each.signature == known[-1].signature]
        if latest:
            shares.append(sum(each.yes for each in latest) / sum(each.given for each in latest))
    return fmean(shares) if shares else None

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotation.analysis.judge.judge_answers import judges_of_runs
from annotation.analysis.judge.judge_quality import JudgeFigures, Version, judge_key, with_slices
from annotation.analysis.judge.teach_judge import lesson_of, teach_judge
from annotation.analysis.leaderboard import leaderboards
from annotation.analysis.make_analysis import current_statistics
from annotation.analysis.slices.split import chosen_split, splits
from annotation.analysis.web import asked_score, figures_page
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound
from annotation.judging.queries.run_estimate import run_estimate
from annotation.judging.queries.run_metrics import parts_of
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.start_run import number_in
from annotation.models import SCORE_SIDES, Analysis, Judge, Project, Run
from annotation.web.confirm import ask_to_confirm, is_confirmed
from annotation.web.htmx import Request
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen
from evaluation.statistics import JudgeReport

FEWEST_OF_PART = 20
"""The page shows a system or a part of the claims only with at least this many checks."""
SYSTEMS_SHOWN = 7
"""The number of systems on the page, least accurate first; the other systems are folded."""


@screen("GET")
def judge(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="judge")
    key = judge_key(room.project, asked_score(request))
    stored = current_statistics(project=room.project, kind=Analysis.Kind.JUDGE, key=key)
    offered = splits(room.project)
    split = chosen_split(offered, request.GET.get("key", ""))
    found = stored.facts(JudgeFigures)
    versions = found.versions if found else ()
    named = request.GET.get("judge", "")
    # A new judge is missing until the figures are recomputed, and a judge may have no answers for another score.
    may_lack = not stored.is_current or request.GET.get("score")
    if may_lack and all(each.id != named for each in versions):
        named = ""
    version = chosen_version(versions, named)
    sliced = None
    if found:
        shown = replace(found, versions=(version,) if version else ())
        sliced = with_slices(room.project, shown, split)
        version = next(iter(sliced.versions), None)
    kinds, systems = (_large(parts) for parts in ((version.kinds, version.systems) if version else ({}, {})))
    context = {
        "version": version,
        # Hide the buttons for another score, because they use the answers for the default score.
        "may_act": not key and Verb.CHANGE_PROJECT in room.verbs,
        "of_score": f"score={key}&" if key else "",
        "keys": list(offered),
        "split": split,
        "slices": list(version.slices.items()) if version else (),
        "ratings": sliced.ratings if sliced else (),
        "several_judges": len(judges_of_runs(room.project)) > 1,
        "kinds": kinds,
        "furthest": max(filter(_shift, systems), key=_shift, default=None),
        "unchecked": [score for score in SCORE_SIDES if found and score not in found.scores],
        "systems": systems[:SYSTEMS_SHOWN],
        "other_systems": systems[SYSTEMS_SHOWN:],
        "unanswered": found.basis.frame - found.checks if found else 0,
        "estimate": _why_no_estimate(room.project, found.score) if found else "",
        "latest_run": _latest_run(room.project, version) if version and version.examples else None,
    }
    return figures_page(request, room, "judge", stored, found, context)


def _large(parts: Mapping[str, JudgeReport]) -> list[tuple[str, JudgeReport]]:
    return [(name, report) for name, report in parts.items() if report.checks >= FEWEST_OF_PART]


def _shift(part: tuple[str, JudgeReport]) -> int:
    return round(100 * abs(part[1].bias.value or 0.0))


def _why_no_estimate(project: Project, score: str) -> str:
    board, _ = leaderboards.board(project, wait=False)
    table = board.foremost if board else None
    estimate = table.estimates[score] if table else None
    return estimate.sentence if estimate and estimate.sample_id and not estimate.averages else ""


@screen("POST")
def teach(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.CHANGE_PROJECT, here="judge")
    row = judge_by_name(request.POST.get("judge", ""), room.project)
    max_cost = number_in(request.POST, "max_cost")
    if not is_confirmed(request):
        return _confirm_teaching(request, room, row)
    run = teach_judge(project=room.project, judge=row, by=request.user, max_cost=max_cost)
    messages.success(request, f"{run.judge.name} is running with examples.")
    return redirect("run", slug=slug, run_id=run.public_id)


def _confirm_teaching(request: Request, room: Room, row: Judge) -> HttpResponse:
    lesson = lesson_of(room.project, row)
    found = run_estimate(
        project=room.project,
        judge=lesson.base,
        parts=parts_of(lesson.metrics),
        only=lesson.measured.summaries,
        tokens_told=lesson.tokens,
    )
    return ask_to_confirm(
        request,
        room,
        title=f"Try examples with {lesson.base.name}?",
        says=(
            f"A copy of {lesson.base.name} gets examples and judges the {found.summaries:,} "
            f"summar{'y' if found.summaries == 1 else 'ies'} with sampled answers: about {found.calls:,} "
            f"calls, {'no price is set' if found.cost is None else f'cost about {found.cost:.2f}'}.",
            f"This includes about {lesson.tokens:,} prompt tokens per call for the examples. Its answers do "
            "not affect scores, and it judges nothing else, until you choose it.",
        ),
        act="Start the run",
        back=reverse("judge", args=[room.project.slug]),
        fields={},
    )


def _latest_run(project: Project, version: Version) -> Run | None:
    return Run.objects.filter(project=project, judge__name=version.judge).order_by("-pk").first()


def chosen_version(versions: Sequence[Version], name: str) -> Version | None:
    if not name:
        return next(iter(versions), None)
    named = next((version for version in versions if version.id == name), None)
    if named is None:
        raise NotFound(f"No judge {name!r} has answered checks that people answered.")
    return named

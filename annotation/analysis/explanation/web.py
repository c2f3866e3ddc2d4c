"""The pages that explain scores."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from annotation.analysis.explanation.compare import (
    MOST_CHECKS,
    compared_sets,
    differing_checks,
    paired_differences,
)
from annotation.analysis.explanation.compare_judges import compare_judges
from annotation.analysis.explanation.explanation import Explanation, explain, summary_of
from annotation.analysis.explanation.side_by_side import (
    WORST_FIRST,
    checks_of,
    sets_with_summaries,
    side_by_side,
)
from annotation.analysis.explanation.statements import says_who
from annotation.analysis.explanation.system_claims import VERDICTS, checks_in, system_claims
from annotation.analysis.judge.judge_answers import judges_of_runs
from annotation.analysis.leaderboard.leaderboards import target_word
from annotation.analysis.leaderboard.ranking import SIGNIFICANCE_LEVEL
from annotation.analysis.leaderboard.web import shown_table
from annotation.analysis.slices.split import chosen_split, splits
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.models import SCORE_SIDES, Check, Label, System
from annotation.reviewing.before_seeing import ask_before_seeing
from annotation.reviewing.services.look_at_check import see_checks, see_summary
from annotation.scoring.records import score_rules, summary_records
from annotation.web.htmx import Request
from annotation.web.lists import list_page
from annotation.web.rooms import enter, found
from annotation.web.screen import screen
from evaluation.blend import score
from evaluation.statistics import FEWEST_IN_SLICE

DIFFERING_SHOWN = 40
"""The number of differing claims of two judges that the page shows at first."""
SIDES = ((Check.Side.REFERENCE.value, "Coverage"), (Check.Side.SUMMARY.value, "Alignment"))
SAYS = {
    Check.Side.REFERENCE.value: {"no": "missing from its summaries", "yes": "in its summaries"},
    Check.Side.SUMMARY.value: {"no": "not supported by the source", "yes": "supported by the source"},
}
"""The meaning of the final verdicts, after "are"."""


@screen("GET")
def summary(request: Request, slug: str, summary_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    row = summary_of(room.project, summary_id)
    if asked := ask_before_seeing(request, room, Check.objects.filter(summary=row, is_current=True)):
        return asked
    record = next(summary_records(room.project, [row.pk]))
    result = score(record.value, score_rules(room.project))
    made = explain(room.project, row, record.value, result, record.conciseness_terms)
    see_summary(project=room.project, summary=row, by=request.user)
    context = {
        "room": room,
        "summary": row,
        "score": result,
        "made": made,
        "parts": [
            (unit, [claim for claim in made.summary_claims if claim.unit == unit.number])
            for unit in made.summary_units
        ],
        "claims_of_no_unit": [claim for claim in made.summary_claims if claim.unit is None],
        "length": record.value.summary_length,
        "who": says_who(_sources(made)),
    }
    return render(request, "analysis/explanation/summary.html", context)


def _sources(made: Explanation) -> Iterator[str | None]:
    for comparison in made.comparisons:
        for unit in comparison.units:
            yield Check.Decider.REVIEWER if unit.percents else None
            yield from (claim.source for claim in unit.claims)
    yield from (claim.source for claim in (*made.document_claims, *made.summary_claims))


@screen("GET")
def document_sets(request: Request, slug: str) -> HttpResponseBase:
    room = enter(request, slug, Verb.VIEW_SCORES, here="document-sets")
    return list_page(
        request,
        room,
        WORST_FIRST,
        page="analysis/explanation/document_sets.html",
        context=lambda look: {"hardest": look.found.order_by(*WORST_FIRST.order).first()},
    )


@screen("GET")
def summaries_of_set(request: Request, slug: str, set_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="document-sets")
    sets = sets_with_summaries(room.project)
    document_set = found(sets, set_id, "document set with summaries")
    if asked := ask_before_seeing(request, room, checks_of(document_set)):
        return asked
    beside = side_by_side(document_set)
    see_checks(project=room.project, checks=checks_of(document_set), by=request.user)
    context = {
        "room": room,
        "document_set": document_set,
        "beside": beside,
        "documents": document_set.documents.order_by("position"),
        "references": document_set.summaries.filter(is_reference=True).order_by("pk"),
        "unsupported": sum(each.unsupported for each in beside.summaries),
        "previous": sets.filter(external_id__lt=document_set.external_id).last(),
        "next": sets.filter(external_id__gt=document_set.external_id).first(),
    }
    return render(request, "analysis/explanation/side_by_side.html", context)


@screen("GET")
def claims_of_system(request: Request, slug: str, system_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    system = found(System.objects.filter(project=room.project), system_id, "system")
    side = request.GET.get("side", Check.Side.REFERENCE.value)
    verdict, after = request.GET.get("verdict", Label.NO.value), request.GET.get("after", "")
    claims, following, total, who = system_claims(
        room.project, system, side=side, verdict=verdict, after=after
    )
    shown = checks_in(claims)
    if asked := ask_before_seeing(request, room, shown):
        return asked
    see_checks(project=room.project, checks=shown, by=request.user)
    context = {
        "room": room,
        "system": system,
        "side": side,
        "sides": SIDES,
        "verdict": verdict,
        "verdicts": VERDICTS,
        "says": SAYS[side].get(verdict, "unsure" if verdict == Label.UNSURE else "without a verdict"),
        "total": total,
        "who": who,
        "claims": claims,
        "after": following,
        "is_first": not after,
    }
    return render(request, "analysis/explanation/system_claims.html", context)


@screen("GET")
def compare(request: Request, slug: str) -> HttpResponse:
    if request.GET.get("of") == "judges":
        return _compare_judges(request, slug)
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    shown = shown_table(request, room.project)
    if shown.score not in SCORE_SIDES:
        shown = shown_table(request, room.project, score="coverage")
    table, score = shown.table, shown.score
    systems = {row.name: row for row in System.objects.filter(project=room.project).order_by("name")}
    best = [row.system for row in table.rows] if table else list(systems)
    first, second = (
        systems.get(request.GET.get(name) or "".join(best[place : place + 1]))
        for place, name in enumerate(("first", "second"))
    )
    if first is None or second is None or first == second:
        raise Invalid("Comparing needs two different systems that have summaries.", field="second")
    target = table.target_words if table else None
    checks = differing_checks(room.project, first, second, score=score, target_words=target)
    seen = Check.objects.filter(pk__in=[check.pk for check in checks])
    if asked := ask_before_seeing(request, room, seen):
        return asked
    see_checks(project=room.project, checks=seen, by=request.user)
    basis = table.bases[score] if table else None
    pairs = table.ranking.compared if table else ()
    pair = next((each for each in pairs if {each.first, each.second} == {first.name, second.name}), None)
    means = {row.system: row.scores[score].mean for row in table.rows} if table else {}
    compared = compared_sets(checks, first, second, target_words=target)
    interval = None
    # Show an interval only if the leaderboard shows the mean of this score: an estimate is another value.
    if pair and pair.difference is not None and basis and basis.column == score:
        better, worse = systems[pair.first], systems[pair.second]
        interval = paired_differences(room.project, better, worse, score=score, target_words=target).get("")
    offered = splits(room.project)
    split = chosen_split(offered, request.GET.get("key", ""))
    by_slice = (
        paired_differences(room.project, first, second, score=score, target_words=target, split=split)
        if split
        else {}
    )
    is_one_sided = interval is None or (interval.low is not None and interval.low > 0)
    context = {
        "room": room,
        "first": first,
        "second": second,
        "pair": pair,
        "means": [means[name] for name in (pair.first, pair.second)] if pair else [],
        "is_clear": pair is not None and pair.p is not None and pair.p < SIGNIFICANCE_LEVEL and is_one_sided,
        "interval": interval,
        "basis": basis,
        "score": score,
        "of": "systems",
        "scores": list(SCORE_SIDES),
        "choices": best,
        "target": target_word(target) if table else "",
        "target_words": target,
        "keys": list(offered),
        "split": split,
        "by_slice": [(name, by_slice[name]) for name in split.names if name in by_slice] if split else [],
        "fewest": FEWEST_IN_SLICE,
        "compared": compared,
    }
    return render(request, "analysis/explanation/compare.html", context)


def _compare_judges(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="judge")
    score = request.GET.get("by") or "coverage"
    judges = {judge.name: judge for judge in judges_of_runs(room.project)}
    decides = room.project.deciding_judge
    order = sorted(judges.values(), key=lambda judge: judge != decides)
    first = judges.get(request.GET.get("first", "")) or next(iter(order), None)
    named = judges.get(request.GET.get("second", ""))
    second = named or next((judge for judge in order if judge != first), None)
    context = {
        "room": room,
        "of": "judges",
        "score": score,
        "scores": list(SCORE_SIDES),
        "choices": list(judges),
    }
    if score not in SCORE_SIDES or (first and first == second):
        raise Invalid("Choose two different judges, and coverage or alignment.", field="second")
    if first and second:
        most = MOST_CHECKS if "all" in request.GET else DIFFERING_SHOWN
        found = compare_judges(room.project, first, second, score=score, most=most)
        seen = Check.objects.filter(pk__in=[each.check.pk for each in found.differing])
        if asked := ask_before_seeing(request, room, seen):
            return asked
        see_checks(project=room.project, checks=seen, by=request.user)
        context |= {"first": first, "second": second, "found": found, "is_all": most == MOST_CHECKS}
    return render(request, "analysis/explanation/compare_judges.html", context)

"""The page for answering one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.core.by_hand import kept_plans
from annotation.core.lists import Listing
from annotation.core.permissions import Verb
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import SCORE_SIDES, Check, ErrorType, Verdict
from annotation.reviewing.queries.check_view import (
    CheckView,
    check_of,
    check_view,
    outcome_of,
    own_verdict,
)
from annotation.reviewing.queries.review_queue import (
    CHECKS_COUNTED_UP_TO,
    count,
    counts_down,
    queue_of,
    sample_left,
    sampled,
)
from annotation.reviewing.services import review as service
from annotation.reviewing.services.lease_check import hand_out, look_and_hand_out, look_and_renew, renew_lease
from annotation.reviewing.services.look_at_check import look_at
from annotation.sampling.queries.check_samples import (
    eligible,
    held_by_others,
    is_kept_by_a_sample,
    open_samples,
)
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.score_changes import ScoreChange, ShownScores, in_words, score_changes, scores_now
from annotation.web.htmx import Request, page_or_fragment, wants_fragment
from annotation.web.lists import look_of
from annotation.web.numbers import need_whole_number, whole_number
from annotation.web.refusals import status_of
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen

if TYPE_CHECKING:
    from django.http import QueryDict

ERROR_TYPES = tuple(ErrorType.choices)
CONFIDENCES = (("1", "100 %"), ("0.9", "90 %"), ("0.75", "75 %"), ("0.6", "60 %"), ("0.5", "50 %"))

CHECKED_AT_ONCE = 20
"""The number of claims that a new small sample should have."""


@screen("GET")
@never_cache
def check(request: Request, slug: str, check_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    row = check_of(room.project, check_id)
    look_at(check=row, by=request.user)
    renew_lease(check=row, by=request.user)
    return _show(request, room, row)


@screen("GET", "POST")
@kept_plans()
def next_check(request: Request, slug: str) -> HttpResponse:
    """Show the queue's next claim. Scripts load it early and send the id of the claim on screen as `here`.

    A GET request, such as a reload, is redirected to the queue.
    """
    room = enter(request, slug, Verb.REVIEW, here="review")
    queue = _queue(request, room)
    if request.method != "POST":
        return redirect(_queue_address(slug, queue))
    here = request.POST.get("here", "")
    following = look_and_hand_out(look=queue, here=here) if here else hand_out(look=queue)
    if not wants_fragment(request):
        return _to_check(request, following, queue)
    if following is None:
        context = {
            "room": room,
            "search": queue.query(),
            "held": _held_in_words(queue),
            **_other_checks(request, room, queue),
        }
        return render(request, "reviewing/_end.html", context)
    return _show(request, room, following, ahead_in=queue)


@screen("POST")
def check_some(request: Request, slug: str) -> HttpResponse:
    """Show the first claim of a random sample of a score: an open sample, or a new small one."""
    room = enter(request, slug, Verb.ASSIGN, here="review")
    project, side = room.project, SCORE_SIDES.get(request.POST.get("score", ""))
    if side is None:
        raise Invalid(f"The score is one of {', '.join(SCORE_SIDES)}.", field="score")
    waiting = [each.sample_id for each in open_samples(project) if side == SCORE_SIDES[each.scores[0]]]
    if not waiting:
        share = min(1.0, CHECKED_AT_ONCE / max(1, eligible(project, side).count()))
        made = sample_checks(project=project, by=request.user, method="uniform", share=share, side=side)
        waiting = [made.public_id]
    queue = look_of(request, room, sampled(waiting[0]), {"sample": waiting[0]})
    part = sample_left(queue)
    if part and part.of_others:
        messages.warning(
            request,
            f"{part.sample.sampled} claim{pluralize(part.sample.sampled, ' was,s were')} chosen at random. "
            f"You have seen the judge's verdicts on "
            f"{part.of_others} of them, so a colleague must answer {'it' if part.of_others == 1 else 'them'}.",
        )
    if Verb.REVIEW not in room.verbs:
        return redirect(_queue_address(slug, queue))
    return _to_check(request, hand_out(look=queue), queue)


def _other_checks(request: Request, room: Room, queue: Listing) -> dict[str, object]:
    part = sample_left(queue)
    found = count(look_of(request, room, queue_of({}), {})) if part else 0
    return {
        "part": part,
        "open_checks": min(found, CHECKS_COUNTED_UP_TO),
        "has_more_open": found > CHECKS_COUNTED_UP_TO,
    }


@screen("POST")
def look(request: Request, slug: str, check_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    look_and_renew(project=room.project, here=check_id, by=request.user)
    return HttpResponse(status=204)


@screen("POST")
def override(request: Request, slug: str, check_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    row = check_of(room.project, check_id)
    before = _shown_scores(room, row)
    typed = TypedAnswer.of(request.POST)
    try:
        given = service.override(
            check=row,
            by=request.user,
            label=typed.label,
            reason=typed.reason,
            evidence=_numbers(typed.evidence),
            error_type=typed.error_type,
            confidence=_confidence(typed.confidence),
            active_ms=_milliseconds(request.POST.get("active_ms", "")),
            seen=request.POST.get("seen", service.NOT_LOOKED),
        )
    except (Conflict, Invalid) as refusal:
        return _show(request, room, row, refusal=refusal, typed=typed)
    moved = _moved(before, row)
    if wants_fragment(request):
        context = {
            "room": room,
            "before": outcome_of(check_of(room.project, check_id), request.user),
            "saved": given.verdict,
            "moved_in_words": _movement(moved),
            "search": _queue(request, room).query(),
        }
        return render(request, "reviewing/_strip.html", context)
    return _after_answer(request, room, row, verdict=given.verdict, moved=moved)


@screen("POST")
def withdraw_verdict(request: Request, slug: str, check_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.REVIEW, here="review")
    row = check_of(room.project, check_id)
    before = _shown_scores(room, row)
    verdict = own_verdict(row, request.user, request.POST.get("verdict", ""))
    service.withdraw_answer(answer=verdict, by=request.user)
    moved = _moved(before, row)
    if wants_fragment(request):
        row = check_of(room.project, check_id)
        renew_lease(check=row, by=request.user)
        return _show(request, room, row, withdrawn=verdict, moved=moved)
    sentences = ["Answer withdrawn.", _kept_by_a_sample(verdict), _movement(moved)]
    messages.success(request, " ".join(filter(None, sentences)))
    return redirect(_address(slug, check_id, _queue(request, room)))


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """The submitted fields of the form."""

    label: str = ""
    reason: str = ""
    error_type: str = ""
    confidence: str = ""
    evidence: tuple[str, ...] = ()

    @classmethod
    def of(cls, form: QueryDict) -> TypedAnswer:
        return cls(
            label=form.get("label", ""),
            reason=form.get("reason", ""),
            error_type=form.get("error_type", ""),
            confidence=form.get("confidence", ""),
            evidence=tuple(form.getlist("evidence")),
        )

    @classmethod
    def own(cls, view: CheckView) -> TypedAnswer:
        """Build the form's initial values from the reader's earlier answer; empty values if there is none."""
        own = view.outcome.own
        if own is None:
            return cls()
        confidence = "" if own.confidence is None else f"{own.confidence:g}"
        return cls(reason=own.reason, error_type=own.error_type, confidence=confidence)


def _queue(request: Request, room: Room) -> Listing:
    given = request.GET.dict()
    return look_of(request, room, queue_of(given), given)


def _address(slug: str, check_id: str, queue: Listing, **more: str) -> str:
    return reverse("check", kwargs={"slug": slug, "check_id": check_id}) + queue.query(**more)


def _show(
    request: Request,
    room: Room,
    row: Check,
    *,
    refusal: Conflict | Invalid | None = None,
    typed: TypedAnswer | None = None,
    withdrawn: Verdict | None = None,
    moved: list[ScoreChange] | None = None,
    ahead_in: Listing | None = None,
) -> HttpResponse:
    queue = ahead_in or _queue(request, room)
    is_whole = "1" in (request.GET.get("whole"), request.POST.get("whole"))
    numbers = [] if typed is None else map(whole_number, typed.evidence)
    marked = None if typed is None else [number for number in numbers if number is not None]
    view = check_view(row, request.user, marked=marked, whole_text=is_whole)
    typed = typed or TypedAnswer.own(view)
    context = {
        "room": room,
        "view": view,
        "outcome": view.outcome,
        "look": queue,
        "search": queue.query(),
        "refusal": refusal,
        "typed": typed,
        "withdrawn": withdrawn,
        "kept_by_a_sample": _kept_by_a_sample(withdrawn) if withdrawn else "",
        "moved_in_words": _movement(moved),
        "error_types": ERROR_TYPES,
        "confidences": CONFIDENCES,
        **_counted(queue, None if ahead_in else row),
        "before": None if ahead_in else _before(request, room, row),
    }
    return page_or_fragment(
        request,
        page="reviewing/check.html",
        fragment="reviewing/_check.html",
        context=context,
        status=status_of(refusal) if refusal else 200,
    )


def _counted(queue: Listing, here: Check | None) -> dict[str, object]:
    # `here` is the claim on screen. If it is None, the claim is loaded early: the number is not known yet, and the page
    # continues its own count.
    is_counted = counts_down(queue)
    if here is None:
        return {
            "left": None,
            "counts_down": is_counted,
            "is_counted": is_counted,
            "is_left_counted_out": True,
        }
    left = count(queue)
    return {
        "left": min(left, CHECKS_COUNTED_UP_TO),
        "counts_down": is_counted,
        # A claim that was opened by its address may not be in this queue, so search for it.
        "is_counted": is_counted and queue.found.filter(pk=here.pk).exists(),
        "is_left_counted_out": left <= CHECKS_COUNTED_UP_TO,
    }


def _after_answer(
    request: Request,
    room: Room,
    row: Check,
    *,
    verdict: Verdict,
    moved: list[ScoreChange] | None,
) -> HttpResponseRedirect:
    slug, queue = room.project.slug, _queue(request, room)
    messages.success(request, f"Saved: {verdict.label}. {_movement(moved)}".strip())
    if here := request.POST.get("at", ""):
        return redirect(_address(slug, check_of(room.project, here).public_id, queue, was=row.public_id))
    following = hand_out(look=queue, after=row)
    if following is None:
        return redirect(_address(slug, row.public_id, queue))
    return redirect(_address(slug, following.public_id, queue, was=row.public_id))


def _kept_by_a_sample(withdrawn: Verdict) -> str:
    if not is_kept_by_a_sample(withdrawn):
        return ""
    return "The random sample keeps your first answer because you have now seen the judge's verdict."


def _shown_scores(room: Room, row: Check) -> ShownScores | None:
    return scores_now(row) if Verb.VIEW_SCORES in room.verbs else None


def _moved(before: ShownScores | None, row: Check) -> list[ScoreChange] | None:
    return None if before is None else score_changes(before, scores_now(row))


def _movement(moved: list[ScoreChange] | None) -> str:
    return "" if moved is None else in_words(moved)


def _to_check(request: Request, following: Check | None, queue: Listing) -> HttpResponseRedirect:
    slug = queue.viewer.project.slug
    if following is not None:
        return redirect(_address(slug, following.public_id, queue))
    messages.info(request, _held_in_words(queue) or "The queue is empty.")
    return redirect(_queue_address(slug, queue))


def _held_in_words(queue: Listing) -> str:
    held = held_by_others(queue.found, queue.viewer.person)
    return held.sentence if held else ""


def _queue_address(slug: str, queue: Listing) -> str:
    return reverse("review", kwargs={"slug": slug}) + queue.query()


def _before(request: Request, room: Room, row: Check) -> object:
    name = request.GET.get("was", "")
    if not name or name == row.public_id:
        return None
    try:
        before = check_of(room.project, name)
    except NotFound:
        return None
    outcome = outcome_of(before, request.user)
    return outcome if outcome.own else None


def _numbers(given: tuple[str, ...]) -> list[int]:
    return [
        need_whole_number(each, f"Evidence must be unit numbers, not {each!r}.", field="evidence")
        for each in given
    ]


def _confidence(given: str) -> float | None:
    try:
        return float(given) if given else None
    except ValueError as error:
        raise Invalid(f"Confidence must be a number, not {given!r}.", field="confidence") from error


def _milliseconds(given: str) -> int:
    return whole_number(given, most=service.LONGEST_MS) or 0

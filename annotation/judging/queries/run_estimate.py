"""Estimate a run before its start: calls, tokens, money and time."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Avg, Count, Sum
from django.db.models.functions import Length

from annotation.core.criteria import asked_of_judges
from annotation.judging.queries.judges import members_of
from annotation.models import Document, Judge, JudgeCall, Project, Summary, Verdict
from evaluation.judging.protocol import Price

LATEST_CALLS = 200
SECONDS_A_CALL = 3.0
"""The assumed duration of a call of a judge that has made no call yet."""
SECONDS_A_SUMMARY_OFFLINE = 0.01
REPLY_TOKENS = 400
PROMPT_TOKENS = 800
"""The tokens of a prompt without the texts: instructions and the schema of the reply."""
CHARACTERS_A_TOKEN = 4
CLAIMS_SHARE = 0.3
"""The assumed length of a text's claims as a share of the text."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The estimated size of a run, as if no answer was stored yet.

    - `cost`: None for judges without a price
    - `known`: the number of summaries with usable verdicts of this judge
    - `erased`: the number of erased replies in the project of this judge or the panel's members
    - `is_measured`: True if length and duration of replies come from the judge's latest calls, False if assumed
    """

    document_sets: int
    summaries: int
    known: int
    erased: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float
    is_measured: bool


def run_estimate(
    *,
    project: Project,
    judge: Judge,
    parts: Collection[str],
    only: Iterable[int] | None = None,
    tokens_told: int = 0,
    repeat_share: float | None = None,
) -> RunEstimate:
    """Estimate a run with these parts over the project.

    `only` limits the run to summaries with these keys, whose document sets must have claims already. `tokens_told` is
    the number of additional tokens in each prompt, such as those of examples. `repeat_share` is the share of summaries
    that are asked about twice.
    """
    rows = Summary.objects.filter(document_set__project=project, is_summary=True).order_by()
    documents = Document.objects.filter(document_set__project=project).order_by()
    if only is not None:
        rows = rows.filter(pk__in=only)
        documents = documents.filter(document_set__in=rows.values("document_set"))
    found = rows.aggregate(
        count=Count("pk"),
        sets=Count("document_set", distinct=True),
        characters=Sum(Length("text"), default=0),
    )
    sets, summaries, own = found["sets"], found["count"], found["characters"]
    source = documents.aggregate(characters=Sum(Length("text"), default=0))["characters"]
    # The characters of the source, once for each summary: exact if all sets have equally many summaries.
    repeated = source * summaries // max(1, sets)
    reads = ("topics" in parts) + (only is None and bool({"coverage", "questions"} & set(parts)))
    asked = set(asked_of_judges(project).values_list("reads", flat=True)) if "criteria" in parts else set()
    beside = len(asked - {"summary"})
    covers = "summary" in asked or bool(
        {"coverage", "questions", "topics", "conciseness", "coherence"} & set(parts)
    )
    aligns = "alignment" in parts
    times = 1 + (repeat_share or 0.0)
    calls = sets * reads + math.ceil(times * summaries * (covers + aligns + beside))
    of_summaries = (own + CLAIMS_SHARE * repeated) * covers + (own + repeated) * (aligns + beside)
    characters = source * reads + times * of_summaries
    prompt = (PROMPT_TOKENS + tokens_told) * calls + round(characters / CHARACTERS_A_TOKEN)
    members = [member for member in members_of(judge) if member.kind != Judge.Kind.LEXICAL]
    replies, cost, seconds, are_measured = 0, 0.0, 0.0, []
    for member in members:
        latest = JudgeCall.objects.filter(judge=member).order_by("-pk").values_list("pk")[:LATEST_CALLS]
        measured = JudgeCall.objects.filter(pk__in=[key for (key,) in latest]).aggregate(
            tokens=Avg("completion_tokens"), took=Avg("seconds")
        )
        reply = round(calls * (measured["tokens"] or REPLY_TOKENS))
        took = calls * (measured["took"] or SECONDS_A_CALL) / member.concurrency
        seconds = max(seconds, took, _paced(member, calls, prompt + reply))
        replies += reply
        cost += Price(member.prompt_price, member.completion_price).of(prompt, reply)
        are_measured.append(measured["tokens"] is not None)
    known = Verdict.objects.filter(judge=judge, check_row__project=project, label__isnull=False)
    erased = JudgeCall.objects.filter(run__project=project, judge__in=members, erased_at__isnull=False)
    return RunEstimate(
        document_sets=sets,
        summaries=summaries,
        known=known.aggregate(count=Count("check_row__summary", distinct=True))["count"],
        erased=erased.count(),
        calls=calls * len(members),
        prompt_tokens=prompt * len(members),
        completion_tokens=replies,
        cost=cost if any(member.has_price for member in members) else None,
        seconds=seconds + SECONDS_A_SUMMARY_OFFLINE * summaries,
        is_measured=bool(members) and all(are_measured),
    )


def _paced(judge: Judge, calls: int, tokens: float) -> float:
    """Estimate how many seconds the limits per minute delay these calls and tokens; the first minute is not delayed."""
    limits = ((calls, judge.calls_per_minute), (tokens, judge.tokens_per_minute))
    return 60.0 * max(math.ceil(asked / limit) - 1 if limit else 0 for asked, limit in limits)

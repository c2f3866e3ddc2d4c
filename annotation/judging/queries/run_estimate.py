"""What a run will come to, before it is started: calls, tokens, money and time."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Avg, Case, CharField, Count, Sum, Value, When
from django.db.models.functions import Length

from annotation.models import Document, Judge, JudgeCall, Project, Summary, Verdict
from evaluation.judging.protocol import Price

LATEST_CALLS = 200
SECONDS_A_CALL = 3.0
"""Of a service that has not been asked yet."""
SECONDS_A_SUMMARY_OFFLINE = 0.01
REPLY_TOKENS = 400
PROMPT_TOKENS = 800
"""What a prompt holds besides the texts: instructions, and the schema of the reply."""
CHARACTERS_A_TOKEN = 4
CLAIMS_SHARE = 0.3
"""How long the claims of a text are, as a share of it, where they are still to be extracted."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """About what a run comes to if nothing is answered yet.

    `cost` is None for judges without a price. `known` counts the summaries that this judge has verdicts on: what is
    answered is not asked again, so a run costs less the more there are. `erased` counts the replies of this judge that
    were erased here: what is asked again is paid for again. `is_measured` says whether the sizes of calls are those of
    the judge's own latest calls, else they are guessed from the lengths of the texts.
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


@dataclass(frozen=True, slots=True)
class _Calls:
    """How often each kind of call is made, and the characters of texts in all of them."""

    documents: int
    covers: int
    alignments: int
    characters: int

    @property
    def count(self) -> int:
        return self.documents + self.covers + self.alignments


@dataclass(frozen=True, slots=True)
class _Texts:
    sets: int
    summaries: int
    summary_characters: int
    document_characters: int
    repeated_characters: int
    """Those of each document as often as its set holds summaries."""


def run_estimate(
    *,
    project: Project,
    judge: Judge,
    parts: Collection[str],
    only: Iterable[int] | None = None,
    tokens_told: int = 0,
) -> RunEstimate:
    """The estimate for a run after these parts, over all of the project; a panel's is that of its members together.

    With `only` over the summaries of these keys, of sets whose claims are there already. `tokens_told` is what a
    judge is told with each call that is not in the latest ones, such as examples.
    A number of statements that grows with the panel's members alone.
    """
    texts = _texts(project, only)
    answered = Verdict.objects.filter(judge=judge, check_row__project=project, label__isnull=False)
    known = answered.aggregate(peers=Count("check_row__peer", distinct=True))["peers"]
    members = _asked(judge)
    calls = _calls(texts, parts, reads_documents=only is None)
    sums = [_of_one(member, calls, tokens_told) for member in members]
    offline = SECONDS_A_SUMMARY_OFFLINE * texts.summaries
    return RunEstimate(
        document_sets=texts.sets,
        summaries=texts.summaries,
        known=known,
        erased=JudgeCall.objects.filter(
            run__project=project, judge__in=[each.pk for each in members], erased_at__isnull=False
        ).count(),
        calls=calls.count * len(members),
        prompt_tokens=sum(each.prompt for each in sums),
        completion_tokens=sum(each.completion for each in sums),
        cost=sum(each.cost for each in sums) if any(member.has_price for member in members) else None,
        seconds=max((each.seconds for each in sums), default=0.0) + offline,
        is_measured=bool(sums) and all(each.is_measured for each in sums),
    )


def _asked(judge: Judge) -> Sequence[Judge]:
    """The judges that make calls: the members of a panel, else the judge itself; none for the lexical one."""
    members = list(judge.members.all()) if judge.kind == Judge.Kind.PANEL else [judge]
    return [member for member in members if member.kind != Judge.Kind.LEXICAL]


def _texts(project: Project, only: Iterable[int] | None) -> _Texts:
    peers = Summary.objects.filter(document_set__project=project, is_peer=True).order_by()
    documents = Document.objects.filter(document_set__project=project).order_by()
    if only is not None:
        peers = peers.filter(pk__in=only)
        documents = documents.filter(document_set__in=peers.values("document_set"))
    found = peers.aggregate(
        summaries=Count("pk"),
        sets=Count("document_set", distinct=True),
        characters=Sum(Length("text"), default=0),
    )
    once = documents.aggregate(characters=Sum(Length("text"), default=0))["characters"]
    return _Texts(
        sets=found["sets"],
        summaries=found["summaries"],
        summary_characters=found["characters"],
        document_characters=once,
        # As if every set held as many summaries: exact where systems have written on all documents.
        repeated_characters=once * found["summaries"] // max(1, found["sets"]),
    )


def _calls(texts: _Texts, parts: Collection[str], *, reads_documents: bool) -> _Calls:
    reads = reads_documents and bool({"coverage", "questions"} & set(parts))
    covers = bool({"coverage", "questions", "topics", "conciseness", "coherence"} & set(parts))
    readings = reads + ("topics" in parts)
    aligns = "alignment" in parts
    claims = CLAIMS_SHARE * texts.repeated_characters
    return _Calls(
        documents=texts.sets * readings,
        covers=texts.summaries * covers,
        alignments=texts.summaries * aligns,
        characters=int(
            texts.document_characters * readings
            + (texts.summary_characters + claims) * covers
            + (texts.summary_characters + texts.repeated_characters) * aligns
        ),
    )


@dataclass(frozen=True, slots=True)
class _Sum:
    prompt: int
    completion: int
    cost: float
    seconds: float
    is_measured: bool


def _of_one(judge: Judge, calls: _Calls, tokens_told: int) -> _Sum:
    """What the calls come to with this judge: sized by its latest calls of each kind, where it has made some."""
    kind = Case(
        When(step="read_document", then=Value("documents")),
        When(step__in=("align_summary", "check_supported"), then=Value("alignments")),
        default=Value("covers"),
        output_field=CharField(),
    )
    latest = JudgeCall.objects.filter(judge=judge).order_by("-pk").values_list("pk", flat=True)[:LATEST_CALLS]
    measured = {
        row["kind"]: row
        for row in JudgeCall.objects.filter(pk__in=list(latest))
        .order_by()
        .annotate(kind=kind)
        .values("kind")
        .annotate(prompt=Avg("prompt_tokens"), completion=Avg("completion_tokens"), took=Avg("seconds"))
    }
    wanted = {
        name: count for name in ("documents", "covers", "alignments") if (count := getattr(calls, name))
    }
    if wanted and wanted.keys() <= measured.keys() and all(measured[name]["prompt"] for name in wanted):
        prompt = sum(count * measured[name]["prompt"] for name, count in wanted.items())
        completion = sum(count * measured[name]["completion"] for name, count in wanted.items())
        took = sum(count * measured[name]["took"] for name, count in wanted.items())
        is_measured = True
    else:
        prompt = PROMPT_TOKENS * calls.count + calls.characters / CHARACTERS_A_TOKEN
        completion = REPLY_TOKENS * calls.count
        took = SECONDS_A_CALL * calls.count
        is_measured = False
    prompt += tokens_told * calls.count
    return _Sum(
        prompt=round(prompt),
        completion=round(completion),
        cost=Price(judge.prompt_price, judge.completion_price).of(round(prompt), round(completion)),
        seconds=max(took / judge.concurrency, _paced(judge, calls.count, prompt + completion)),
        is_measured=is_measured,
    )


def _paced(judge: Judge, calls: int, tokens: float) -> float:
    """The seconds that the judge's limits by the minute make of so many calls and tokens, the first minute's free."""
    minutes = max(
        0.0 if limit is None else math.ceil(asked / limit) - 1
        for asked, limit in ((calls, judge.calls_per_minute), (tokens, judge.tokens_per_minute))
    )
    return 60.0 * minutes

"""What a judge said of peer summaries becomes rows: checks, verdicts, answers to questions, ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from django.db.models import Q

from annotation.models import (
    Check,
    Claim,
    Judge,
    Project,
    QuestionAnswer,
    Rating,
    Run,
    Summary,
    Verdict,
)
from annotation.models.claim import has_number, new_queue_key
from evaluation.judging.protocol import Verdict as Answer

First = TypeVar("First")
Second = TypeVar("Second")

AnswerPair = tuple[int, int]
"""A claim or a question, and a peer summary, by their primary keys."""


@dataclass(frozen=True, slots=True)
class Located:
    """An answer with its evidence as positions of unit rows."""

    answer: Answer
    evidence: list[int]


@dataclass(frozen=True, slots=True)
class Rated:
    """A number for a summary, or the reason for none; `judge` None where it was computed."""

    value: float | None
    reason: str
    judge: Judge | None
    signature: str


@dataclass(slots=True)
class Judged:
    """A peer summary with all its checks, and what was said about those that were open."""

    peer: Summary
    sides: dict[int, Check.Side]
    answers: dict[int, Located] = field(default_factory=dict)
    questions: dict[int, Located] = field(default_factory=dict)
    ratings: dict[Rating.Name, Rated] = field(default_factory=dict)
    is_incomplete: bool = False

    @property
    def asked(self) -> list[object]:
        """The judge's labels and values, None for an unusable answer."""
        located = [*self.answers.values(), *self.questions.values()]
        return [
            *(each.answer.label for each in located),
            *(rated.value for rated in self.ratings.values() if rated.judge is not None),
        ]


@dataclass(frozen=True, slots=True)
class LatestWord:
    """The latest that was said: a label or value, or the reason for none, under which signature."""

    said: str | float | None
    reason: str
    signature: str

    def is_same(self, said: str | float | None, reason: str, signature: str) -> bool:
        """Whether another row would add nothing: the same judge has answered, or failed in the same way."""
        if self.signature != signature:
            return False
        return self.said is not None or (said is None and self.reason == reason)


@dataclass(frozen=True, slots=True)
class Given:
    """What stands of a judge's word on some peers, so that nothing is asked or written twice."""

    verdicts: Mapping[AnswerPair, LatestWord]
    questions: Mapping[AnswerPair, LatestWord]
    ratings: Mapping[tuple[int, str], LatestWord]

    @classmethod
    def of(cls, judge: Judge, peers: Sequence[int]) -> Given:
        verdicts = Verdict.objects.filter(judge=judge, check_row__peer_id__in=peers, withdrawn_at=None)
        answers = QuestionAnswer.objects.filter(judge=judge, summary_id__in=peers)
        ratings = Rating.objects.filter(Q(judge=judge) | Q(judge=None), summary_id__in=peers)
        return cls(
            _latest(
                verdicts.order_by("pk").values_list(
                    "check_row__claim_id", "check_row__peer_id", "label", "reason", "origin_name"
                )
            ),
            _latest(
                answers.order_by("pk").values_list(
                    "question_id", "summary_id", "label", "reason", "origin_name"
                )
            ),
            _latest(
                ratings.order_by("pk").values_list("summary_id", "name", "value", "reason", "origin_name")
            ),
        )

    def has_verdict(self, pair: AnswerPair, signature: str) -> bool:
        """Whether the judge, as it is now, has given a usable verdict."""
        return _is_usable(self.verdicts.get(pair), signature)

    def has_answer(self, pair: AnswerPair, signature: str) -> bool:
        """Whether the judge, as it is now, has given a usable answer to the question."""
        return _is_usable(self.questions.get(pair), signature)

    def has_rating(self, peer: int, name: Rating.Name, signature: str) -> bool:
        """Whether there is a usable rating under the signature."""
        return _is_usable(self.ratings.get((peer, name)), signature)


def _is_usable(standing: LatestWord | None, signature: str) -> bool:
    return standing is not None and standing.said is not None and standing.signature == signature


def _latest(
    rows: Iterable[tuple[First, Second, str | float | None, str, str]],
) -> dict[tuple[First, Second], LatestWord]:
    """The last word under each pair; a failure after a usable answer takes nothing back."""
    latest: dict[tuple[First, Second], LatestWord] = {}
    for first, second, said, reason, signature in rows:
        before = latest.get((first, second))
        if said is None and before is not None and before.said is not None:
            continue
        latest[first, second] = LatestWord(said, reason, signature)
    return latest


def write(
    judged: Sequence[Judged], *, project: Project, judge: Judge, signature: str, run: Run | None
) -> None:
    """Write what is new of these peers, inside the caller's transaction, which holds their locks."""
    given = Given.of(judge, [each.peer.pk for each in judged])
    checks = _checks(judged, project)
    verdicts = [
        Verdict(
            check_row_id=checks[claim, each.peer.pk],
            role=Verdict.Role.JUDGE,
            judge=judge,
            run=run,
            origin_name=signature,
            label=located.answer.label,
            probability=located.answer.probability,
            evidence=located.evidence,
            reason=located.answer.reason,
            uncertainty=located.answer.uncertainty,
            votes=[list(vote) for vote in located.answer.votes],
        )
        for each in judged
        for claim, located in each.answers.items()
        if _is_new(given.verdicts.get((claim, each.peer.pk)), located.answer, signature)
    ]
    Verdict.objects.bulk_create(verdicts)
    QuestionAnswer.objects.bulk_create(
        QuestionAnswer(
            question_id=question,
            summary=each.peer,
            judge=judge,
            run=run,
            origin_name=signature,
            label=located.answer.label,
            probability=located.answer.probability,
            evidence=located.evidence,
            reason=located.answer.reason,
        )
        for each in judged
        for question, located in each.questions.items()
        if _is_new(given.questions.get((question, each.peer.pk)), located.answer, signature)
    )
    Rating.objects.bulk_create(
        Rating(
            summary=each.peer,
            name=name,
            judge=rated.judge,
            run=run,
            origin_name=rated.signature,
            value=rated.value,
            reason=rated.reason,
        )
        for each in judged
        for name, rated in each.ratings.items()
        if not (
            (before := given.ratings.get((each.peer.pk, name)))
            and before.is_same(rated.value, rated.reason, rated.signature)
        )
    )


def _is_new(before: LatestWord | None, answer: Answer, signature: str) -> bool:
    return before is None or not before.is_same(answer.label, answer.reason, signature)


def _checks(judged: Sequence[Judged], project: Project) -> dict[AnswerPair, int]:
    """The check of each claim and peer, made where it is missing, by primary key."""
    wanted = {(claim, each.peer.pk): side for each in judged for claim, side in each.sides.items()}
    peers = {each.peer.pk: each.peer for each in judged}
    there = _check_keys(list(peers))
    missing = [pair for pair in wanted if pair not in there]
    # A claim may have been changed, or its list replaced, while the judge was asked.
    claims = Claim.all_claims.select_related("claim_set").in_bulk({claim for claim, _ in missing})
    made = [
        Check(
            project_id=project.pk,
            claim_id=claim,
            peer_id=peer,
            document_set_id=peers[peer].document_set_id,
            side=wanted[claim, peer],
            is_current=claims[claim].removed_at is None and claims[claim].claim_set.is_active,
            has_number=has_number(claims[claim].text),
            queue_key=new_queue_key(),
        )
        for claim, peer in missing
    ]
    Check.objects.bulk_create(made)
    return there | {(check.claim_id, check.peer_id): check.pk for check in made}


def _check_keys(peers: Sequence[int]) -> dict[AnswerPair, int]:
    rows = Check.objects.filter(peer_id__in=peers).values_list("claim_id", "peer_id", "pk")
    return {(claim, peer): key for claim, peer, key in rows}

"""A panel of judges."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from evaluation._guards import checked_share
from evaluation._labels import Label
from evaluation._means import mean
from evaluation.errors import JudgeError
from evaluation.judging.errors import BudgetSpent, JudgeRefused, JudgeSettings
from evaluation.judging.prompts import canonical
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    Judge,
    JudgedClaim,
    Question,
    Rating,
    Text,
    Verdict,
    checked_judge,
    combined,
)

_R = TypeVar("_R")

_LONGEST_SIGNATURES = 120


class JudgePanel:
    """Judges that answer every check together: the most common label counts, or unsure in a tie.

    With `ask_next_below`, in [0, 1], the members answer in turn, and the last label counts. The next member answers
    only the checks whose confidence so far is lower than `ask_next_below`. The confidence is the probability of yes if
    the label is yes, and otherwise of not yes; it is .5 if the probability is unknown. A check without a label always
    goes to the next member.

    Otherwise a verdict has the members' `votes`, the share of other labels (`uncertainty`), the mean probability, and
    the evidence of members who gave its label. A member without a usable answer has no vote; a check without votes is
    unscored. Claims, generated questions and topics come from the first member that returns them.
    Raises JudgeSettings if there are no members or two have the same name. JudgeRefused and BudgetSpent of a member
    are passed on. Other errors are raised only if all members fail; then the first member's error is raised.
    Example: `JudgePanel([OpenAIJudge("one"), LexicalJudge()])`.
    """

    kind = "panel"

    def __init__(
        self, judges: Sequence[Judge], *, name: str = "panel", ask_next_below: float | None = None
    ) -> None:
        given: object = judges
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise JudgeSettings(f"A panel is made of a list of judges, got {type(given).__name__}.")
        members = tuple(map(checked_judge, given))
        if not members:
            raise JudgeSettings("A panel needs at least one judge.")
        names = [judge.name for judge in members]
        if doubled := sorted({each for each in names if names.count(each) > 1}):
            told = "Members of a panel need names of their own; given more than once"
            raise JudgeSettings(f"{told}: {', '.join(doubled)}.")
        self._judges = members
        self.name = name
        self._ask_next_below, in_turn = ask_next_below, []
        if ask_next_below is not None:
            self._ask_next_below = checked_share("ask_next_below", ask_next_below)
            in_turn = [f"in turn below {ask_next_below:g}"]
        self.signature = _signed([*in_turn, *(judge.signature for judge in members)])

    @property
    def concurrency(self) -> int:
        """Return the smallest concurrency of the members."""
        return min(judge.concurrency for judge in self._judges)

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        """Take claims, questions and topics from the first member that returns them; the members answer the
        questions.
        """
        first, reading = await self._first(
            lambda judge: judge.read_document(request), lambda reading: not reading.faults
        )
        if not (questions := reading.questions):
            return reading
        texts = tuple(question.text for question in questions)

        async def answers(judge: Judge, places: Sequence[int]) -> tuple[Verdict, ...]:
            if judge is first:
                return tuple(questions[place].answer for place in places)
            asked = tuple(texts[place] for place in places)
            again = DocumentRequest(request.source, questions=asked, instruction=request.instruction)
            return tuple(question.answer for question in (await judge.read_document(again)).questions or ())

        verdicts = await self._answers(len(texts), answers)
        return replace(reading, questions=tuple(map(Question, texts, verdicts)))

    async def align_summary(
        self, source: Text, summary: Text, *, instruction: str = ""
    ) -> tuple[JudgedClaim, ...]:
        """Take the claims from the first member that extracts them, and check them against the source with the
        members.
        """
        first, aligned = await self._first(
            lambda judge: judge.align_summary(source, summary, instruction=instruction)
        )
        claims = [each.claim.text for each in aligned]

        async def verdicts(judge: Judge, places: Sequence[int]) -> tuple[Verdict, ...]:
            if judge is first:
                return tuple(aligned[place].verdict for place in places)
            return await judge.check_source([claims[at] for at in places], source, instruction=instruction)

        tallied = await self._answers(len(claims), verdicts)
        return tuple(JudgedClaim(each.claim, verdict) for each, verdict in zip(aligned, tallied, strict=True))

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        """Check whether the source supports each claim; one verdict per claim, in order."""
        return await self._answers(
            len(claims),
            lambda judge, places: judge.check_source(
                [claims[at] for at in places], source, instruction=instruction
            ),
        )

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        """Return the members' verdicts on the summary, and their ratings combined.

        If the members answer in turn, the ratings are those of the first member that answers.
        """
        whole = (*request.claims, *request.questions, *request.topics)
        names = [each.name for each in request.criteria]
        ends = len(request.claims), len(request.claims) + len(request.questions)
        ratings: list[Mapping[str, Rating]] = []

        async def answers(judge: Judge, places: Sequence[int]) -> tuple[Verdict, ...]:
            if len(places) == len(whole):
                found = await judge.cover_summary(request)
                ratings.append(found.ratings)
            else:
                claims, questions, topics = (
                    tuple(whole[at] for at in places if low <= at < high)
                    for low, high in pairwise((0, *ends, len(whole)))
                )
                asked = CoverRequest(request.summary, claims, questions, topics, request.instruction)
                found = await judge.cover_summary(asked)
            return (*found.claims, *found.questions, *found.topics)

        verdicts = await self._answers(len(whole), answers)
        kept = ratings if self._ask_next_below is None else ratings[:1]
        return CoverReading(
            verdicts[: ends[0]],
            verdicts[ends[0] : ends[1]],
            verdicts[ends[1] :],
            {name: _rated([found[name] for found in kept if name in found]) for name in names},
        )

    async def _answers(
        self, items: int, ask: Callable[[Judge, Sequence[int]], Awaitable[Sequence[Verdict]]]
    ) -> tuple[Verdict, ...]:
        # Let all members that run at the same time finish, even after an error.
        votes: list[dict[str, Verdict]] = [{} for _ in range(items)]
        limit, failures, is_answered = self._ask_next_below, [], False
        for members in [self._judges] if limit is None else [[judge] for judge in self._judges]:
            places = [at for at, cast in enumerate(votes) if limit is None or _confidence(cast) < limit]
            if is_answered and not places:
                break
            given = await asyncio.gather(*(ask(judge, places) for judge in members), return_exceptions=True)
            for judge, answer in zip(members, given, strict=True):
                if isinstance(answer, JudgeError) and not isinstance(answer, JudgeRefused | BudgetSpent):
                    failures.append(answer)
                elif isinstance(answer, BaseException):
                    raise answer
                else:
                    is_answered = True
                    for at, verdict in zip(places, answer, strict=False):
                        votes[at][judge.name] = verdict
        if not is_answered:
            raise failures[0]
        return tuple(map(_verdict if limit is None else _last, votes))

    def again(self, token: str) -> "JudgePanel":
        """Return a copy of the panel whose members ask stored questions again."""
        twin = copy(self)
        twin._judges = tuple(judge.again(token) for judge in self._judges)
        return twin

    async def aclose(self) -> None:
        """Close every member's connections of the running event loop."""
        for judge in self._judges:
            await judge.aclose()

    async def _first(
        self, work: Callable[[Judge], Awaitable[_R]], is_whole: Callable[[_R], bool] = lambda _: True
    ) -> tuple[Judge, _R]:
        failure: JudgeError | None = None
        partial: tuple[Judge, _R] | None = None
        for judge in self._judges:
            try:
                said = await work(judge)
            except (JudgeRefused, BudgetSpent):
                raise
            except JudgeError as error:
                failure = failure or error
                continue
            if is_whole(said):
                return judge, said
            partial = partial or (judge, said)
        if partial is not None:
            return partial
        raise failure or AssertionError("a panel has members")


def _signed(signatures: Sequence[str]) -> str:
    # Leave out the panel's name, because it does not change answers.
    everything = "; ".join(signatures)
    if len(everything) <= _LONGEST_SIGNATURES:
        return f"panel({everything})"
    # Hash JSON, because a signature may contain the separator.
    digest = hashlib.sha256(canonical(signatures).encode("utf-8", "surrogatepass")).hexdigest()
    return f"panel[{len(signatures)} members]#{digest[:16]}"


def majority(labels: Sequence[Label | None]) -> tuple[Label | None, float | None]:
    """Return the most common label (unsure in a tie), and the share of other labels, in [0, 1].

    Labels that are None are ignored. Both results are None if all labels are None.
    Example: `majority(["yes", "yes", "no"])` is `("yes", 0.333…)`; `majority(["yes", "no", None])` is
    `("unsure", 1.0)`.
    """
    counts = Counter(label for label in labels if label is not None)
    if not counts:
        return None, None
    ranked = counts.most_common(2)
    is_tie = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    label: Label = "unsure" if is_tie else ranked[0][0]
    return label, 1 - counts[label] / counts.total()


def _verdict(votes: Mapping[str, Verdict]) -> Verdict:
    label, uncertainty = majority([verdict.label for verdict in votes.values()])
    cast = tuple((name, verdict.label) for name, verdict in votes.items())
    agreeing = {name: verdict for name, verdict in votes.items() if verdict.label == label}
    reasons = [f"{name}: {verdict.reason}" for name, verdict in (agreeing or votes).items() if verdict.reason]
    evidence = sorted({number for verdict in agreeing.values() for number in verdict.evidence})
    return Verdict(
        label,
        None if label is None else mean(verdict.probability for verdict in votes.values()),
        tuple(evidence),
        " ".join(reasons),
        next((verdict.call for verdict in agreeing.values() if verdict.call), None),
        uncertainty,
        cast,
    )


def _last(votes: Mapping[str, Verdict]) -> Verdict:
    cast = tuple((name, verdict.label) for name, verdict in votes.items())
    usable = [verdict for verdict in votes.values() if verdict.label is not None]
    decided = usable[-1] if usable else next(iter(votes.values()), Verdict(None))
    return replace(decided, votes=cast)


def _confidence(votes: Mapping[str, Verdict]) -> float:
    verdict = _last(votes)
    probability = 0.5 if verdict.probability is None else verdict.probability
    return {"yes": probability, None: -1.0}.get(verdict.label, 1 - probability)


def _rated(ratings: Sequence[Rating]) -> Rating:
    whole = combined(ratings)
    alike = [rating for rating in ratings if (rating.value is None) == (whole.value is None)]
    return replace(whole, reason=" ".join(rating.reason for rating in alike if rating.reason))

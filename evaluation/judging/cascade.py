"""An inexpensive judge, and an expensive one where the inexpensive one may be wrong."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from evaluation._guards import checked_share
from evaluation.judging.prompts import canonical
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Json,
    Judge,
    JudgedClaim,
    Question,
    Side,
    Text,
    Verdict,
    checked_judge,
)

DEFAULT_RISK = 0.2
_PROBED = 11

Asking = Callable[[Sequence[int]], Awaitable[Sequence[Verdict]]]
"""Asks the expensive judge about the items at these places."""


class CascadeJudge:
    """An inexpensive judge answers everything; an expensive one decides where the risk that it is wrong reaches `risk`.

    The risk of a yes is the probability of no, that of any other label the probability of yes, that of an unusable
    answer 1. `calibrated` turns the inexpensive judge's probability of yes into people's, where it is known to be off
    (see `fit_calibrator` in `evaluation.statistics`); without a probability the risk is a half. Where the expensive
    judge gives no usable answer the other's stands. Claims, made-up questions, topics and ratings are the inexpensive
    judge's.
    Raises JudgeSettings for what is no judge, InvalidPercent for a risk outside 0 to 1; whatever asks raises what
    either judge does.
    Example: `CascadeJudge(LexicalJudge(), OpenAIJudge("one"), risk=0.25)`.
    """

    kind = "cascade"

    def __init__(
        self,
        cheap: Judge,
        dear: Judge,
        *,
        risk: float = DEFAULT_RISK,
        calibrated: Callable[[float], float] | None = None,
        name: str = "cascade",
    ) -> None:
        self._cheap, self._dear = checked_judge(cheap), checked_judge(dear)
        self._risk = checked_share("The risk", risk)
        self._calibrated = calibrated or (lambda probability: probability)
        self.name = name
        probed: list[Json] = [self._calibrated(place / (_PROBED - 1)) for place in range(_PROBED)]
        everything = canonical([self._cheap.signature, self._dear.signature, risk, probed])
        self.signature = (
            f"cascade#{hashlib.sha256(everything.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        )

    def recalibrated(self, calibrated: Callable[[float], float]) -> "CascadeJudge":
        """The same two judges by another calibration of the inexpensive one, under the same signature."""
        twin = copy(self)
        twin._calibrated = calibrated
        return twin

    @property
    def concurrency(self) -> int:
        """As many calls at once as the inexpensive judge makes, which is asked everything."""
        return self._cheap.concurrency

    async def extract(self, text: Text) -> tuple[ExtractedClaim, ...]:
        """The inexpensive judge's claims of the text."""
        return await self._cheap.extract(text)

    async def check(
        self, claims: Sequence[str], text: Text, *, side: Side = "covered"
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, in the order of the claims."""
        return await self._second(
            await self._cheap.check(claims, text, side=side),
            lambda places: self._dear.check([claims[place] for place in places], text, side=side),
        )

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        """What the inexpensive judge takes from the document, with second opinions on the answers to questions."""
        reading = await self._cheap.read_document(request)
        if not reading.questions:
            return reading
        texts = [question.text for question in reading.questions]

        async def ask(places: Sequence[int]) -> Sequence[Verdict]:
            again = DocumentRequest(
                request.source,
                questions=tuple(texts[place] for place in places),
                instruction=request.instruction,
            )
            return [question.answer for question in (await self._dear.read_document(again)).questions or ()]

        answers = await self._second([question.answer for question in reading.questions], ask)
        return replace(reading, questions=tuple(map(Question, texts, answers)))

    async def align_summary(
        self, source: Text, summary: Text, *, instruction: str = ""
    ) -> tuple[JudgedClaim, ...]:
        """The inexpensive judge's claims of the summary, with second opinions on what the source says of them."""
        aligned = await self._cheap.align_summary(source, summary, instruction=instruction)
        verdicts = await self._second(
            [each.verdict for each in aligned],
            lambda places: self._dear.check_source(
                [aligned[place].claim.text for place in places], source, instruction=instruction
            ),
        )
        return tuple(
            JudgedClaim(each.claim, verdict) for each, verdict in zip(aligned, verdicts, strict=True)
        )

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        """One verdict per claim: does the source bear it out?"""
        return await self._second(
            await self._cheap.check_source(claims, source, instruction=instruction),
            lambda places: self._dear.check_source(
                [claims[place] for place in places], source, instruction=instruction
            ),
        )

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        """What the inexpensive judge finds in the summary, with second opinions on claims and questions."""
        reading = await self._cheap.cover_summary(request)
        asked = [self._places(verdicts) for verdicts in (reading.claims, reading.questions)]
        if not any(asked):
            return reading
        again = await self._dear.cover_summary(
            CoverRequest(
                request.summary,
                claims=tuple(request.claims[place] for place in asked[0]),
                questions=tuple(request.questions[place] for place in asked[1]),
                instruction=request.instruction,
            )
        )
        return replace(
            reading,
            claims=_replaced(reading.claims, asked[0], again.claims),
            questions=_replaced(reading.questions, asked[1], again.questions),
        )

    async def explain(self, facts: Mapping[str, Json], *, instruction: str = "") -> str | None:
        """The inexpensive judge's explanation, else the expensive one's."""
        said = await self._cheap.explain(facts, instruction=instruction)
        return said or await self._dear.explain(facts, instruction=instruction)

    async def aclose(self) -> None:
        """Close both judges' connections of the running event loop."""
        await asyncio.gather(self._cheap.aclose(), self._dear.aclose())

    async def _second(self, verdicts: Sequence[Verdict], ask: Asking) -> tuple[Verdict, ...]:
        places = self._places(verdicts)
        return _replaced(verdicts, places, await ask(places) if places else ())

    def _places(self, verdicts: Sequence[Verdict]) -> list[int]:
        return [place for place, verdict in enumerate(verdicts) if self._risk_of(verdict) >= self._risk]

    def _risk_of(self, verdict: Verdict) -> float:
        if verdict.label is None:
            return 1.0
        if verdict.probability is None:
            return 0.5
        chance = self._calibrated(verdict.probability)
        return 1.0 - chance if verdict.label == "yes" else chance


def _replaced(
    verdicts: Sequence[Verdict], places: Sequence[int], second: Sequence[Verdict]
) -> tuple[Verdict, ...]:
    found = list(verdicts)
    for place, verdict in zip(places, second, strict=False):
        if verdict.label is not None:
            found[place] = verdict
    return tuple(found)

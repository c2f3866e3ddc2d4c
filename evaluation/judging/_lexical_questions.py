"""What a judge made of words alone can do about questions, topics and ratings."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence

from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Json,
    JudgedClaim,
    Question,
    Rating,
    Side,
    Text,
    Verdict,
)
from evaluation.text._words import tokens

_MOST_TOPICS = 5
_NO_RATING = "A judge made of words alone cannot rate how a text reads."
_QUOTED = re.compile(r'^Does the text say: "(?P<statement>.*)"\?$', re.DOTALL)


class LexicalQuestions(ABC):
    """The merged calls of a judge that has `extract` and `check`, answered without any model.

    It makes up questions by quoting the statements whose words are the commonest in the text, and answers a
    question by checking its words as if they were a claim. Ratings stay unscored, and it writes no reasons.
    """

    concurrency = 1

    @abstractmethod
    async def extract(self, text: Text) -> tuple[ExtractedClaim, ...]:
        """The claims of the text, in the order of its units."""

    @abstractmethod
    async def check(
        self, claims: Sequence[str], text: Text, *, side: Side = "covered"
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, in the order of the claims."""

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        """Claims, questions with their answers, and topics, as far as they are wanted."""
        claims = await self.extract(request.claims_text) if request.claims else ()
        asked = [*request.questions]
        if request.n_questions:
            asked += [_question(claim) for claim in await self._statements(request)]
        answers = await self._answers(asked, request.source, "supported")
        return DocumentReading(
            claims,
            tuple(Question(text, answer) for text, answer in zip(asked, answers, strict=True)),
            _topics(request.source) if request.topics else (),
        )

    async def align_summary(
        self, source: Text, summary: Text, *, instruction: str = ""
    ) -> tuple[JudgedClaim, ...]:
        """The summary's claims, each checked against the source; an instruction changes nothing."""
        claims = await self.extract(summary)
        verdicts = await self.check([claim.text for claim in claims], source, side="supported")
        return tuple(JudgedClaim(claim, verdict) for claim, verdict in zip(claims, verdicts, strict=True))

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        """One verdict per claim: does the source bear it out? An instruction changes nothing."""
        return await self.check(claims, source, side="supported")

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        """Claims, questions and topics looked for in the summary; ratings unscored."""
        return CoverReading(
            await self.check(request.claims, request.summary),
            await self._answers(request.questions, request.summary, "covered"),
            await self.check(request.topics, request.summary),
            {name: Rating(None, _NO_RATING) for name in request.ratings},
        )

    async def explain(self, facts: Mapping[str, Json], *, instruction: str = "") -> None:
        """Nothing: words alone write no reasons."""
        return

    async def _statements(self, request: DocumentRequest) -> list[str]:
        """The statements of the source that say most of what it says most often, in their order."""
        language = request.source.language
        counts = Counter(token.key for token in tokens(request.source.text, language))
        statements = list(dict.fromkeys(claim.text for claim in await self.extract(request.source)))

        def weight(position: int) -> tuple[float, int]:
            keys = {token.key for token in tokens(statements[position], language)}
            return (-sum(counts[key] for key in keys) / (len(keys) + 3), position)

        best = sorted(range(len(statements)), key=weight)[: request.n_questions]
        return [statements[position] for position in sorted(best)]

    async def _answers(self, questions: Sequence[str], text: Text, side: Side) -> tuple[Verdict, ...]:
        return await self.check([_statement(question) for question in questions], text, side=side)


def _question(statement: str) -> str:
    return f'Does the text say: "{statement}"?'


def _statement(question: str) -> str:
    """What a closed question asks about, as the words to look for."""
    quoted = _QUOTED.match(question)
    return quoted["statement"] if quoted else question.rstrip(" ?？؟")


def _topics(source: Text) -> tuple[str, ...]:
    """The words that the source uses most, as they first stand in it."""
    counts: Counter[str] = Counter()
    surfaces: dict[str, str] = {}
    for token in tokens(source.text, source.language):
        surface = source.text[token.start : token.end]
        if token.kind in ("name", "content") and _can_be_topic(surface):
            counts[token.key] += 1
            surfaces.setdefault(token.key, surface)
    return tuple(surfaces[key] for key, _ in counts.most_common(_MOST_TOPICS))


def _can_be_topic(surface: str) -> bool:
    # Two letters say little in an alphabet and much in a script of signs.
    return len(surface) >= (3 if surface.isascii() else 2)

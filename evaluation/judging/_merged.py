"""The merged calls: what they ask for in one go, and what their replies mean."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from evaluation._means import mean
from evaluation.judging._asking import Answered, Question
from evaluation.judging._windows import merged, windows
from evaluation.judging.parsing import (
    Answer,
    parse_aligned,
    parse_claims,
    parse_questions,
    parse_ratings,
    parse_topics,
    parse_verdicts,
)
from evaluation.judging.prompts import Pieces, align_input, cover_input, read_input
from evaluation.judging.protocol import (
    BLANK_TEXT_REASON,
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Json,
    Rating,
    RatingName,
    Text,
    Verdict,
    verdict_by_rule,
)
from evaluation.judging.protocol import Question as ClosedQuestion

MOST_TOPICS = 5

_K = TypeVar("_K")
Taken: TypeAlias = tuple[str, ...] | tuple[str, Answer] | Answer
"""Of a document: a unit's claims or the topics, a made-up question with its answer, an answer."""
Found: TypeAlias = Answer | Rating
Unit: TypeAlias = tuple[str, int]


def is_worded(content: str) -> bool:
    """Whether there is anything in it that could be claimed."""
    return any(character.isalnum() for character in content)


def located(claim: str, unit: int, text: Text) -> ExtractedClaim:
    """The claim with its place in the text where it stands there word for word."""
    span = text.unit_spans[unit - 1]
    start = text.text.find(claim, span.start, span.end)
    if start < 0:
        return ExtractedClaim(claim, unit)
    return ExtractedClaim(claim, unit, start, start + len(claim))


def verdict_of(answered: Answered[Answer]) -> Verdict:
    """The answer as a verdict; unscored with the reason where there is none."""
    answer = answered.answer
    if answer is None:
        return Verdict(None, reason=f"Unscored: {answered.reason}", call=answered.call)
    return Verdict(answer.label, answer.probability, answer.evidence, answer.reason, answered.call)


def over_windows(parts: Iterable[Mapping[_K, Answered[Answer]]], item: _K) -> Answered[Answer]:
    """One answer to an item that was asked about in each window of a text."""
    found = [part[item] for part in parts if item in part]
    if len(found) == 1:
        return found[0]
    answer = merged([each.answer for each in found])
    if answer is None:
        return next(each for each in found if each.answer is None)
    deciding = next(each for each in found if each.answer and each.answer.label == answer.label)
    return Answered(answer, "", deciding.call)


def align_question(
    source: Text, summary: Text, worded: Sequence[int], instruction: str
) -> Question[int, tuple[tuple[str, Answer | None], ...]]:
    """The question for a summary's claims by unit, each with what the source says of it."""
    pieces, units = list(source.numbered_units()), list(summary.numbered_units())
    everything = set(worded)
    count = len(source.unit_spans)
    return Question(
        "align_summary",
        compose=lambda wanted: align_input(pieces, units, None if set(wanted) == everything else wanted),
        parse=lambda reply, wanted: parse_aligned(reply, wanted, count),
        parts=lambda wanted: ("units",) if set(wanted) == everything else ("units", "wanted"),
        instruction=instruction,
    )


class ReadItems:
    """What a `DocumentRequest` asks for, item by item.

    An item is a unit whose claims are wanted (u1), a given question (q1), one to be made up (g1.1, counted by
    window) or the topics.
    """

    def __init__(self, request: DocumentRequest) -> None:
        self._request = request
        self._given = {f"q{position + 1}": text for position, text in enumerate(request.questions)}
        self._rules = {
            identity: rule
            for identity, text in self._given.items()
            if (rule := verdict_by_rule(text, request.source)) is not None
        }
        self._units = (
            {
                f"u{number}": number
                for number, content in request.claims_text.numbered_units()
                if is_worded(content)
            }
            if request.claims
            else {}
        )
        self._reference = (
            tuple(request.reference.numbered_units()) if request.reference is not None and self._units else ()
        )

    @property
    def extra(self) -> str:
        """The text that every call may hold beside the source."""
        reference = "" if self._request.reference is None else self._request.reference.text
        return " ".join([reference, *self._request.questions])

    def questions(self, room: int | None) -> list[tuple[Question[str, Taken], list[str]]]:
        """A question for every window of the source, with its items."""
        request = self._request
        needs_source = bool(
            (self._units and not self._reference)
            or request.questions
            or request.n_questions
            or request.topics
        )
        found = windows(request.source, room) if needs_source else [()]
        return [(self._question(pieces), self._items(pieces, *at)) for at, pieces in _counted(found)]

    def reading(self, parts: Sequence[Mapping[str, Answered[Taken]]]) -> DocumentReading:
        """What the answers say, and why where they say nothing."""
        faults: dict[str, str] = {}
        claims: list[ExtractedClaim] = []
        for item, number in self._units.items():
            for answered in (part[item] for part in parts if item in part):
                if answered.answer is None:
                    faults.setdefault("claims", f"No claims for unit {number}: {answered.reason}")
                elif isinstance(answered.answer, tuple):
                    claims += [
                        located(str(claim), number, self._request.claims_text) for claim in answered.answer
                    ]
        questions = self._answered(parts)
        made_up = [answered for part in parts for item, answered in part.items() if item.startswith("g")]
        if made_up and not questions:
            faults["questions"] = f"No questions: {made_up[0].reason}"
        topics = [part["topics"] for part in parts if "topics" in part]
        named = dict.fromkeys(str(topic) for each in topics for topic in each.answer or ())  # type: ignore[union-attr]
        if topics and not named:
            faults["topics"] = f"No topics: {topics[0].reason}"
        return DocumentReading(
            None if "claims" in faults else tuple(claims),
            None if "questions" in faults else questions,
            None if "topics" in faults else tuple(named)[:MOST_TOPICS],
            faults,
        )

    def _answered(self, parts: Sequence[Mapping[str, Answered[Taken]]]) -> tuple[ClosedQuestion, ...]:
        answers: list[Mapping[str, Answered[Answer]]] = [
            {item: answered for item, answered in part.items() if item in self._given}  # type: ignore[misc]
            for part in parts
        ]
        questions = {
            text: self._rules.get(identity) or verdict_of(over_windows(answers, identity))
            for identity, text in self._given.items()
        }
        for part in parts:
            for item, answered in part.items():
                if item.startswith("g") and isinstance(answered.answer, tuple) and answered.answer:
                    text, answer = answered.answer
                    questions.setdefault(text, verdict_of(Answered(answer, "", answered.call)))  # type: ignore[arg-type]
        return tuple(ClosedQuestion(text, verdict) for text, verdict in questions.items())

    def _items(self, pieces: Pieces, window: int, windows: int) -> list[str]:
        request = self._request
        shown = {f"u{number}" for number, _ in pieces}
        units = [item for item in self._units if (window == 0 if self._reference else item in shown)]
        asked = [identity for identity in self._given if identity not in self._rules]
        if request.source.is_blank:
            return units
        # Every window makes up its share, the first ones the rest.
        share = request.n_questions // windows + (window < request.n_questions % windows)
        made_up = [f"g{window + 1}.{position + 1}" for position in range(share)]
        return [*units, *asked, *made_up, *(["topics"] if request.topics else [])]

    def _question(self, pieces: Pieces) -> Question[str, Taken]:
        shown = {f"u{number}" for number, _ in pieces}
        everything = {item for item in self._units if self._reference or item in shown}
        count = len(self._request.source.unit_spans)

        def is_partial(units: Sequence[str]) -> bool:
            return bool(units) and set(units) != everything

        def compose(items: Sequence[str]) -> Json:
            units = [item for item in items if item in self._units]
            needs_source = not self._reference or len(units) < len(items)
            return read_input(
                pieces if needs_source else (),
                reference=self._reference if units else (),
                wanted=[self._units[item] for item in units] if is_partial(units) else None,
                questions={item: self._given[item] for item in items if item in self._given},
                n_questions=sum(item.startswith("g") for item in items),
            )

        def parts(items: Sequence[str]) -> list[str]:
            units = [item for item in items if item in self._units]
            asked = {
                ("reference_claims" if self._reference else "claims"): bool(units),
                "wanted": is_partial(units),
                "questions": any(item in self._given for item in items),
                "n_questions": any(item.startswith("g") for item in items),
                "topics": "topics" in items,
            }
            return [name for name, is_asked in asked.items() if is_asked]

        def parse(reply: str, items: Sequence[str]) -> dict[str, Taken]:
            numbers = {self._units[item]: item for item in items if item in self._units}
            taken: dict[str, Taken] = {
                numbers[number]: claims for number, claims in parse_claims(reply, numbers).items()
            }
            given = [item for item in items if item in self._given]
            taken.update(parse_verdicts(reply, given, count, "answers"))
            made_up = [item for item in items if item.startswith("g")]
            found = list(parse_questions(reply, count).items()) if made_up else []
            if found:
                # A short text may hold fewer questions than were wanted: the others are not worth a call.
                taken.update(dict.fromkeys(made_up, ()))
                taken.update(zip(made_up, found, strict=False))
            if "topics" in items and (topics := parse_topics(reply)):
                taken["topics"] = topics
            return taken

        return Question("read_document", compose, parse, parts, self._request.instruction)


class CoverItems:
    """What a `CoverRequest` asks for, item by item: claims (c1), questions (q1), topics (t1), rating names."""

    def __init__(self, request: CoverRequest) -> None:
        self._request = request
        self._kinds: dict[str, dict[str, str]] = {
            kind: {f"{kind[0]}{position + 1}": text for position, text in enumerate(texts)}
            for kind, texts in (
                ("claims", request.claims),
                ("questions", request.questions),
                ("topics", request.topics),
            )
        }
        self._rules = {
            item: rule
            for texts in self._kinds.values()
            for item, text in texts.items()
            if (rule := verdict_by_rule(text, request.summary)) is not None
        }
        self._ratings: tuple[RatingName, ...] = () if request.summary.is_blank else request.ratings

    @property
    def texts(self) -> list[str]:
        """Every claim, question and topic."""
        return [text for texts in self._kinds.values() for text in texts.values()]

    @property
    def asked(self) -> list[str]:
        """The items that need the judge."""
        items = [item for texts in self._kinds.values() for item in texts if item not in self._rules]
        return [*items, *self._ratings]

    def question(self, pieces: Pieces) -> Question[str, Found]:
        """The question about these pieces of the summary."""
        count = len(self._request.summary.unit_spans)

        def chosen(items: Sequence[str]) -> dict[str, dict[str, str]]:
            wanted = set(items)
            return {
                kind: {item: text for item, text in texts.items() if item in wanted}
                for kind, texts in self._kinds.items()
            }

        def ratings(items: Sequence[str]) -> list[RatingName]:
            return [name for name in self._ratings if name in items]

        def parse(reply: str, items: Sequence[str]) -> dict[str, Found]:
            rated = ratings(items)
            identities = [item for item in items if item not in rated]
            found: dict[str, Found] = dict(parse_verdicts(reply, identities, count, "answers"))
            if rated:
                rates = parse_ratings(reply, rated)
                found.update({name: Rating(value, reason) for name, (value, reason) in rates.items()})
            return found

        def parts(items: Sequence[str]) -> list[str]:
            kinds = [kind for kind, texts in chosen(items).items() if texts]
            return [*kinds, "ratings"] if ratings(items) else kinds

        return Question(
            "cover_summary",
            compose=lambda items: cover_input(pieces, chosen(items), ratings(items)),
            parse=parse,
            parts=parts,
            instruction=self._request.instruction,
        )

    def reading(self, parts: Sequence[Mapping[str, Answered[Found]]]) -> CoverReading:
        """What the answers say."""
        rated = {name: [part[name] for part in parts if name in part] for name in self._request.ratings}
        answers: list[Mapping[str, Answered[Answer]]] = [
            {item: answered for item, answered in part.items() if item not in rated}  # type: ignore[misc]
            for part in parts
        ]
        verdicts = {
            kind: tuple(self._rules.get(item) or verdict_of(over_windows(answers, item)) for item in texts)
            for kind, texts in self._kinds.items()
        }
        return CoverReading(
            verdicts["claims"],
            verdicts["questions"],
            verdicts["topics"],
            {name: _rating(found) for name, found in rated.items()},
        )


def _rating(found: Sequence[Answered[Found]]) -> Rating:
    """A rating of the whole text: the mean of its windows', where all have one."""
    if not found:
        return Rating(None, BLANK_TEXT_REASON)
    given = [answered.answer for answered in found if isinstance(answered.answer, Rating)]
    if len(given) < len(found):
        missing = next(answered for answered in found if not isinstance(answered.answer, Rating))
        return Rating(None, f"Unscored: {missing.reason}", missing.call)
    return Rating(mean(rating.value for rating in given), given[0].reason, found[0].call)


def _counted(found: Sequence[Pieces]) -> list[tuple[tuple[int, int], Pieces]]:
    return [((position, len(found)), pieces) for position, pieces in enumerate(found)]

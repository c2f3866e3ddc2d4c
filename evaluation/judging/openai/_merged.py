"""The items that each step asks about, the calls for them, and the results of the replies."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any, TypeAlias, TypeVar

from evaluation.judging._windows import fitted, merged, named_bytes, pieces_bytes, windows
from evaluation.judging.openai._asking import Answered, Question
from evaluation.judging.orchestration import chunks
from evaluation.judging.parsing import (
    Answer,
    answer_fault,
    criterion_fault,
    expected_values,
    list_fault,
    parse_aligned,
    parse_claims,
    parse_criteria,
    parse_questions,
    parse_topics,
    parse_verdicts,
    unit_fault,
)
from evaluation.judging.prompts import (
    Pieces,
    Step,
    align_input,
    cover_input,
    criteria_asked,
    numbered,
    read_input,
)
from evaluation.judging.protocol import (
    BLANK_TEXT_REASON,
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Json,
    Rating,
    StoredCall,
    Text,
    Verdict,
    combined,
    is_worded,
    verdict_by_rule,
)
from evaluation.judging.protocol import Question as ClosedQuestion
from evaluation.metrics._criteria import Criterion

MOST_TOPICS = 5
TOO_LONG = "Unscored: the texts do not fit into one call."

_K = TypeVar("_K")


@dataclass(frozen=True, slots=True)
class Listed:
    """A unit's claims, or the topics. An empty list is an answer: there are none."""

    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MadeUp:
    """A question that the judge generated, with the judge's answer."""

    question: str
    answer: Answer


Taken: TypeAlias = Listed | MadeUp | Answer
"""The answer to an item of a document."""
Found: TypeAlias = Answer | Rating
"""The answer to an item of a summary."""
ReadCall: TypeAlias = tuple[Question[str, Taken], Sequence[str]]


def located(claim: str, unit: int, text: Text) -> ExtractedClaim:
    """Return the claim with its unit, and with offsets if the unit contains the claim literally."""
    span = text.unit_spans[unit - 1]
    start = text.text.find(claim, span.start, span.end)
    if start < 0:
        return ExtractedClaim(claim, unit)
    return ExtractedClaim(claim, unit, start, start + len(claim))


def verdict_of(answered: Answered[Answer]) -> Verdict:
    """Turn an answer into a verdict. Without an answer the verdict is unscored and has the reason."""
    answer = answered.answer
    if answer is None:
        return Verdict(None, reason=f"Unscored: {answered.reason}", call=answered.call)
    return Verdict(answer.label, answer.probability, answer.evidence, answer.reason, answered.call)


def over_windows(parts: Iterable[Mapping[_K, Answered[Any]]], item: _K) -> Answered[Answer]:
    """Merge the answers to an item from all windows of a text."""
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
    """Build the question that asks for a summary's claims by unit, each with a check against the source."""
    pieces, units = list(source.numbered_units()), list(summary.numbered_units())
    everything = set(worded)
    count = len(source.unit_spans)
    return Question(
        "align_summary",
        compose=lambda wanted: align_input(pieces, units, None if set(wanted) == everything else wanted),
        parse=lambda call, wanted: parse_aligned(call.reply, wanted, len(summary.unit_spans), count),
        parts=lambda wanted: ("units",) if set(wanted) == everything else ("units", "wanted"),
        fault_of=lambda reply, _, number: unit_fault(reply, number, len(summary.unit_spans)),
        instruction=instruction,
    )


class ReadItems:
    """The items of a `DocumentRequest`.

    An item is a unit whose claims are requested (u1), a given question (q1), a question to generate (g1.1, numbered
    by window) or the topics. If reference and source fit into a call together, they share calls. Otherwise separate
    calls read the reference without the source.
    """

    def __init__(self, request: DocumentRequest) -> None:
        self._request = request
        self._given = {f"q{position + 1}": text for position, text in enumerate(request.questions)}
        self._rules = {
            identity: rule
            for identity, text in self._given.items()
            if (rule := verdict_by_rule(text, request.source)) is not None
        }
        units = request.claims_text.numbered_units() if request.claims else ()
        self._units = {f"u{number}": number for number, content in units if is_worded(content)}
        reference = request.reference if self._units else None
        self._reference = tuple(reference.numbered_units()) if reference is not None else ()

    def calls(self, room: int | None, most: int) -> list[ReadCall]:
        """Plan the calls, each with at most `most` items. Texts and questions are cut for `room` (see `fitted`)."""
        source = list(self._request.source.numbered_units())
        asked = self._of_source(source, 0, 1)
        if self._reference and asked and (room is None or self._bytes(source) <= room):
            question = self._question(source, self._reference)
            return [(question, chunk) for chunk in chunks([*self._units, *asked], most)]
        on_source = self._on_source(room, most) if asked else ()
        return [*self._on_reference(room, most), *on_source]

    def _bytes(self, source: Pieces) -> int:
        given = named_bytes(self._given[item] for item in self._asked)
        return pieces_bytes(source) + pieces_bytes(self._reference) + given

    def _on_reference(self, room: int | None, most: int) -> Iterator[ReadCall]:
        for pieces in windows(self._request.claims_text, room) if self._reference else ():
            question = self._question((), pieces)
            for chunk in chunks(self._shown(pieces), most):
                yield question, chunk

    def _on_source(self, room: int | None, most: int) -> Iterator[ReadCall]:
        def size(item: str) -> int:
            return named_bytes([self._given[item]]) if item in self._given else 0

        found, cut = fitted(self._request.source, self._asked, size, most, room)
        largest = max((sum(map(size, chunk)) for chunk in cut), default=0)
        for window, pieces in enumerate(found):
            question = self._question(pieces, ())
            for chunk in chunks(self._of_source(pieces, window, len(found)), most, largest, size):
                yield question, chunk

    def is_unit(self, item: str) -> bool:
        """Return True if the item is a unit whose claims are requested."""
        return item in self._units

    def reading(self, parts: Sequence[Mapping[str, Answered[Taken]]]) -> DocumentReading:
        """Combine the answers of all calls into a reading. A part that failed is None and has a fault."""
        faults: dict[str, str] = {}
        claims: list[ExtractedClaim] = []
        for item, number in self._units.items():
            for answered in (part[item] for part in parts if item in part):
                if answered.answer is None:
                    faults.setdefault("claims", f"No claims for unit {number}: {answered.reason}")
                elif isinstance(answered.answer, Listed):
                    claims += [
                        located(claim, number, self._request.claims_text) for claim in answered.answer.texts
                    ]
        questions = self._answered(parts)
        made_up = [answered for part in parts for item, answered in part.items() if item.startswith("g")]
        if made_up and not questions:
            faults["questions"] = f"No questions: {made_up[0].reason}"
        topics = [part["topics"] for part in parts if "topics" in part]
        lists = [each.answer.texts for each in topics if isinstance(each.answer, Listed)]
        named = dict.fromkeys(topic for listed in lists for topic in listed)
        if topics and not named:
            faults["topics"] = f"No topics: {topics[0].reason}"
        return DocumentReading(
            None if "claims" in faults else tuple(claims),
            None if "questions" in faults else questions,
            None if "topics" in faults else tuple(named)[:MOST_TOPICS],
            faults,
        )

    def _answered(self, parts: Sequence[Mapping[str, Answered[Taken]]]) -> tuple[ClosedQuestion, ...]:
        questions = {
            text: self._rules.get(identity) or verdict_of(over_windows(parts, identity))
            for identity, text in self._given.items()
        }
        for part in parts:
            for answered in part.values():
                if isinstance(answered.answer, MadeUp):
                    verdict = verdict_of(Answered(answered.answer.answer, "", answered.call))
                    questions.setdefault(answered.answer.question, verdict)
        return tuple(ClosedQuestion(text, verdict) for text, verdict in questions.items())

    @property
    def _asked(self) -> list[str]:
        return [identity for identity in self._given if identity not in self._rules]

    def _shown(self, pieces: Pieces) -> list[str]:
        shown = dict.fromkeys(f"u{number}" for number, _ in pieces)
        return [item for item in shown if item in self._units]

    def _of_source(self, pieces: Pieces, window: int, windows: int) -> list[str]:
        request = self._request
        if request.source.is_blank:
            return []
        # Every window generates an equal share of the questions; a remainder goes to the first windows.
        share = request.n_questions // windows + (window < request.n_questions % windows)
        made_up = [f"g{window + 1}.{position + 1}" for position in range(share)]
        units = [] if self._reference else self._shown(pieces)
        return [*units, *self._asked, *made_up, *(["topics"] if request.topics else [])]

    def _question(self, pieces: Pieces, reference: Pieces) -> Question[str, Taken]:
        everything = set(self._shown(reference or pieces))
        count = len(self._request.source.unit_spans)
        units_of_text = len((self._request.reference or self._request.source).unit_spans)

        def is_partial(units: Sequence[str]) -> bool:
            return bool(units) and set(units) != everything

        def compose(items: Sequence[str]) -> Json:
            units = [item for item in items if item in self._units]
            needs_source = not reference or len(units) < len(items)
            return read_input(
                pieces if needs_source else (),
                reference=reference if units else (),
                wanted=[self._units[item] for item in units] if is_partial(units) else None,
                questions={item: self._given[item] for item in items if item in self._given},
                n_questions=sum(item.startswith("g") for item in items),
            )

        def parts(items: Sequence[str]) -> list[str]:
            units = [item for item in items if item in self._units]
            asked = {
                ("reference_claims" if reference else "claims"): bool(units),
                "wanted": is_partial(units),
                "questions": any(item in self._given for item in items),
                "n_questions": any(item.startswith("g") for item in items),
                "topics": "topics" in items,
            }
            return [name for name, is_asked in asked.items() if is_asked]

        def parse(call: StoredCall, items: Sequence[str]) -> dict[str, Taken]:
            reply = call.reply
            numbers = {self._units[item]: item for item in items if item in self._units}
            taken: dict[str, Taken] = {
                numbers[number]: Listed(claims)
                for number, claims in parse_claims(reply, numbers, units_of_text).items()
            }
            given = [item for item in items if item in self._given]
            taken.update(parse_verdicts(reply, given, count))
            made_up = [item for item in items if item.startswith("g")]
            found = list(starmap(MadeUp, parse_questions(reply, count).items())) if made_up else []
            if found:
                # A short text may give fewer questions than requested; do not ask for the missing questions again.
                taken.update(dict.fromkeys(made_up, Listed()))
                taken.update(zip(made_up, found, strict=False))
            if "topics" in items and (topics := parse_topics(reply)):
                taken["topics"] = Listed(topics)
            return taken

        def fault_of(reply: str, items: Sequence[str], item: str) -> str:
            if item in self._units:
                return unit_fault(reply, self._units[item], units_of_text)
            if item in self._given:
                return answer_fault(reply, [each for each in items if each in self._given], item)
            return list_fault(reply, "topics" if item == "topics" else "questions")

        return Question("read_document", compose, parse, parts, fault_of, self._request.instruction)


class CoverItems:
    """The items of a `CoverRequest` under their ids in the prompt.

    Claims, questions, topics and criteria are numbered (c1, q1, t1, r1). In the step `check_supported`, a request has
    only claims, with the source as its `summary`, or only criteria with the text `beside`.
    """

    def __init__(self, request: CoverRequest, step: Step = "cover_summary") -> None:
        self._request = request
        self._step = step
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
        self._criteria = {f"r{number}": each for number, each in enumerate(request.criteria, start=1)}

    def calls(self, room: int | None, most: int) -> list[tuple[Question[str, Found], Sequence[str]]]:
        """Plan the calls, each with at most `most` claims, questions and topics.

        The summary and these items are cut for `room` bytes (see `fitted`). Criteria are added to the first items. The
        list is also empty if the summary and the text `beside` exceed `room`.
        """
        texts = {item: text for listed in self._kinds.values() for item, text in listed.items()}
        # A rule answers the other items.
        asked = [item for item in texts if item not in self._rules]

        def size(item: str) -> int:
            return named_bytes([texts[item]]) if item in texts else 0

        beside = self._request.beside
        beside_bytes = 0 if beside is None else pieces_bytes(list(beside.numbered_units()))
        if room is not None and beside is not None:
            room -= beside_bytes + pieces_bytes(list(self._request.summary.numbered_units()))
            if room < 0:
                return []
        found, cut = fitted(self._request.summary, asked, size, most, None if beside else room)
        # Criteria need no call of their own if another item is asked about.
        if self._criteria and not self._request.summary.is_blank:
            cut = [[*(cut[0] if cut else ()), *self._criteria], *cut[1:]]
        return [(self._question(pieces), chunk) for pieces in found for chunk in cut]

    def _question(self, pieces: Pieces) -> Question[str, Found]:
        count = len(self._request.summary.unit_spans)

        def chosen(items: Sequence[str]) -> dict[str, dict[str, str]]:
            wanted = set(items)
            return {
                kind: {item: text for item, text in texts.items() if item in wanted}
                for kind, texts in self._kinds.items()
            }

        def criteria(items: Sequence[str]) -> dict[str, Criterion]:
            return {item: each for item, each in self._criteria.items() if item in items}

        def judged(items: Sequence[str]) -> list[str]:
            return [item for item in items if item not in self._criteria]

        def parse(call: StoredCall, items: Sequence[str]) -> dict[str, Found]:
            found: dict[str, Found] = dict(parse_verdicts(call.reply, judged(items), count))
            own = criteria(items)
            expected = expected_values(call.reply, call.chances, own)
            for item, (value, reason, evidence, sure) in parse_criteria(call.reply, own, count).items():
                found[item] = Rating(value, reason, None, evidence, sure, expected.get(item))
            return found

        def parts(items: Sequence[str]) -> list[str]:
            asked = {**chosen(items), "criteria": criteria(items)}
            return [kind for kind, some in asked.items() if some]

        def compose(items: Sequence[str]) -> Json:
            if self._request.beside is not None:
                beside = numbered(list(self._request.beside.numbered_units()))
                return {
                    "text": beside,
                    "summary": numbered(pieces),
                    "criteria": criteria_asked(criteria(items)),
                }
            if self._step == "check_supported":
                return {"text": numbered(pieces), "claims": chosen(items)["claims"]}
            return cover_input(pieces, chosen(items), criteria(items))

        def fault_of(reply: str, items: Sequence[str], item: str) -> str:
            if item in self._criteria:
                return criterion_fault(reply, criteria(items), item)
            return answer_fault(reply, judged(items), item)

        return Question(self._step, compose, parse, parts, fault_of, self._request.instruction)

    def reading(self, parts: Sequence[Mapping[str, Answered[Found]]]) -> CoverReading:
        """Combine the answers of all calls into a reading."""
        otherwise = BLANK_TEXT_REASON if self._request.summary.is_blank else TOO_LONG
        rated = {
            each.name: _rating([part[item] for part in parts if item in part], otherwise)
            for item, each in self._criteria.items()
        }
        return CoverReading(
            self._verdicts("claims", parts),
            self._verdicts("questions", parts),
            self._verdicts("topics", parts),
            rated,
        )

    def _verdicts(self, kind: str, parts: Sequence[Mapping[str, Answered[Found]]]) -> tuple[Verdict, ...]:
        return tuple(
            self._rules.get(item) or verdict_of(over_windows(parts, item)) for item in self._kinds[kind]
        )


def _rating(found: Sequence[Answered[Found]], otherwise: str) -> Rating:
    if not found:
        return Rating(None, otherwise)
    given = [answered.answer for answered in found if isinstance(answered.answer, Rating)]
    if len(given) < len(found):
        missing = next(answered for answered in found if not isinstance(answered.answer, Rating))
        return Rating(None, f"Unscored: {missing.reason}", missing.call)
    return replace(combined(given), reason=given[0].reason, call=found[0].call)

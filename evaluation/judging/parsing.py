"""Read answers by id from an LLM's reply.

An answer to an item counts only if it is JSON, has a known id or number, and has an unambiguous value. Text up to the
last closing tag of the model's thinking is ignored; tags inside JSON values are quotations. Some faults are repaired:
code fences and prose around the JSON, JSON inside a JSON string, raw line breaks in strings, trailing commas, letter
case, "Yes.", numbers instead of strings.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from evaluation._labels import LABEL_SYNONYMS, LABELS, Label
from evaluation.metrics._criteria import Criterion

LONGEST_REASON = 500
LONGEST_CLAIM = 2000

# The limit on attempts to parse a reply, which may consist of brackets. An attempt that fails only at the end of the
# reply is slow and counts as 25.
_MOST_STARTS = 200
# Names of tags around the thinking of open models, also with escaped angle brackets: DeepSeek, Qwen and others;
# Magistral; Seed; Kimi; Command; Sky; gpt-oss; Gemma.
_NAMES = (
    r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection|longcat_think|scratchpad|analysis)"
    r"\b[^<>&]{0,99}(?:>|&gt;)"
)
_PLACE = re.compile(
    rf"(?P<end>(?:<|&lt;)\s?/\s?{_NAMES}|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>"
    r"|<\|channel\|>\s*final\b|assistantfinal|<channel\|>)"
    rf"|(?P<begin>(?:<|&lt;){_NAMES}|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>"
    r"|<\|channel\|>\s*(?:analysis|commentary)\b|<\|channel>\s*thought\b)"
    r"|(?<!\":)(?<!\": )\{(?=\s*[\"}])|\[(?=\s*(?:[\[{\"\]\d-]|true|false|null|NaN|Inf))",
    re.IGNORECASE,
)
# Let an unclosed string reach the end of the reply, so that a reply of many quotes is scanned once.
_TRAILING_COMMA = re.compile(r"""("(?:[^"\\]|\\.)*"?)|,(?=\s*[}\]])""", re.DOTALL)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\s]+")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_AROUND_LABEL = " \t\r\n.,;:!\"'`*_()[]«»„“”。！「」"
_LABELS = {word: label for label in LABELS for word in (label, *LABEL_SYNONYMS[label])}

_A = TypeVar("_A")


@dataclass(frozen=True, slots=True)
class Answer:
    """A usable answer to one check; the fields are described at `Verdict`."""

    label: Label
    probability: float | None = None
    evidence: tuple[int, ...] = ()
    reason: str = ""


class Rated(NamedTuple):
    """A usable answer to a criterion: a value of its scale; `protocol.Rating` describes the fields."""

    value: float
    reason: str
    evidence: tuple[int, ...]
    confidence: float | None


def parse_verdicts(reply: str, ids: Collection[str], units: int) -> dict[str, Answer]:
    """Read the usable answers of a reply by claim id; an id without a usable answer is absent.

    `units` is the number of units of the text; evidence with larger numbers is dropped. An id has no answer if its
    labels differ or if one of them is unreadable. Two faults make the whole reply unusable. If it lacks an id and
    has an unknown one in its place, its answers may belong to other claims. If a label is a number such as 2 or 5, the
    scale of all labels is unknown.
    Example: `parse_verdicts('{"answers": [{"id": "c1", "label": "Yes."}]}', ["c1"], 3)` has the label "yes" for c1.
    """
    if any(map(_is_on_a_scale, chain(*_entries(reply, "answers")))):
        return {}
    return _by_id(reply, "answers", ids, "label", lambda _, entry: _answer(entry, units))


def parse_claims(reply: str, wanted: Collection[int], count: int) -> dict[int, tuple[str, ...]]:
    """Read the claims of a reply by unit number; wanted units without a usable answer are absent.

    An empty list is an answer: the unit states nothing. If the reply gives a unit twice with different claims, the unit
    has no answer. The whole reply is unusable if it contains the unit 0 or `count` + 1, because then the reply may
    number the units differently.
    Example: `parse_claims('{"units": [{"unit": "2", "claims": ["It rained."]}]}', [2], 2)` is `{2: ("It rained.",)}`.
    """

    def read(entry: dict[str, Any]) -> tuple[int, tuple[str, ...]] | None:
        unit = _whole_number(entry.get("unit"))
        claims = entry.get("claims")
        if unit is None or unit not in wanted or not isinstance(claims, list):
            return None
        if not all(isinstance(claim, str) for claim in claims):
            return None
        lines = (one_line(claim, LONGEST_CLAIM) for claim in claims)
        return unit, tuple(dict.fromkeys(line for line in lines if line))

    return _by_key(_units(reply, count), read, lambda claims: claims)


def parse_aligned(
    reply: str, wanted: Collection[int], count: int, units: int
) -> dict[int, tuple[tuple[str, Answer | None], ...]]:
    """Read the claims of a reply by unit number, each with its answer; units without usable claims are absent.

    The whole reply is unusable if its numbering is wrong, as in `parse_claims`, or if a label is a number other than 0
    and 1. The answer to a claim is None if it is unreadable or if the unit repeats the claim with another label.
    `units` is the number of units of the source; evidence with larger numbers is dropped.
    """
    values = _units(reply, count)
    listed = chain.from_iterable(_list(entry.get("claims")) for entry in chain(*values))
    if any(_is_on_a_scale(item) for item in listed if isinstance(item, dict)):
        return {}

    def read(entry: dict[str, Any]) -> tuple[int, tuple[tuple[str, Answer | None], ...]] | None:
        unit = _whole_number(entry.get("unit"))
        listed = entry.get("claims")
        if unit is None or unit not in wanted or not isinstance(listed, list):
            return None
        claims: dict[str, Answer | None] = {}
        for item in listed:
            claim = one_line(_text(item.get("claim")), LONGEST_CLAIM) if isinstance(item, dict) else ""
            if not claim:
                return None
            answer = _answer(item, units)
            before = claims.get(claim, answer)
            agreed = answer is not None and before is not None and before.label == answer.label
            claims[claim] = before if agreed else None
        return unit, tuple(claims.items())

    return _by_key(
        values, read, lambda claims: tuple((claim, answer and answer.label) for claim, answer in claims)
    )


def parse_questions(reply: str, units: int) -> dict[str, Answer]:
    """Read the generated questions of a reply, in order, with their answers; questions without usable answers are
    absent.

    The result is empty if the reply has different lists of questions.
    """

    def read(entry: dict[str, Any]) -> tuple[str, Answer] | None:
        question = one_line(_text(entry.get("question")), LONGEST_CLAIM)
        answer = _answer(entry, units)
        return (question, answer) if question and answer is not None else None

    values = (
        _by_key([entries], read, lambda answer: answer.label) for entries in _entries(reply, "questions")
    )
    lists = [found for found in values if found]
    return lists[0] if lists and lists.count(lists[0]) == len(lists) else {}


def parse_topics(reply: str) -> tuple[str, ...]:
    """Read the distinct topics of a reply, in order. The result is empty if there is no list, or different lists."""
    lists = {
        tuple(dict.fromkeys(one_line(topic, LONGEST_REASON) for topic in listed if isinstance(topic, str)))
        for value in _json_values(reply)
        if isinstance(value, dict) and isinstance(listed := value.get("topics"), list)
    }
    return tuple(filter(None, *lists)) if len(lists) == 1 else ()


def parse_criteria(reply: str, criteria: Mapping[str, Criterion], units: int) -> dict[str, Rated]:
    """Read the usable answers to criteria by id; an id without a usable answer is absent.

    A value counts if it is on the scale of its criterion, as a number or in the words of the scale. An id has no answer
    if its values differ or if one of them is off the scale. The whole reply is unusable if it has an unknown id in
    place of a missing one, such as "c9" for "c2". Its answers may then belong to other criteria. If an answer to a
    share is outside [0, 1], such as 3 or "4/5", no share has an answer.
    """
    off = _off_shares(reply, criteria)

    def rated(identity: str, entry: dict[str, Any]) -> Rated | None:
        value, sure = read_value(entry["value"], criteria[identity]), _number(entry.get("confidence"))
        if value is None or (off and criteria[identity].scale == "share"):
            return None
        reason = one_line(_text(entry.get("reason")), LONGEST_REASON)
        evidence = _unit_numbers(entry.get("evidence"), units)
        return Rated(value, reason, evidence, sure if sure is not None and 0 <= sure <= 1 else None)

    return _by_id(reply, "criteria", criteria, "value", rated)


def read_value(value: object, criterion: Criterion) -> float | None:
    """Read a value on a criterion's scale; None if the value is off the scale or unclear.

    Example: on a yes-or-no scale, 1, True, "Yes." and "yes" are 1; on a scale from 1 to 5, "4/5" and 3.5 are None.
    """
    if criterion.scale == "share":
        share = _number(value)
        return share if share is not None and 0 <= share <= 1 else None
    if criterion.scale == "yes_no" and (label := read_label(value)) is not None:
        return {"yes": 1, "no": 0}.get(label)
    if isinstance(value, str):
        said = unicodedata.normalize("NFKC", value).strip(_AROUND_LABEL).casefold()
        words = {words.casefold(): number for number, words in criterion.choices}
        if said in words:
            return words[said]
        value = said.removesuffix("%") if criterion.scale == "percent" else said
        if "%" in value:
            return None
    number = _whole_number(value)
    return number if number in criterion.values else None


def expected_values(reply: str, chances: str, criteria: Mapping[str, Criterion]) -> dict[str, float]:
    """Compute the expected value of each criterion from the probabilities of its values, renormalised over the scale.

    `chances` are described at `StoredCall`. An id is absent without probabilities, and if these belong to another value
    than the answer, such as one in the model's thinking. It is also absent if the first token of the answer is unclear:
    "1" may be the beginning of 10. An answer of several digits in one token is clear.
    Example: for a scale of 1 to 5, the value 4 with .6 and 5 with .2 have the expected value 4.25.
    """
    listed: list[dict[str, float]] = json.loads(chances) if chances else []
    known = _by_spelling(criteria)
    entries = [entry for entry in chain(*_entries(reply, "criteria")) if "value" in entry]
    found: dict[str, float] = {}
    for entry, chance in zip(entries, listed, strict=False) if len(entries) == len(listed) else ():
        identity, chosen = known.get(_spelling(entry.get("id"))), next(iter(chance), "")
        if not identity or not chosen or read_value(entry["value"], criteria[identity]) != int(chosen):
            continue
        values = [str(value) for value in criteria[identity].values]
        is_unclear = any(one != other and other.startswith(one) for one in values for other in values)
        total = sum(chance.get(value, 0.0) for value in values)
        if total and (len(chosen) > 1 or not is_unclear):
            found[identity] = sum(int(value) * chance.get(value, 0.0) for value in values) / total
    return found


def criterion_fault(reply: str, criteria: Mapping[str, Criterion], identity: str) -> str:
    """Describe why `parse_criteria` found no answer to an id."""
    entries = list(chain(*_entries(reply, "criteria")))
    known = _by_spelling(criteria)
    own = [entry.get("value") for entry in entries if known.get(_spelling(entry.get("id"))) == identity]
    off = [value for value in own if read_value(value, criteria[identity]) is None]
    strange = [spelling for entry in entries if (spelling := _spelling(entry.get("id"))) not in known]
    return _first_of(
        _form_fault(reply, entries, "criteria"),
        off and f"gives it the value {_quoted(off[0])}, which is off its scale",
        _scale_fault("value", _off_shares(reply, criteria) if criteria[identity].scale == "share" else ()),
        len(own) > 1 and "gives it several values",
        strange and f"answers {_quoted(strange[0])}, which was not asked about",
    )


def answer_fault(reply: str, ids: Collection[str], identity: str) -> str:
    """Describe why `parse_verdicts` found no answer for the id `identity`."""
    entries = list(chain(*_entries(reply, "answers")))
    known = _by_spelling(ids)
    own = [entry for entry in entries if known.get(_spelling(entry.get("id"))) == identity]
    labels = [entry.get("label") for entry in own if entry.get("label") not in (None, "")]
    unreadable = [label for label in labels if read_label(label) is None]
    strange = [spelling for entry in entries if (spelling := _spelling(entry.get("id"))) not in known]
    return _first_of(
        _form_fault(reply, entries, "answers"),
        _scale_fault("label", (entry.get("label") for entry in entries if _is_on_a_scale(entry))),
        unreadable and f"labels it {_quoted(unreadable[0])}, which is none of {', '.join(LABELS)}",
        len(set(map(read_label, labels))) > 1 and "gives it several labels",
        own and not labels and "gives it no label",
        strange and f"answers {_quoted(strange[0])}, which was not asked about",
    )


def unit_fault(reply: str, unit: int, count: int) -> str:
    """Describe why no claims of `unit` could be read from a reply; the text has `count` units."""
    entries = list(chain(*_entries(reply, "units")))
    numbers = [_whole_number(entry.get("unit")) for entry in entries]
    wrong = {0, count + 1}.intersection(numbers)
    listed = chain.from_iterable(_list(entry.get("claims")) for entry in entries)
    labelled = (item for item in listed if isinstance(item, dict) and _is_on_a_scale(item))
    return _first_of(
        _form_fault(reply, entries, "units"),
        wrong and f"counts the units otherwise: it has a unit {min(wrong)}",
        _scale_fault("label", (item.get("label") for item in labelled)),
        numbers.count(unit) > 1 and "lists several sets of claims for it",
        unit in numbers and "does not list its claims as texts",
    )


def list_fault(reply: str, field: str) -> str:
    """Describe why a reply has no readable questions or topics."""
    return _first_of(_form_fault(reply, (), field))


_LONGEST_QUOTATION = 60


def _first_of(*faults: object) -> str:
    return f"the reply {next(filter(None, faults), 'leaves it out')}"


def _form_fault(reply: str, entries: Sequence[object], field: str) -> str:
    if entries:
        return ""
    if not (values := _json_values(reply)):
        return f"holds no JSON: {_quoted(reply)}"
    is_there = any(isinstance(value, dict) and field in value for value in values)
    return f'lists nothing usable under "{field}"' if is_there else f'is JSON without "{field}"'


def _scale_fault(name: str, off: Iterable[object]) -> str:
    found = [*off][:1]
    return f"has a scale of its own, with the {name} {_quoted(found[0])}" if found else ""


def _quoted(value: object) -> str:
    return f"“{one_line(value if isinstance(value, str) else json.dumps(value, default=str), _LONGEST_QUOTATION)}”"


def read_label(value: object) -> Label | None:
    """Return the unambiguous label of a value; None if there is none.

    Example: `read_label("Yes.")`, `read_label("supported")`, `read_label(True)` and `read_label(1)` are "yes";
    `read_label("partially")` is "unsure"; "not yes" and "ja" are None.
    """
    if isinstance(value, int | float) and value in (0, 1):
        return "yes" if value else "no"
    if not isinstance(value, str):
        return None
    return _LABELS.get(unicodedata.normalize("NFKC", value).strip(_AROUND_LABEL).casefold())


def one_line(text: str, longest: int) -> str:
    """Turn a text into one printable line of at most `longest` characters. A line that was cut ends with "…"."""
    # Test first, because the test is faster than the substitution.
    is_line = text.isprintable() and "  " not in text
    line = text.strip() if is_line else _UNPRINTABLE.sub(" ", text).strip()
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def storable(text: str) -> str:
    """Replace NUL and lone surrogates by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def _answer(entry: dict[str, Any], units: int) -> Answer | None:
    label = read_label(entry.get("label"))
    if label is None:
        return None
    return Answer(
        label,
        _probability(entry.get("probability"), label),
        _unit_numbers(entry.get("evidence"), units),
        one_line(_text(entry.get("reason")), LONGEST_REASON),
    )


def _by_key(
    values: Iterable[list[dict[str, Any]]],
    read: Callable[[dict[str, Any]], "tuple[Any, _A] | None"],
    meaning: Callable[[_A], object],
) -> dict[Any, _A]:
    # A key with different readings has no answer. If two JSON values have a key in common, the earlier value is a
    # draft, so ignore its other keys too.
    kept: dict[Any, _A] = {}
    meanings: dict[Any, set[object]] = {}
    for entries in values:
        found: dict[Any, _A] = {}
        for key, answer in filter(None, map(read, entries)):
            found.setdefault(key, answer)
            meanings.setdefault(key, set()).add(meaning(answer))
        kept = found if kept.keys() & found.keys() else kept | found
    return {key: answer for key, answer in kept.items() if len(meanings[key]) == 1}


def _by_id(
    reply: str, field: str, ids: Collection[str], said: str, read: Callable[[str, dict[str, Any]], _A | None]
) -> dict[str, _A]:
    """Read the answers of a reply by id; `said` is the name of the field with the answer, in the reply and in the
    result.
    """
    values = list(_entries(reply, field))
    known = _by_spelling(ids)
    if _is_renumbered(values, ids):
        return {}

    def of(entry: dict[str, Any]) -> tuple[str, _A | None] | None:
        identity = known.get(_spelling(entry.get("id")))
        says_nothing = entry.get(said) in (None, "")
        return None if identity is None or says_nothing else (identity, read(identity, entry))

    found = _by_key(values, of, lambda answer: answer and getattr(answer, said))
    return {identity: answer for identity, answer in found.items() if answer is not None}


def _entries(reply: str, field: str) -> Iterator[list[dict[str, Any]]]:
    for value in _json_values(reply):
        listed = value[field] if isinstance(value, dict) and field in value else value
        every = listed if isinstance(listed, list) else [listed]
        yield [entry for entry in every if isinstance(entry, dict)]


def _units(reply: str, count: int) -> list[list[dict[str, Any]]]:
    values = list(_entries(reply, "units"))
    numbers = {_whole_number(entry.get("unit")) for entry in chain(*values)}
    return [] if numbers & {0, count + 1} else values


def _is_renumbered(values: Iterable[list[dict[str, Any]]], ids: Collection[str]) -> bool:
    # A reply with an unknown id that lacks a known one may number the items differently.
    known = _by_spelling(ids)
    given = {_spelling(entry.get("id")) for entry in chain(*values)} - {""}
    answered = {known[spelling] for spelling in given & known.keys()}
    missing = {_family(identity.casefold()) for identity in ids if identity not in answered}
    surplus = {_family(spelling) for spelling in given - known.keys()}
    return bool(surplus & missing or ("" in surplus and missing))


def _is_on_a_scale(entry: dict[str, Any]) -> bool:
    number = _number(entry.get("label"))
    return number is not None and number not in (0, 1)


def _off_shares(reply: str, criteria: Mapping[str, Criterion]) -> list[object]:
    shares = {identity: each for identity, each in criteria.items() if each.scale == "share"}
    known = _by_spelling(shares)
    entries = chain(*_entries(reply, "criteria")) if shares else ()
    said = [(known.get(_spelling(entry.get("id"))), entry.get("value")) for entry in entries]
    return [
        value
        for identity, value in said
        if identity and any(map(str.isdecimal, str(value))) and read_value(value, shares[identity]) is None
    ]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Mark {"label": "no", "label": "yes"} as ambiguous; the json module would take the last value.
    members = dict(pairs)
    if len(members) < len(pairs):
        times = Counter(name for name, _ in pairs)
        members |= {name: ... for name in members if times[name] > 1}
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, strict=False)


@lru_cache(maxsize=4)
def _json_values(reply: str) -> list[Any]:
    """Find the outermost JSON objects and arrays after the model's thinking, in order.

    Thinking ends at a closing tag; tags inside JSON values are quotations.
    """
    with suppress(ValueError, RecursionError):
        while isinstance(held := _DECODER.decode(reply.strip(" \t\r\n\ufeff")), str):
            reply = held
    reply = _TRAILING_COMMA.sub(r"\1", reply)
    values: list[Any] = []
    thinks, position, left = False, 0, float(_MOST_STARTS)
    for place in _PLACE.finditer(reply):
        if place.start() < position:
            continue
        if place.lastgroup == "end":
            values, thinks = [], False
        elif place.lastgroup == "begin":
            thinks = True
        elif left <= 0:
            return []
        else:
            # ValueError: no JSON, or a too long integer. RecursionError: too many nested brackets.
            try:
                value, position = _DECODER.raw_decode(reply, place.start())
            except (ValueError, RecursionError) as error:
                left -= 1 + 24 * (getattr(error, "pos", place.start()) - place.start()) / len(reply)
            else:
                values += [] if thinks else [value]
    return values


def _by_spelling(ids: Collection[str]) -> dict[str, str]:
    """Map possible spellings to ids: the id in lower case, and its number alone if the number is unique."""
    known = {identity.casefold(): identity for identity in ids}
    numbers = [(match.group(), identity) for identity in ids if (match := re.search(r"\d+$", identity))]
    counts = Counter(number for number, _ in numbers)
    return {number: identity for number, identity in numbers if counts[number] == 1} | known


def _family(spelling: str) -> str:
    return spelling.rstrip("0123456789")


def _spelling(identity: object) -> str:
    if isinstance(identity, int) and not isinstance(identity, bool):
        return str(identity)
    return _text(identity).strip().casefold()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    scale = 1.0
    if isinstance(value, str):
        value = value.strip()
        if len(value) > 40:
            return None
        if value.endswith("%"):
            value, scale = value[:-1], 100.0
    try:
        number = float(value) / scale
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _whole_number(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _probability(value: object, label: Label) -> float | None:
    number = _number(value)
    least, most = {"yes": (0.5, 1), "no": (0, 0.5)}.get(label, (0, 1))
    return number if number is not None and least <= number <= most else None


def _unit_numbers(value: object, units: int) -> tuple[int, ...]:
    listed = value if isinstance(value, list) else [value]
    numbers = {_whole_number(item) for item in listed}
    return tuple(sorted(number for number in numbers if number is not None and 1 <= number <= units))

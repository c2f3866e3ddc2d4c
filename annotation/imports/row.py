"""Typed rows, and the data set that they form."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    JsonValue,
    PlainValidator,
    StringConstraints,
    ValidationError,
    model_validator,
)

from annotation.core.text_faults import printable, text_fault
from annotation.judging.question_texts import questions_fault
from evaluation.judging import LABELS
from evaluation.text import sentence_spans

MAX_NAME_CHARACTERS = 200
MAX_METADATA_CHARACTERS = 20_000
MAX_TARGET = 2_147_483_647
RATER = "rater {}"
"""The name of a rater whom the file names by a number or not at all."""
RATER_NAMES = {"raterid", "rater", "annotatorid", "annotator", "workerid", "worker", "userid", "user", "name"}

Stretch = tuple[int, int]
"""Offsets into a text."""
Side = Literal["reference", "summary"]
TargetWords = int | None
Place = int | str | None
"""The line in a file, or the name of a file without lines."""
PairKey = tuple[str, TargetWords, str]
"""System, target length and reference_id."""
RatingData = tuple[str, str, float]
"""Criterion, rater, who may be empty, and value."""

_EMPTY = frozenset(
    "nan none null (null) n/a na <na> #n/a nat undefined \\n #value! #ref! #name?".split()  # noqa: SIM905
)
# Lists and objects that are written as text.
_QUOTED = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
_WRITTEN_LIST = re.compile(rf"\[\s*(?:(?:{_QUOTED}|None|null|nan)[\s,]*+)*+\]", re.DOTALL)
_OBJECT_BEGINS = re.compile(rf"(?:\[\s*)?\{{\s*{_QUOTED}\s*:", re.DOTALL)
_FILE_NAME = re.compile(r"(https?://\S+|\S+\.(txt|md|html?|xml|json|pdf|docx?|story))", re.IGNORECASE)
_NO_TEXT = re.compile("[\udc80-\udcff]")
"""Lone surrogates, which replace bytes that are invalid in the encoding."""
_TAG = re.compile(r"(?:\s*</?t>\s*)+")
_LIST = " Add [] to the column's name if it has sentences of one text. Each system needs a row of its own."
LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8}){0,2}")
_THINKING = re.compile(r"</?(think|thinking|reasoning)>|\[/?THINK\]", re.IGNORECASE)
_LABELS: Mapping[object, str] = {0: "no", 1: "yes", **{label: label for label in LABELS}}

_OTHER_ENCODING = "Save it as “CSV UTF-8”, name its `encoding`, or use iconv -f WINDOWS-1252 -t UTF-8"
_MARK_OF_NOTHING = "Write the text or another name, empty the cell if it may be empty, or remove the row."
_LIST_AS_TEXT = (
    "is a list or an object written as one text, whose brackets and quotes would be scored. Save the table as JSONL, "
    "as pandas does by to_json(path, orient='records', lines=True), or write one text there."
)


class NotJson(ValueError):
    """A text is not valid JSON, is nested too deeply, or repeats a name in an object."""


def load_json(text: str) -> object:
    """Parse JSON; NaN becomes null. Raises NotJson for other texts, and for a name that an object repeats."""
    try:
        return json.loads(text, parse_constant=_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise NotJson(f"is not JSON: {error.msg} at character {error.pos + 1}.") from error
    except RecursionError as error:
        raise NotJson("is nested too deeply to be read.") from error
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(f"is not JSON that can be read: {error}.") from error


def _constant(constant: str) -> None:
    # Accept NaN, which pandas writes for an empty cell.
    if constant != "NaN":
        raise NotJson(f"is not JSON: {constant} is no number in JSON. Write null for a missing value.")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise NotJson(f"holds the name {twice!r} twice in one object.")
    return values


def opened(value: object) -> object:
    """Return the object or list that a text holds as JSON; otherwise return the value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def shown(value: object) -> str:
    """Format a value for messages."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of very many digits"
    return printable(repr(value)) if isinstance(value, str | int | float) else f"a {type(value).__name__}"


def listed(value: object) -> list[Any]:
    """Return a list unchanged, None as an empty list, and any other value as the only item of a list."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _checked(value: object) -> str:
    if value is None:
        raise ValueError("has no value.")
    if not isinstance(value, str):
        joined = _LIST if isinstance(value, list) else ""
        raise ValueError(f"is {shown(value)}, not a text.{joined}")
    if not value.isascii() and (byte := _NO_TEXT.search(value)):
        raise ValueError(f"is not of the file's encoding at character {byte.start() + 1}. {_OTHER_ENCODING}")
    written = _storable(value).strip()
    # "nan" alone is an empty cell; the language Min Nan is written nan-Hant or zh-min-nan.
    if written.casefold() in _EMPTY:
        raise ValueError(f"is {shown(written)}, which stands for an empty cell in tables. {_MARK_OF_NOTHING}")
    return value


def _storable(text: str) -> str:
    if fault := text_fault(text):
        raise ValueError(fault)
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("has no value.")
    return text


def _text(value: object, *, may_be_object: bool = False) -> str:
    text = _checked(value)
    bare = text.strip()
    if _FILE_NAME.fullmatch(bare):
        raise ValueError(f"is {shown(bare)}, the name of a file and not its text. Put the text there.")
    is_object = not may_be_object and bare.endswith(("}", "]")) and _OBJECT_BEGINS.match(bare)
    if is_object or _WRITTEN_LIST.fullmatch(bare):
        raise ValueError(_LIST_AS_TEXT)
    return text


def _name(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 600:
        value = str(value)
    text = _checked(value).strip()
    if len(text) > MAX_NAME_CHARACTERS:
        raise ValueError(f"has {len(text):,} characters; a name may have {MAX_NAME_CHARACTERS}.")
    return text


def _documents(value: object) -> tuple[str, ...]:
    # A source may be objects in JSON, such as messages.
    texts = tuple(_text(each, may_be_object=True) for each in (value if isinstance(value, list) else [value]))
    if not texts or not all(each.strip() for each in texts):
        raise ValueError("is empty. A summary needs the text that it summarises.")
    return texts


def _references(value: object) -> tuple[str, ...]:
    return tuple("" if each is None else untagged(_text(each)) for each in listed(value))


def untagged(text: str) -> str:
    """Remove the tags `<t>` and `</t>` from a text that begins with `<t>`, as in files of CNN/DailyMail."""
    return _TAG.sub(" ", text).strip() if text.lstrip().startswith("<t>") else text


def _names(value: object) -> tuple[str, ...]:
    return tuple(_name("" if each is None else each) for each in listed(value)) or ("",)


def _number(value: object) -> object:
    # Pydantic would read true as 1, and the digits of other scripts.
    if isinstance(value, bool) or (isinstance(value, str) and not value.isascii()):
        raise ValueError(f"is {shown(value)}, not a whole number.")
    return None if isinstance(value, str) and not value.strip() else value


def _object(value: object) -> object:
    if isinstance(value, str):
        value = load_json(value) if value.lstrip().startswith("{") else value.strip()
    return value if isinstance(value, dict) else {"metadata": value} if value else {}


def _metadata(found: dict[str, JsonValue]) -> dict[str, JsonValue]:
    text = json.dumps(found, ensure_ascii=False, allow_nan=False)
    if len(text) > MAX_METADATA_CHARACTERS:
        raise ValueError(f"is longer than {MAX_METADATA_CHARACTERS:,} characters.")
    _storable(text.replace("\\u0000", "\x00"))
    return found


def _questions(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        is_json = value.lstrip().startswith(("[", "{"))
        value = load_json(value) if is_json else [line for line in value.splitlines() if line.strip()]
    if not isinstance(value, list):
        raise ValueError(f"is {shown(value)}, not a list of questions.")
    texts = tuple(_checked(each).strip() for each in value)
    if fault := questions_fault(texts):
        raise ValueError(fault)
    return texts


def _label(value: object) -> str | None:
    if value is None or (isinstance(value, int | float | str) and value in _LABELS):
        return _LABELS.get(value)
    told = f"is {shown(value)}, something else than 0 or 1 (or {', '.join(LABELS)})."
    raise ValueError(f"{told} Percents belong to assessors with an account and are given in their form.")


def _by_rater(value: object) -> dict[str, object]:
    if not isinstance(value, list | dict | None):
        raise ValueError("holds no list of votes and no object from rater to vote.")
    pairs = value.items() if isinstance(value, dict) else map(_named_vote, count(1), value or ())
    votes = [(str(name).strip(), vote) for name, vote in pairs if vote is not None]
    if len({name for name, _ in votes if name}) < len(votes):
        raise ValueError("names a rater twice, or not at all.")
    return {_storable(name): vote for name, vote in votes}


def _named_vote(place: int, vote: object) -> tuple[str, object]:
    if not isinstance(vote, dict) or "vote" not in vote:
        return RATER.format(place), vote
    names = (str(value) for name, value in vote.items() if name.replace("_", "").lower() in RATER_NAMES)
    return next(names, RATER.format(place)), vote["vote"]


def majority(labels: Iterable[str]) -> str:
    """Return the most frequent label; unsure if the first place is tied. Needs at least one label."""
    (label, most), *others = Counter(labels).most_common()
    return "unsure" if others and others[0][1] == most else label


_Name = Annotated[str, PlainValidator(_name)]
_RequiredName = Annotated[_Name, AfterValidator(_filled)]
_Statement = Annotated[str, PlainValidator(_checked), AfterValidator(_filled)]
_Target = Annotated[int, Field(ge=1, le=MAX_TARGET)]
_Label = Annotated[str, PlainValidator(_label)]
_Votes = Annotated[dict[str, _Label], BeforeValidator(_by_rater)]
_System = Annotated[str, StringConstraints(strip_whitespace=True)]
_Reason = Annotated[str, AfterValidator(_storable)]


class Mark(NamedTuple):
    """A stretch of a text that a rater marked as wrong, or, without a `reason`, the record that a rater read the text.

    `text` is the whole text, if the file has it. `words` are the marked words, and `reason` has the rater's labels. If
    `is_left_out` is True, the rater has no vote on any sentence.
    """

    rater: str
    start: int = 0
    end: int = 0
    words: str = ""
    reason: str = ""
    text: str = ""
    is_left_out: bool = False


class Claim(BaseModel):
    """A claim with people's answers by system.

    - `verdicts`: the combined answers: as the file gives them, otherwise the majority of the votes
    - `votes`: the answers of single raters
    - `reasons`: texts that explain the answers
    - `systems`: all systems that the file lists for the claim
    - `unit`: the number of the claim's unit in the reference
    - `reference_id`: the reference of the claim; empty if the claim names none
    """

    text: _Statement = Field(alias="claim_text")
    weight: Annotated[float, Field(strict=True, gt=0, lt=1e300)] = 1.0
    unit: Annotated[int, Field(strict=True, gt=0)] | None = None
    reference_id: _Name = ""
    verdicts: dict[_System, _Label] = {}
    votes: dict[_System, _Votes] = Field({}, alias="raw_votes")
    reasons: dict[_System, _Reason | None] = {}
    systems: frozenset[str] = frozenset()

    @model_validator(mode="after")
    def _together(self) -> Claim:
        self.systems = frozenset((*self.verdicts, *self.votes, *self.reasons))
        self.votes = {system: votes for system, votes in self.votes.items() if votes}
        together = {system: majority(votes.values()) for system, votes in self.votes.items()}
        self.verdicts = together | {system: label for system, label in self.verdicts.items() if label}
        return self


class Summary(BaseModel):
    """A summary under test. `units` are its units, if the file has them.

    `given` has the ratings of one row, first as written and then as RatingData. `rated` has the ratings of all rows by
    criterion and rater.
    """

    system: _RequiredName
    summary: Annotated[str, PlainValidator(_text)]
    claims: list[Claim] = []
    given: Any = Field([], alias="ratings")
    rated: dict[tuple[str, str], float] = {}
    marks: list[Mark] = []
    units: Any = None
    line: Place = None
    metadata: dict[str, Any] = {}

    def remark(self, document_id: str) -> str:
        """Return a remark on an empty summary, or on one with a model's thinking; "" for other summaries."""
        name = f"the summary of {document_id!r} by {self.system!r}"
        if not self.summary.strip():
            return f"{name} is empty. It is flagged empty_summary."
        is_thinking = _THINKING.search(self.summary)
        return f"{name} holds a model's thinking, which is scored as part of it." if is_thinking else ""

    def marked_claims(self, language: str) -> Iterator[Claim]:
        """Yield each sentence as a claim with each rater's vote: no if a mark of the rater touches it, else yes.

        A rater one of whose marks is left out has no vote; without any vote there are no claims.
        """
        silent = {mark.rater for mark in self.marks if mark.is_left_out}
        marks = [mark for mark in self.marks if mark.rater not in silent]
        raters = dict.fromkeys(mark.rater for mark in marks)
        for span in sentence_spans(self.summary, language) if raters else ():
            touching = [one for one in marks if one.end and one.start < span.end and span.start < one.end]
            votes = dict.fromkeys(raters, "yes") | {mark.rater: "no" for mark in touching}
            words = "; ".join(dict.fromkeys(f"“{mark.words}”: {mark.reason}" for mark in touching))
            yield judged_sentence(self.system, self.summary[span.start : span.end], votes, words)


class Reference(NamedTuple):
    """A reference; `units` are its units, if the file has them."""

    text: str
    id: str = ""
    author: str = ""
    units: tuple[Stretch, ...] | None = None
    line: Place = None


class Row(BaseModel):
    """The checked contents of a record. `line` is its place in the file."""

    document_id: _RequiredName
    documents: Annotated[tuple[str, ...], PlainValidator(_documents)] = Field((), alias="document")
    texts: Annotated[tuple[str, ...], PlainValidator(_references)] = Field((), alias="reference")
    reference_ids: Annotated[tuple[str, ...], PlainValidator(_names)] = Field(("",), alias="reference_id")
    reference_author: _Name = ""
    target: Annotated[_Target | None, BeforeValidator(_number)] = Field(None, alias="target_words")
    group: _Name = ""
    language: Annotated[_Name, Field(pattern=rf"^({LANGUAGE.pattern})?$", max_length=12)] = ""
    metadata: Annotated[dict[str, JsonValue], BeforeValidator(_object), AfterValidator(_metadata)] = {}
    questions: Annotated[tuple[str, ...], PlainValidator(_questions)] = ()
    rater: _Name = ""
    systems: list[Summary] = []
    claims: list[Claim] = []
    line: Place = None
    references: list[Any] = []

    @model_validator(mode="after")
    def _named(self) -> Row:
        ids = self.reference_ids
        if len(ids) != len(self.texts):
            ids = tuple(map(str, range(1, len(self.texts) + 1)))
        pairs = [pair for pair in zip(self.texts, ids, strict=True) if pair[0].strip()]
        self.references = [Reference(*pair, self.reference_author) for pair in pairs]
        return self

    def keys(self, summary: Summary) -> list[PairKey]:
        """Return the keys of one of the row's summaries: one for each reference that the row names by its id; otherwise
        one with an empty id.
        """
        named = [reference.id for reference in self.references] if self.reference_ids[0] else [""]
        return [(summary.system, self.target, name) for name in named]


_FAULTS = {
    "missing": "",
    **dict.fromkeys(("string_pattern_mismatch", "too_long"), "must be a language code such as en or pt-BR."),
    **dict.fromkeys(("int_parsing", "int_from_float"), "must be a whole number, or empty for no target."),
    **dict.fromkeys(("dict_type", "model_type"), "must be an object."),
    "list_type": "must be a list of objects.",
    "invalid-json-value": "holds what is not JSON.",
}


def faults(error: ValidationError) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the place and the reason of each error; the reason is empty if a field is missing."""
    for each in error.errors(include_url=False):
        told = f"is {shown(each['input'])} and {each['msg'].replace('Input should', 'must')}."
        own = each.get("ctx", {}).get("error")
        yield each["loc"], str(own) if own is not None else _FAULTS.get(each["type"], told)


@dataclass(slots=True)
class SetData:
    """A document set as the rows of a file describe it.

    `references` has each reference by reference_id. `claims` has claims by reference_id, which may be empty, and target
    length. The keys of `pairs` are (system, target length, reference_id), with "" for a row that names no reference;
    the value is the place of the first row with this key, or None.
    """

    line: Place
    documents: tuple[str, ...] = ()
    group: str = ""
    language: str = ""
    metadata: dict[str, object] = field(default_factory=dict)
    summaries: dict[tuple[str, TargetWords], Summary] = field(default_factory=dict)
    references: dict[str, Reference] = field(default_factory=dict)
    pairs: dict[PairKey, Place] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    claims: dict[tuple[str, TargetWords], dict[object, Claim]] = field(default_factory=dict)

    def conflicts(self, row: Row, *, is_nested: bool) -> Iterator[tuple[str, str]]:
        """Yield contradictions between a row and earlier ones as (field, reason).

        The field is empty if a summary or a rating differs. Nested rows, and rows with claims, may not repeat a
        summary.
        """
        for name, column in _SHARED.items():
            yield from _differs(column, "document_id", self.line, getattr(self, name), getattr(row, name))
        for one in row.references:
            known = self.references.get(one.id) or next(each for each in row.references if each.id == one.id)
            yield from _differs("reference", "reference_id", known.line or row.line, known.text, one.text)
            twin = next((each for each in self.references.values() if each.text == one.text), one)
            if twin.id != one.id and "" in (twin.id, one.id):
                yield (
                    "reference",
                    f"is also at {_at(twin.line)}, and one of both has no reference_id. Name both.",
                )
            yield from _differs("reference_author", "reference_id", known.line, known.author, one.author)
        for new in row.systems:
            old = self.summaries.get((new.system, row.target), new)
            if old is not new and (old.summary != new.summary or new.claims or is_nested):
                key = f"document_id {row.document_id!r}, system {new.system!r}, target_words {row.target or 'none'}"
                told = f"repeats the key of {_at(old.line)} ({key})."
                yield "", f"{told} Remove one of the two, rename the system, or name the column of systems."
            for criterion, rater, value in new.given:
                if (before := old.rated.get((criterion, rater), value)) != value:
                    told = f"rates {criterion} as {value:g}, and the same rater, {rater!r}, has rated it as {before:g}"
                    yield "", f"{told} before. Keep one of the two."

    def take(self, row: Row) -> None:
        """Add a row, which must not contradict earlier rows."""
        for name in _SHARED:
            setattr(self, name, getattr(self, name) or getattr(row, name))
        times: Counter[object] = Counter()
        only = row.references[0].id if len(row.references) == 1 else ""
        for claim in row.claims:
            place = (claim.reference_id or only, row.target)
            # A pyramid may have two content units with the same label: take them in order.
            label = (place, claim.text, claim.weight, claim.unit)
            times[label] += 1
            known = self.claims.setdefault(place, {}).setdefault((*label, times[label]), claim)
            for name in ("verdicts", "votes", "reasons", "systems"):
                setattr(known, name, getattr(known, name) | getattr(claim, name))
        if row.systems:
            shared = self.metadata.items()
            self.metadata = {name: value for name, value in shared if row.metadata.get(name, self) == value}
        for new in row.systems:
            for key in row.keys(new):
                self.pairs.setdefault(key, row.line)
            summary = self.summaries.setdefault((new.system, row.target), new)
            if summary is new:
                new.line = row.line
                new.metadata = row.metadata if len(row.systems) == 1 else {}
            else:
                summary.marks += new.marks
            for criterion, rater, value in new.given:
                number = sum(name == criterion for name, _ in summary.rated) + 1
                summary.rated[criterion, rater or RATER.format(number)] = value
        for one in row.references:
            known = self.references.get(one.id, one._replace(line=row.line))
            self.references[one.id] = known._replace(author=known.author or one.author)

    def placed_claims(self) -> Iterator[tuple[Claim, Summary | None]]:
        """Yield each claim of references and documents, with the summary by its only system if it stands in it between
        spaces and names neither a reference nor a unit.
        """
        for (_, target), claims in self.claims.items():
            for claim in claims.values():
                system = "" if len(claim.systems) > 1 else "".join(claim.systems)
                own = None if claim.reference_id or claim.unit else self.summaries.get((system, target))
                yield claim, own if own and _spaced(claim.text) in _spaced(own.summary) else None


_SHARED = {"documents": "document", "group": "group", "language": "language", "questions": "questions"}
"""The fields that are the same in all rows of a document set, with their columns."""


def _at(line: Place) -> str:
    return f"line {line}" if isinstance(line, int) else str(line)


def _differs(column: str, key: str, line: Place, before: object, now: object) -> Iterator[tuple[str, str]]:
    if before and now not in (before, "", ()):
        told = f"differs from that at {_at(line)}, where the {key} begins. Rows of one {key} have the same"
        yield column, f"{told} {column}. Rows that differ need another {key}."


@dataclass(slots=True)
class Dataset:
    """The document sets of a file.

    - `sets`: by document_id, in the order of the file
    - `repeated`: sentences that name the lines that repeat the keys of an earlier line
    """

    sets: dict[str, SetData] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)

    def add(self, row: Row, *, is_nested: bool = False) -> list[tuple[str, str]]:
        """Add a row. If it contradicts earlier rows, add nothing and return contradictions as (field, reason)."""
        one = self.sets.get(row.document_id) or SetData(row.line, metadata={**row.metadata})
        if conflicts := list(one.conflicts(row, is_nested=is_nested)):
            return conflicts
        self.sets[row.document_id] = one
        keys = [key for new in row.systems if not (new.given or new.marks) for key in row.keys(new)]
        brings_reference = any(each.id not in one.references for each in row.references)
        if keys and not brings_reference and all(key in one.pairs for key in keys):
            self.repeated.append(f"{row.line} repeats {one.pairs[keys[0]]}")
        one.take(row)
        return []

    def summaries(self) -> Iterator[Summary]:
        return (summary for one in self.sets.values() for summary in one.summaries.values())

    @property
    def claims_side(self) -> Side | None:
        """ "reference" if a reference or document has claims, "summary" if only summaries have; None without claims."""
        if any(one.claims for one in self.sets.values()):
            return "reference"
        return "summary" if any(summary.claims for summary in self.summaries()) else None

    def settle_claims(self) -> None:
        """If every claim of references and documents stands in a summary of its only system, move the claims to the
        summaries.
        """
        sets = self.sets.values()
        placed = [(claim, own) for one in sets for claim, own in one.placed_claims()]
        owned = [(claim, own) for claim, own in placed if own]
        if len(owned) == len(placed):
            for claim, own in owned:
                own.claims.append(claim)
            for one in sets:
                one.claims = {}

    def take_marks(self, *, are_asked: bool = False) -> int:
        """Turn the sentences of annotated summaries into claims, and return the number of marked sentences.

        A file without marks gets no claims, unless `are_asked` says that its tool asks raters for marks.
        """
        marked = [(one, each) for one in self.sets.values() for each in one.summaries.values() if each.marks]
        if not are_asked and not any(mark.end for _, summary in marked for mark in summary.marks):
            return 0
        for one, summary in marked:
            summary.claims = list(summary.marked_claims(one.language or "en"))
        return sum(bool(claim.reasons) for _, summary in marked for claim in summary.claims)


def _spaced(text: str) -> str:
    return f" {' '.join(text.split())} "


def judged_sentence(system: str, text: str, votes: Mapping[str, object], reason: str) -> Claim:
    """Turn a sentence of a summary into a claim with votes. Raises ValidationError for an unusable text or vote."""
    reasons = {system: reason} if reason else {}
    return Claim.model_validate({"claim_text": text, "raw_votes": {system: dict(votes)}, "reasons": reasons})

"""Typed rows, and the data set that they form."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
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
SummaryKey = tuple[str, TargetWords]
PairKey = tuple[str, TargetWords, str]
"""System, target length and reference_id."""
Votes = tuple[tuple[str, str], ...]
"""Name and label of each rater for one check."""

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
_LIST = (
    " Add [] to the column's name if its texts are sentences of one text. Texts of several systems each need a row "
    "of their own."
)
_WHOLE = re.compile(r"[0-9]{1,20}(\.0+)?")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8}){0,2}")
_THINKING = re.compile(r"</?(think|thinking|reasoning)>|\[/?THINK\]", re.IGNORECASE)
_LABELS: Mapping[object, str] = {0: "no", 1: "yes", **{label: label for label in LABELS}}

_OTHER_ENCODING = (
    "The file may be Latin-1 or Windows-1252: save it as “CSV UTF-8” in Excel, name its `encoding`, or convert it: "
    "iconv -f WINDOWS-1252 -t UTF-8"
)
_MARK_OF_NOTHING = (
    "Write the text or another name, empty the cell (a row may lack a reference or a group, and a summary may be "
    "empty), or remove the row."
)
_LIST_AS_TEXT = (
    "is a list or an object written as one text, whose brackets and quotes would be scored. Save the table as JSONL, "
    "as pandas does by to_json(path, orient='records', lines=True), or write one text there."
)
NO_LABEL = f"something else than 0 or 1 (or {', '.join(LABELS)})"
PERCENTS = "Percents belong to assessors with an account and are given in their form"


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


def _checked(value: object, *, is_language: bool = False) -> str:
    if value is None:
        raise ValueError("has no value.")
    if not isinstance(value, str):
        joined = _LIST if isinstance(value, list) else ""
        raise ValueError(f"is {shown(value)}, not a text.{joined}")
    if not value.isascii() and (byte := _NO_TEXT.search(value)):
        raise ValueError(f"is not of the file's encoding at character {byte.start() + 1}. {_OTHER_ENCODING}")
    if reason := text_fault(value):
        raise ValueError(reason)
    written = value.strip()
    # "na" is a language (Nauru), but "nan" alone is an empty cell: Min Nan is written nan-Hant or zh-min-nan.
    if written.casefold() in _EMPTY and not (is_language and written.casefold() == "na"):
        told = f"is {shown(written)}, which tables hold in place of an empty cell. {_MARK_OF_NOTHING}"
        raise ValueError(told)
    return value


def _text(value: object, *, may_be_object: bool = False) -> str:
    text = _checked(value)
    bare = text.strip()
    if _FILE_NAME.fullmatch(bare):
        raise ValueError(f"is {shown(bare)}, the name of a file and not its text. Put the text there.")
    is_object = not may_be_object and bare.endswith(("}", "]")) and _OBJECT_BEGINS.match(bare)
    if is_object or _WRITTEN_LIST.fullmatch(bare):
        raise ValueError(_LIST_AS_TEXT)
    return text


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _name(value: object) -> str:
    whole = _whole(value)
    if isinstance(whole, int) and not isinstance(whole, bool) and whole.bit_length() < 600:
        whole = str(whole)
    text = _checked(whole).strip()
    if len(text) > MAX_NAME_CHARACTERS:
        raise ValueError(f"has {len(text):,} characters; a name may have {MAX_NAME_CHARACTERS}.")
    return text


def _required_name(value: object) -> str:
    if not (name := _name(value)):
        raise ValueError("has no value.")
    return name


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


def _target(value: object) -> TargetWords:
    if value == "":
        return None
    number = _whole(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        number = int(value.strip().partition(".")[0])
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_TARGET:
        told = f"is {shown(value)}, not a whole number from 1 to {MAX_TARGET:,}."
        raise ValueError(f"{told} Leave it empty for no target.")
    return number


def _language(value: object) -> str:
    language = _checked(value, is_language=True).strip()
    if language and (len(language) > 12 or not LANGUAGE.fullmatch(language)):
        raise ValueError(f"is {shown(language)}, not a language code such as en or pt-BR.")
    return language


def _metadata(value: object) -> dict[str, object]:
    if isinstance(value, str):
        value = load_json(value) if value.lstrip().startswith("{") else value.strip() and {"metadata": value}
    found = value if isinstance(value, dict) else {"metadata": value} if value else {}
    try:
        text = json.dumps(found, ensure_ascii=False, allow_nan=False)
    except RecursionError:
        raise ValueError("is nested too deeply.") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"holds what is not JSON: {error}.") from error
    if len(text) > MAX_METADATA_CHARACTERS:
        raise ValueError(f"is longer than {MAX_METADATA_CHARACTERS:,} characters.")
    if fault := text_fault(text.replace("\\u0000", "\x00")):
        raise ValueError(fault)
    return found


def _questions(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        is_json = value.lstrip().startswith(("[", "{"))
        value = load_json(value) if is_json else [line for line in value.splitlines() if line.strip()]
    if not isinstance(value, list):
        raise ValueError(f"is {shown(value)}, not a list of questions.")
    wrong = [each for each in value if not isinstance(each, str)]
    texts = tuple(each.strip() for each in value if isinstance(each, str))
    if fault := f"holds {shown(wrong[0])}, not a text." if wrong else questions_fault(texts):
        raise ValueError(fault)
    return tuple(map(_checked, texts))


def _statement(value: object) -> str:
    if not (text := _checked(value)).strip():
        raise ValueError("is empty.")
    return text


def label_of(given: object) -> str | None:
    """Read a label that is written as yes, no, unsure, 1, 0 or a boolean; None for other values."""
    return _LABELS.get(given) if isinstance(given, int | float | str) else None


def _by_system(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError('must be an object with a value for each system, such as {"lead": 1}.')
    return {str(key).strip(): given for key, given in value.items()}


def _verdicts(value: object) -> dict[str, str | None]:
    given = _by_system(value)
    found = {system: label_of(one) for system, one in given.items()}
    for system, one in given.items():
        if one is not None and found[system] is None:
            is_percent = isinstance(one, int | float) and 0 <= one <= 100
            raise ValueError(f"gives {system!r} {NO_LABEL}.{f' {PERCENTS}.' if is_percent else ''}")
    return found


def _raw_votes(value: object) -> dict[str, Votes]:
    found: dict[str, Votes] = {}
    for system, given in _by_system(value).items():
        if not isinstance(given, list | dict | None):
            raise ValueError(f"gives {system!r} no list of votes and no object from rater to vote.")
        named = given.items() if isinstance(given, dict) else map(_named_vote, count(1), given or ())
        votes = [(str(name).strip(), label_of(one)) for name, one in named if one is not None]
        if None in (label for _, label in votes):
            raise ValueError(f"gives {system!r} {NO_LABEL} among its votes.")
        if len({name for name, _ in votes if name}) < len(votes):
            raise ValueError(f"names a rater of {system!r} twice, or not at all.")
        if fault := next(filter(None, (text_fault(name) for name, _ in votes)), ""):
            raise ValueError(f"has a rater whose name {fault}")
        found[system] = tuple((name, label) for name, label in votes if label)
    return found


def _named_vote(place: int, vote: object) -> tuple[str, object]:
    if not isinstance(vote, dict) or "vote" not in vote:
        return RATER.format(place), vote
    names = (str(value) for name, value in vote.items() if name.replace("_", "").lower() in RATER_NAMES)
    return next(names, RATER.format(place)), vote["vote"]


def _reasons(value: object) -> dict[str, str]:
    found = {system: given for system, given in _by_system(value).items() if isinstance(given, str)}
    if fault := next(filter(None, map(text_fault, found.values())), ""):
        raise ValueError(fault)
    return found


def majority(labels: Iterable[str]) -> str:
    """Return the most frequent label; unsure if the first place is tied. Needs at least one label."""
    (label, most), *others = Counter(labels).most_common()
    return "unsure" if others and others[0][1] == most else label


class RatingData(NamedTuple):
    """A person's rating of a summary; `rater` may be empty."""

    criterion: str
    rater: str
    value: float


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


class _Model(BaseModel):
    model_config = ConfigDict(populate_by_name=True, extra="ignore")


class Claim(_Model):
    """A claim with people's answers by system.

    - `verdicts`: the combined answers: as the file gives them, otherwise the majority of the votes
    - `votes`: the answers of single raters
    - `reasons`: texts that explain the answers
    - `systems`: all systems that the file lists for the claim
    - `unit`: the number of the claim's unit in the reference
    - `reference_id`: the reference of the claim; empty if the claim names none
    """

    text: Annotated[str, PlainValidator(_statement)] = Field(alias="claim_text")
    weight: Annotated[float, Field(strict=True, gt=0, lt=1e300)] = 1.0
    unit: Annotated[int, Field(strict=True, gt=0)] | None = None
    reference_id: Annotated[str, PlainValidator(_name)] = ""
    verdicts: Annotated[dict[str, Any], PlainValidator(_verdicts)] = {}
    votes: Annotated[dict[str, Votes], PlainValidator(_raw_votes)] = Field({}, alias="raw_votes")
    reasons: Annotated[dict[str, str], PlainValidator(_reasons)] = {}
    systems: frozenset[str] = frozenset()

    @model_validator(mode="after")
    def _together(self) -> Claim:
        self.systems = frozenset((*self.verdicts, *self.votes, *self.reasons))
        self.votes = {system: votes for system, votes in self.votes.items() if votes}
        together = {system: majority(label for _, label in votes) for system, votes in self.votes.items()}
        self.verdicts = together | {system: label for system, label in self.verdicts.items() if label}
        return self

    def join(self, other: Claim) -> None:
        """Add the answers of another row with the same claim."""
        for name in ("verdicts", "votes", "reasons", "systems"):
            setattr(self, name, getattr(self, name) | getattr(other, name))


class Summary(_Model):
    """A summary under test. `units` are its units, if the file has them.

    `given` has the ratings of one row, first as written and then as RatingData. `rated` has the ratings of all rows by
    criterion and rater. `names_references` is True if each of its rows names the reference that it is compared with.
    """

    system: Annotated[str, PlainValidator(_required_name)]
    summary: Annotated[str, PlainValidator(_text)]
    claims: list[Claim] = []
    given: Any = Field([], alias="ratings")
    rated: dict[tuple[str, str], float] = {}
    marks: list[Mark] = []
    units: Any = None
    line: int | None = None
    metadata: dict[str, Any] = {}
    names_references: bool = False

    def remark(self, document_id: str) -> str:
        """Return a remark on an empty summary, or on one with a model's thinking; "" for other summaries."""
        name = f"the summary of {document_id!r} by {self.system!r}"
        if not self.summary.strip():
            return f"{name} is empty. It is flagged empty_summary."
        is_thinking = _THINKING.search(self.summary)
        return f"{name} holds a model's thinking, which is scored as part of it." if is_thinking else ""

    def rate(self, criterion: str, rater: str, value: float) -> None:
        """Add a rating. A rater without a name gets a name with a number, such as "rater 2"."""
        number = sum(name == criterion for name, _ in self.rated) + 1
        self.rated[criterion, rater or RATER.format(number)] = value

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
    line: int | None = None


class Row(_Model):
    """The checked contents of a record.

    `names_reference` is True if the row names the reference that its summaries are compared with. `line` is the row's
    place in the file.
    """

    document_id: Annotated[str, PlainValidator(_required_name)]
    documents: Annotated[tuple[str, ...], PlainValidator(_documents)] = Field((), alias="document")
    texts: Annotated[tuple[str, ...], PlainValidator(_references)] = Field((), alias="reference")
    reference_ids: Annotated[tuple[str, ...], PlainValidator(_names)] = Field(("",), alias="reference_id")
    reference_author: Annotated[str, PlainValidator(_name)] = ""
    target: Annotated[TargetWords, PlainValidator(_target)] = Field(None, alias="target_words")
    group: Annotated[str, PlainValidator(_name)] = ""
    language: Annotated[str, PlainValidator(_language)] = ""
    metadata: Annotated[dict[str, Any], PlainValidator(_metadata)] = {}
    questions: Annotated[tuple[str, ...], PlainValidator(_questions)] = ()
    rater: Annotated[str, PlainValidator(_name)] = ""
    systems: list[Summary] = []
    claims: list[Claim] = []
    line: int | None = None
    references: list[Any] = []
    names_reference: bool = False

    @model_validator(mode="after")
    def _named(self) -> Row:
        ids = self.reference_ids
        if len(ids) != len(self.texts):
            ids = tuple(map(str, range(1, len(self.texts) + 1)))
        pairs = [(text, name) for text, name in zip(self.texts, ids, strict=True) if text.strip()]
        self.references = self.references or [Reference(*pair, self.reference_author) for pair in pairs]
        return self

    def keys(self, summary: Summary) -> list[PairKey]:
        """Return the keys of one of the row's summaries: one for each reference; without references, one with an empty
        id.
        """
        named = [reference.id for reference in self.references] or [""]
        return [(summary.system, self.target, name) for name in named]

    def facts(self) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Yield facts of the row, each as (field, *key) and value."""
        shared = {"document": self.documents, "group": self.group, "language": self.language}
        for name, value in (shared | {"questions": self.questions}).items():
            yield (name, self.document_id), value
        for one in self.references:
            yield ("reference", self.document_id, one.id, self.target), one.text
            yield ("reference_author", self.document_id, one.id), one.author
        for summary in self.systems:
            key = (self.document_id, summary.system, self.target or "none")
            yield ("summary", *key), summary.summary
            yield from ((("rating", *key, *who), value) for *who, value in summary.given if who[1])


_FAULTS = {"missing": "", "list_type": "must be a list of objects.", "model_type": "must be an object."}


def faults(error: ValidationError) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the place and the reason of each error; the reason is empty if a field is missing."""
    for each in error.errors(include_url=False):
        own = each.get("ctx", {}).get("error")
        told = each["msg"].replace("Input should be", "must be")
        yield each["loc"], str(own) if own is not None else _FAULTS.get(each["type"], f"{told}.")


@dataclass(slots=True)
class SetData:
    """A document set as the rows of a file describe it.

    `references` has each reference by reference_id and target length, and `claims` has lists of claims by the same key,
    whose reference_id may be empty. The keys of `pairs` are (system, target length, reference_id), with "" for no
    reference; the value is the first line with this key, or None.
    """

    line: int | None
    documents: tuple[str, ...] = ()
    group: str = ""
    language: str = ""
    metadata: dict[str, object] = field(default_factory=dict)
    summaries: dict[SummaryKey, Summary] = field(default_factory=dict)
    references: dict[str, dict[TargetWords, Reference]] = field(default_factory=dict)
    pairs: dict[PairKey, int | None] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    claims: dict[tuple[str, TargetWords], list[Claim]] = field(default_factory=dict)

    def take(self, row: Row) -> None:
        """Add a row, which must not contradict earlier rows."""
        for name in ("documents", "group", "language", "questions"):
            setattr(self, name, getattr(self, name) or getattr(row, name))
        earlier: defaultdict[tuple[object, ...], list[Claim]] = defaultdict(list)
        for place, claims in self.claims.items() if row.claims else ():
            for claim in claims:
                earlier[place, claim.text, claim.weight, claim.unit].append(claim)
        for claim in row.claims:
            only = row.references[0].id if len(row.references) == 1 else ""
            place = (claim.reference_id or only, row.target)
            # A pyramid may have two content units with the same label: take them in order.
            if known := earlier[place, claim.text, claim.weight, claim.unit]:
                known.pop(0).join(claim)
            else:
                self.claims.setdefault(place, []).append(claim)
        shared = self.metadata.items()
        self.metadata = {name: value for name, value in shared if row.metadata.get(name, self) == value}
        for new in row.systems:
            for key in row.keys(new):
                self.pairs.setdefault(key, row.line)
            summary = self.summaries.setdefault((new.system, row.target), new)
            if summary is new:
                new.line, new.names_references = row.line, row.names_reference
                new.metadata = row.metadata if len(row.systems) == 1 else {}
            else:
                summary.names_references &= row.names_reference
                summary.marks += new.marks
                summary.claims = summary.claims or new.claims
            for rating in new.given:
                summary.rate(*rating)
        for one in row.references:
            texts = self.references.setdefault(one.id, {})
            before = texts.setdefault(row.target, one._replace(line=row.line))
            texts[row.target] = before._replace(author=before.author or one.author)

    def targets(self) -> set[TargetWords]:
        """Return the target lengths of all references."""
        return {target for texts in self.references.values() for target in texts}

    def author_of(self, reference_id: str) -> str:
        """Return the author of a reference; empty if no row names an author."""
        return next((one.author for one in self.references[reference_id].values() if one.author), "")

    def reference_for(self, reference_id: str, target: TargetWords) -> str | None:
        """Return the text of a reference for summaries of a target length; None if there is none.

        It is the text for that length, otherwise the text for all lengths. If all texts of a reference are equal, they
        count for every length.
        """
        texts = self.references[reference_id]
        one = next(iter(texts.values())) if has_one_text(texts) else texts.get(target) or texts.get(None)
        return one.text if one else None

    def is_of_summary(self, claim: Claim) -> bool:
        """Return True if a claim without reference and unit stands between spaces in a summary of its only system."""
        own = (one.summary for (name, _), one in self.summaries.items() if {name} == claim.systems)
        is_named = bool(claim.reference_id or claim.unit)
        return not is_named and any(_spaced(claim.text) in _spaced(text) for text in own)


def has_one_text(texts: Mapping[TargetWords, Reference]) -> bool:
    """Return True if a reference has the same text for all target lengths."""
    return len({one.text for one in texts.values()}) == 1


_DIFFERS = "is {now!r}, but {before!r} for {key[0]!r} at {where}."
_CONTRADICTIONS = {
    "document": "differs from the document of {key[0]!r} at {where}. Another document needs another document_id.",
    "group": _DIFFERS,
    "language": _DIFFERS,
    "questions": "are not those of {key[0]!r} at {where}. Repeat them or leave them out.",
    "reference": "is another text than at {where} for the same document_id, reference_id and target_words. Several "
    "references of one document each need a reference_id.",
    "reference_author": "is {now!r}, but {before!r} for this reference_id at {where}.",
    "summary": "repeats the key of {where} (document_id {key[0]!r}, system {key[1]!r}, target_words {key[2]}) with "
    "another summary. {advice}",
    "rating": "rates {key[3]} as {now:g}, and the same rater, {key[4]!r}, has rated it as {before:g} before. Keep "
    "one of the two.",
}
"""By field, the reason why a row contradicts an earlier one."""


@dataclass(slots=True)
class Dataset:
    """The document sets of a file.

    - `sets`: by document_id, in the order of the file
    - `repeated`: the lines that repeat the keys of an earlier line, each with that line
    - `facts`: values that later rows must not contradict, each with its place in the file; see `Row.facts` for the keys
    - `key_advice`: advice for two rows that have the same key but different texts
    """

    sets: dict[str, SetData] = field(default_factory=dict)
    repeated: dict[int, int] = field(default_factory=dict)
    facts: dict[tuple[Any, ...], tuple[Any, str]] = field(default_factory=dict)
    key_advice: str = "Remove one of the two, or rename the system."

    def add(self, row: Row, *, is_nested: bool = False, place: str = "") -> list[tuple[str, str]]:
        """Add a row. If it contradicts earlier rows, add nothing and return contradictions as (field, reason).

        The field is empty if a summary or a rating differs. A nested row may not repeat a summary. `place` replaces the
        line in messages about this row.
        """
        one = self.sets.get(row.document_id)
        for each in row.systems if is_nested else ():
            fact = ("summary", row.document_id, each.system, row.target or "none")
            if where := self.facts.get(fact, ("", ""))[1]:
                told = f"repeats {row.document_id!r} of {where}, with the summary by {each.system!r}. Remove one."
                return [("document_id", told)]
        facts = {fact: value for fact, value in row.facts() if fact[0] == "summary" or value not in ((), "")}
        conflicts = []
        for (name, *key), now in facts.items():
            before, where = self.facts.get((name, *key), (now, ""))
            if before != now:
                about = {"key": key, "now": now, "before": before, "where": where, "advice": self.key_advice}
                shown_as = "" if name in ("summary", "rating") else name
                conflicts.append((shown_as, _CONTRADICTIONS[name].format(**about)))
        if conflicts:
            return conflicts
        for fact, value in facts.items():
            self.facts.setdefault(fact, (value, place or f"line {row.line}"))
        if one is None:
            one = self.sets[row.document_id] = SetData(row.line, metadata=dict(row.metadata))
        elif row.line and row.systems and not (row.systems[0].given or row.systems[0].marks):
            earlier = [one.pairs.get(key) for key in row.keys(row.systems[0])]
            if all(earlier) and earlier[0]:
                self.repeated[row.line] = earlier[0]
        one.take(row)
        return []

    def writers(self) -> tuple[set[str], set[str]]:
        """Return the names of systems with summaries, and of authors of references."""
        sets = self.sets.values()
        people = {one.author_of(name) for one in sets for name in one.references}
        return {name for one in sets for name, _ in one.summaries}, people - {""}

    def summaries(self) -> Iterator[Summary]:
        return (summary for one in self.sets.values() for summary in one.summaries.values())

    def rated(self) -> dict[str, set[float]]:
        """Return the different values that ratings have, by criterion."""
        found: dict[str, set[float]] = defaultdict(set)
        for summary in self.summaries():
            for (criterion, _), value in summary.rated.items():
                found[criterion].add(value)
        return dict(found)

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
        held = [(one, key[1], claims) for one in self.sets.values() for key, claims in one.claims.items()]
        if all(one.is_of_summary(claim) for one, _, claims in held for claim in claims):
            for one, target, claims in held:
                for claim in claims:
                    one.summaries[next(iter(claim.systems)), target].claims.append(claim)
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

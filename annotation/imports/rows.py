"""The contents of a file, by row and by document set: summaries, references, claims and people's answers.

Texts that many rows repeat are held once.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from evaluation.text import sentence_spans

_THINKING = re.compile(r"</?(think|thinking|reasoning)>|\[/?THINK\]", re.IGNORECASE)

Stretch = tuple[int, int]
"""Offsets into a text."""

Side = Literal["reference", "peer"]
TargetWords = int | None
PeerKey = tuple[str, TargetWords]
"""System and target length."""

PairKey = tuple[str, TargetWords, str]
"""System, target length and reference_id: within a document set, the key of a row."""

Votes = tuple[tuple[str, str], ...]
"""The answer of each rater to one check: the rater's name in the file and the label."""

RATER = "rater {}"
"""The name of a rater who has none in the file, by place from 1."""


class ReferenceText(NamedTuple):
    """A reference beside a summary. `units` is how the file cuts it, where the file does."""

    text: str
    id: str = ""
    author: str = ""
    units: tuple[Stretch, ...] | None = None


class RatingData(NamedTuple):
    """A person's rating of a summary; `rater` is empty where the file names nobody."""

    criterion: str
    rater: str
    value: float


class Mark(NamedTuple):
    """A stretch of a summary that a rater marked as wrong. `words` are the words, and why; none for a blank mark."""

    rater: str
    stretch: Stretch | None
    words: str = ""


class ClaimData(NamedTuple):
    """A claim with people's answers to it, by system, and where each system's summary says it.

    `verdicts` is their answer together, `votes` that of each of several raters, where the file tells. `systems` are
    those that the file names beside the claim, with an answer or without, and `unit` the number of the unit of its text
    that it belongs to.
    """

    text: str
    weight: float = 1.0
    verdicts: Mapping[str, str] = {}
    places: Mapping[str, tuple[Stretch, ...]] = {}
    votes: Mapping[str, Votes] = {}
    systems: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = {}
    unit: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """The checked contents of one record about one summary.

    A row without documents leaves those of the set, and one without a system holds references alone. `names_reference`
    tells that the row itself gives a reference_id: its summary is then compared with that reference alone. `units` are
    how the file cuts the summary, None where it does not. `claims` are those of the whole set, `own_claims` those of
    this summary.
    """

    line: int | None
    document_id: str
    documents: tuple[str, ...] = ()
    system: str = ""
    target: TargetWords = None
    summary: str = ""
    references: tuple[ReferenceText, ...] = ()
    group: str = ""
    language: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    names_reference: bool = False
    units: tuple[Stretch, ...] | None = None
    ratings: tuple[RatingData, ...] = ()
    marks: tuple[Mark, ...] = ()
    claims: tuple[ClaimData, ...] = ()
    own_claims: tuple[ClaimData, ...] = ()

    @property
    def keys(self) -> list[PairKey]:
        named = [reference.id for reference in self.references] or [""]
        return [(self.system, self.target, name) for name in named]

    @property
    def remark(self) -> str:
        """Something to be said of it although it is imported; mostly nothing."""
        name = f"the summary of {self.document_id!r} by {self.system!r}"
        if not self.summary.strip():
            return f"{name} is empty. It is flagged empty_peer."
        if _THINKING.search(self.summary):
            return f"{name} holds a model's thinking, which is scored as part of it."
        return ""


class Text(NamedTuple):
    """A summary's text and the line that gave it first. `units` is how the file cuts it, where the file does."""

    text: str
    line: int | None
    units: tuple[Stretch, ...] | None = None


@dataclass(slots=True)
class PeerData:
    """A summary under test. It is compared with every reference of its set, unless all its rows name theirs."""

    text: Text
    metadata: Mapping[str, object]
    names_references: bool = False
    ratings: dict[tuple[str, str], float] = field(default_factory=dict)
    """By criterion and rater."""
    marks: list[Mark] = field(default_factory=list)
    claims: tuple[ClaimData, ...] = ()

    def rate(self, rating: RatingData) -> bool:
        """Take in a rating; whether it agrees with an earlier one of that rater. Nameless raters are numbered."""
        criterion, rater, value = rating
        if not rater:
            raters = sum(name == criterion for name, _ in self.ratings)
            rater = RATER.format(raters + 1)
        return self.ratings.setdefault((criterion, rater), value) == value


@dataclass(slots=True)
class ReferenceData:
    """A reference under one reference_id: its author, and its text for each target length of its rows."""

    author: str
    texts: dict[TargetWords, Text] = field(default_factory=dict)

    @property
    def has_one_text(self) -> bool:
        return len({text.text for text in self.texts.values()}) == 1

    def text_for(self, target: TargetWords) -> str | None:
        """The text that summaries of a target length are compared with."""
        if self.has_one_text:
            return next(iter(self.texts.values())).text
        text = self.texts.get(target) or self.texts.get(None)
        return text.text if text else None


@dataclass(slots=True)
class SetData:
    """A document set with everything that the file says of it.

    Without documents those of the project stay. `claims_of` names the reference that the claims are taken from, and
    the target length of the summaries that they were compared with.
    """

    line: int | None
    documents: tuple[str, ...]
    group: str
    language: str
    metadata: dict[str, object]
    peers: dict[PeerKey, PeerData] = field(default_factory=dict)
    references: dict[str, ReferenceData] = field(default_factory=dict)
    pairs: dict[PairKey, int | None] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    claims: tuple[ClaimData, ...] = ()
    claims_of: tuple[str, TargetWords] = ("", None)

    @classmethod
    def of(cls, row: Row) -> SetData:
        return cls(row.line, row.documents, row.group, row.language, dict(row.metadata))

    def take(self, row: Row) -> None:
        """Take in a row that contradicts none before it."""
        self.documents = self.documents or row.documents
        self.group = self.group or row.group
        self.language = self.language or row.language
        self.questions = self.questions or row.questions
        if row.claims:
            self.claims = (*self.claims, *row.claims)
            self.claims_of = row.keys[0][2], row.target
        self.metadata = {
            name: value for name, value in self.metadata.items() if row.metadata.get(name, self) == value
        }
        if row.system:
            for key in row.keys:
                self.pairs.setdefault(key, row.line)
            peer = self.peers.setdefault(
                (row.system, row.target),
                PeerData(Text(row.summary, row.line, row.units), row.metadata, row.names_reference),
            )
            peer.names_references &= row.names_reference
            peer.marks += row.marks
            peer.claims = peer.claims or row.own_claims
            for rating in row.ratings:
                peer.rate(rating)
        for one in row.references:
            reference = self.references.setdefault(one.id, ReferenceData(author=one.author))
            reference.author = reference.author or one.author
            reference.texts.setdefault(row.target, Text(one.text, row.line, one.units))

    def conflicts(self, row: Row, key_advice: str) -> Iterator[tuple[str, str]]:
        """Field and reason of each contradiction between a row and those before it."""
        yield from self._set_conflicts(row)
        yield from self._peer_conflicts(row, key_advice)
        for one in row.references:
            yield from self._reference_conflicts(row, one)

    def _set_conflicts(self, row: Row) -> Iterator[tuple[str, str]]:
        if self.documents and row.documents and self.documents != row.documents:
            yield (
                "document",
                f"differs from the document of {row.document_id!r} at line {self.line}. Rows of one "
                "document_id must repeat the same document; another document needs another document_id.",
            )
        for name in ("group", "language"):
            before, now = getattr(self, name), getattr(row, name)
            if before and now and before != now:
                yield name, f"is {now!r}, but {before!r} in an earlier row of {row.document_id!r}."
        if self.questions and row.questions and self.questions != row.questions:
            yield (
                "questions",
                f"are not those of an earlier row of {row.document_id!r}. Rows of one document_id must repeat the "
                "same questions in the same order, or leave them out.",
            )

    def _peer_conflicts(self, row: Row, key_advice: str) -> Iterator[tuple[str, str]]:
        peer = self.peers.get((row.system, row.target)) if row.system else None
        if peer is None:
            return
        if peer.text.text != row.summary:
            key = next((key for key in row.keys if key in self.pairs), None)
            if key is None:
                yield (
                    "summary",
                    f"is another text than at line {peer.text.line} for the same document_id, system and "
                    "target_words. Give it a system name of its own.",
                )
                return
            yield (
                "",
                f"repeats the key of line {self.pairs[key]} (document_id {row.document_id!r}, system {row.system!r}, "
                f"target_words {_or_none(row.target)}, reference_id {_or_none(key[2])})"
                f" with another summary. {key_advice}",
            )
        for rating in row.ratings:
            before = peer.ratings.get(rating[:2])
            if before is not None and before != rating.value:
                yield (
                    "",
                    f"rates {rating.criterion} as {rating.value:g}, and the same rater, {rating.rater!r}, has rated it "
                    f"as {before:g} before. Keep one of the two.",
                )

    def _reference_conflicts(self, row: Row, one: ReferenceText) -> Iterator[tuple[str, str]]:
        reference = self.references.get(one.id)
        if reference is None:
            return
        before = reference.texts.get(row.target)
        if before is not None and before.text != one.text:
            yield (
                "reference",
                f"is another text than at line {before.line} for the same document_id, reference_id and "
                "target_words. Several references of one document each need a reference_id.",
            )
        if reference.author and one.author and reference.author != one.author:
            yield (
                "reference_author",
                f"is {one.author!r}, but {reference.author!r} earlier with this reference_id.",
            )


@dataclass(slots=True)
class Dataset:
    """All sets of a file by their document_id, in the order of the file.

    `repeated` holds lines that say again what an earlier one said, with that one; `sets_of` in how many sets each
    system has a summary. `key_advice` is what may help where two rows have one key and two summaries.
    """

    sets: dict[str, SetData] = field(default_factory=dict)
    repeated: dict[int, int] = field(default_factory=dict)
    sets_of: Counter[str] = field(default_factory=Counter)
    key_advice: str = "Remove one of the two, or rename the system."

    def writers(self) -> tuple[set[str], set[str]]:
        """Names of the systems, which wrote summaries; and of the people, who wrote references."""
        systems: set[str] = set()
        people: set[str] = set()
        for one in self.sets.values():
            systems.update(name for name, _ in one.peers)
            people.update(reference.author for reference in one.references.values() if reference.author)
        return systems, people

    def rated(self) -> dict[str, set[float]]:
        """The values that were given by criterion."""
        found: dict[str, set[float]] = defaultdict(set)
        for one in self.sets.values():
            for peer in one.peers.values():
                for (criterion, _), value in peer.ratings.items():
                    found[criterion].add(value)
        return dict(found)

    @property
    def has_claims(self) -> bool:
        return any(
            one.claims or any(peer.claims for peer in one.peers.values()) for one in self.sets.values()
        )

    def add(self, row: Row) -> list[tuple[str, str]]:
        """Take in a row; or, where it contradicts an earlier one, nothing, and (field, reason) for each.

        One that repeats the texts of an earlier row is noted.
        """
        one = self.sets.get(row.document_id)
        if one is None:
            one = SetData.of(row)
        elif conflicts := list(one.conflicts(row, self.key_advice)):
            return conflicts
        elif row.line and not row.ratings and not row.marks:
            earlier = [one.pairs.get(key) for key in row.keys]
            if all(earlier) and earlier[0]:
                self.repeated[row.line] = earlier[0]
        if row.system and not any(name == row.system for name, _ in one.peers):
            self.sets_of[row.system] += 1
        one.take(row)
        self.sets[row.document_id] = one
        return []

    def add_document(self, rows: Sequence[Row]) -> list[tuple[str, str]]:
        """Take in a document with all its summaries, or nothing, as `add`. The claims stand in the first row."""
        earlier = self.sets.get(rows[0].document_id)
        # Summaries of other target lengths may follow in a line of their own.
        if earlier and (earlier.claims or any((row.system, row.target) in earlier.peers for row in rows)):
            return [
                (
                    "doc_id",
                    f"repeats {rows[0].document_id!r} of line {earlier.line}. One line holds one document.",
                )
            ]
        return [conflict for row in rows for conflict in self.add(row)]

    def missing(self, most: int) -> Mapping[str, list[str]]:
        """The systems that lack a summary in some sets, with the names of at most so many of these."""
        lacking: dict[str, list[str]] = {
            name: [] for name, found in self.sets_of.items() if found < len(self.sets)
        }
        wanted = dict(lacking)
        for document_id, one in self.sets.items():
            there = {name for name, _ in one.peers}
            for name in [name for name in wanted if name not in there]:
                lacking[name].append(document_id)
                if len(lacking[name]) == most:
                    del wanted[name]
            if not wanted:
                break
        return lacking

    def take_marks(self) -> int:
        """Make claims of the summaries that somebody marked: each unit, with no where a mark touches it, else yes.

        Returns how many units are marked; where nothing is, no claims are made.
        """
        marked = 0
        if not any(
            mark.stretch for one in self.sets.values() for peer in one.peers.values() for mark in peer.marks
        ):
            return 0
        for one in self.sets.values():
            for (system, _), peer in one.peers.items():
                if peer.marks:
                    peer.claims = tuple(_unit_claims(system, peer, one.language or "en"))
                    marked += sum(bool(claim.reasons) for claim in peer.claims)
        return marked


def _unit_claims(system: str, peer: PeerData, language: str) -> Iterator[ClaimData]:
    text = peer.text.text
    raters = dict.fromkeys(mark.rater for mark in peer.marks)
    for span in sentence_spans(text, language):
        touching = [
            mark
            for mark in peer.marks
            if mark.stretch and mark.stretch[0] < span.end and span.start < mark.stretch[1]
        ]
        against = {mark.rater for mark in touching}
        votes = tuple((rater, "no" if rater in against else "yes") for rater in raters)
        words = "; ".join(dict.fromkeys(mark.words for mark in touching))
        yield judged_sentence(system, text[span.start : span.end], votes, words)


def judged_sentence(system: str, text: str, votes: Votes, reason: str) -> ClaimData:
    """A sentence of a system's summary as a claim with its votes."""
    return ClaimData(
        text,
        verdicts={system: majority(label for _, label in votes)},
        votes={system: votes},
        systems=frozenset({system}),
        reasons={system: reason} if reason else {},
    )


def majority(labels: Iterable[str]) -> str:
    """The most frequent label; unsure if two are equally frequent."""
    (label, most), *others = Counter(labels).most_common()
    return "unsure" if others and others[0][1] == most else label


def _or_none(value: object) -> str:
    return "none" if value in {None, ""} else repr(value)

"""What a file says, put together: document sets, their summaries, who is compared with whom, and claims.

Texts that many rows repeat are held once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

_THINKING = re.compile(r"</?(think|thinking|reasoning)>|\[/?THINK\]", re.IGNORECASE)

Stretch = tuple[int, int]
"""Offsets into a text."""

Side = Literal["reference", "peer"]
TargetWords = int | None
PeerKey = tuple[str, TargetWords]
"""System and target length."""

PairKey = tuple[str, TargetWords, str]
"""System, target length and reference_id: within a document set, the key of a row."""


@dataclass(frozen=True, slots=True)
class FlatRow:
    """One row of a flat file, checked: one summary, with or without a reference beside it.

    A row without documents leaves those of the set, and one without a system holds a reference alone. `units` are how
    the file cuts the summary, and `reference_units` the reference; None where it does not.
    """

    line: int | None
    document_id: str
    documents: tuple[str, ...]
    system: str
    target: TargetWords
    summary: str
    reference: str | None = None
    reference_id: str = ""
    reference_author: str = ""
    group: str = ""
    language: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    names_reference: bool = False
    """Whether the row itself gives a reference_id: it is then compared with that reference alone."""
    units: tuple[Stretch, ...] | None = None
    reference_units: tuple[Stretch, ...] | None = None

    @property
    def key(self) -> PairKey:
        return (self.system, self.target, self.reference_id)

    @property
    def remark(self) -> str:
        """What is to be said of it although it is imported; mostly nothing."""
        name = f"the summary of {self.document_id!r} by {self.system!r}"
        if not self.summary.strip():
            return f"{name} is empty. It is flagged empty_peer."
        if _THINKING.search(self.summary):
            return f"{name} holds a model's thinking, which is scored as part of it."
        return ""


Votes = tuple[tuple[str, str], ...]
"""What each rater said of one check: the rater's name in the file and the label."""


class ClaimData(NamedTuple):
    """A claim with what people said of it, by system, and where each system's summary says it.

    `verdicts` is what they said together, `votes` what each of several raters did, where the file tells. `systems` are
    those that the file names beside the claim, with an answer or without.
    """

    text: str
    weight: float
    verdicts: Mapping[str, str]
    places: Mapping[str, tuple[Stretch, ...]] = {}
    votes: Mapping[str, Votes] = {}
    systems: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NestedRow:
    """One line of a nested file, checked: a row for each summary of its document, and the claims of all of them."""

    rows: tuple[FlatRow, ...]
    claims: tuple[ClaimData, ...]
    metadata: Mapping[str, object] = field(default_factory=dict)


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

    Without documents those of the project stay. `claims_of` names the reference that the claims are taken
    from, and the target length of the peers that they were compared with.
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


@dataclass(slots=True)
class Dataset:
    """All sets of a file by their document_id, in the order of the file."""

    sets: dict[str, SetData] = field(default_factory=dict)
    repeated: dict[int, int] = field(default_factory=dict)
    """Lines that say again what an earlier one said, with that one."""

    sets_of: dict[str, int] = field(default_factory=dict)
    """In how many sets each system of the rows has a summary."""

    key_advice: str = "Remove one of the two, or rename the system."
    """What may help where two rows have one key and two summaries."""

    def writers(self) -> tuple[set[str], set[str]]:
        """Names of the systems, which wrote peers; and of the people, who wrote references."""
        systems: set[str] = set()
        people: set[str] = set()
        for one in self.sets.values():
            systems.update(name for name, _ in one.peers)
            people.update(reference.author for reference in one.references.values() if reference.author)
        return systems, people

    @property
    def has_claims(self) -> bool:
        return any(one.claims for one in self.sets.values())

    def add(self, row: FlatRow) -> list[tuple[str, str]]:
        """Take in a row; or, where it contradicts an earlier one, nothing, and (field, reason) for each.

        One that repeats the texts of an earlier row is noted.
        """
        one = self.sets.get(row.document_id)
        conflicts = list(_conflicts(one, row, self.key_advice)) if one else []
        if conflicts:
            return conflicts
        if one and row.line and (earlier := one.pairs.get(row.key)):
            self.repeated[row.line] = earlier
        if row.system and (one is None or not any(name == row.system for name, _ in one.peers)):
            self._count(row.system)
        self.sets[row.document_id] = _with_row(one, row)
        return []

    def missing(self, most: int) -> Mapping[str, list[str]]:
        """The systems that lack a summary in some sets, with the names of at most so many of these."""
        lacking: dict[str, list[str]] = {
            name: [] for name, count in self.sets_of.items() if count < len(self.sets)
        }
        wanted = {name: min(most, len(self.sets) - self.sets_of[name]) for name in lacking}
        for document_id, one in self.sets.items() if lacking else ():
            there = {name for name, _ in one.peers}
            for name in [name for name in wanted if name not in there]:
                lacking[name].append(document_id)
                if len(lacking[name]) == wanted[name]:
                    del wanted[name]
            if not wanted:
                break
        return lacking

    def _count(self, system: str) -> None:
        self.sets_of[system] = self.sets_of.get(system, 0) + 1

    def add_nested(self, row: NestedRow) -> list[tuple[str, str]]:
        """Take in a document with all its summaries and claims, or nothing, as `add`."""
        document_id = row.rows[0].document_id
        earlier = self.sets.get(document_id)
        if earlier is not None:
            return [
                ("doc_id", f"repeats {document_id!r} of line {earlier.line}. One line holds one document.")
            ]
        made: SetData | None = None
        for one in row.rows:
            made = _with_row(made, one)
        assert made is not None, "a line names a system"
        made.claims = row.claims
        made.claims_of = row.rows[0].reference_id, row.rows[0].target
        made.metadata = dict(row.metadata)
        for system in {name for name, _ in made.peers}:
            self._count(system)
        self.sets[document_id] = made
        return []


def _conflicts(one: SetData, row: FlatRow, key_advice: str) -> Iterator[tuple[str, str]]:
    yield from _set_conflicts(one, row)
    yield from _peer_conflicts(one, row, key_advice)
    if row.reference is not None:
        yield from _reference_conflicts(one, row, row.reference)


def _with_row(one: SetData | None, row: FlatRow) -> SetData:
    """The set with a row taken in; a new one where there is none."""
    if one is None:
        one = SetData(
            line=row.line,
            documents=row.documents,
            group=row.group,
            language=row.language,
            metadata=dict(row.metadata),
        )
    one.documents = one.documents or row.documents
    one.group = one.group or row.group
    one.language = one.language or row.language
    one.questions = one.questions or row.questions
    one.metadata = {
        name: value for name, value in one.metadata.items() if row.metadata.get(name, one) == value
    }
    if row.system:
        one.pairs.setdefault(row.key, row.line)
        peer = one.peers.setdefault(
            (row.system, row.target),
            PeerData(Text(row.summary, row.line, row.units), row.metadata, row.names_reference),
        )
        peer.names_references &= row.names_reference
    if row.reference is not None:
        reference = one.references.setdefault(row.reference_id, ReferenceData(author=row.reference_author))
        reference.author = reference.author or row.reference_author
        reference.texts.setdefault(row.target, Text(row.reference, row.line, row.reference_units))
    return one


def _set_conflicts(one: SetData, row: FlatRow) -> Iterator[tuple[str, str]]:
    if one.documents and row.documents and one.documents != row.documents:
        yield (
            "document",
            f"differs from the document of {row.document_id!r} at line {one.line}. Rows of one "
            "document_id must repeat the same document; another document needs another document_id.",
        )
    for name, before, now in (("group", one.group, row.group), ("language", one.language, row.language)):
        if before and now and before != now:
            yield (
                name,
                f"is {now!r}, but {before!r} in an earlier row of {row.document_id!r}.",
            )
    if one.questions and row.questions and one.questions != row.questions:
        yield (
            "questions",
            f"are not those of an earlier row of {row.document_id!r}. Rows of one document_id must repeat the "
            "same questions in the same order, or leave them out.",
        )


def _peer_conflicts(one: SetData, row: FlatRow, key_advice: str) -> Iterator[tuple[str, str]]:
    peer = one.peers.get((row.system, row.target))
    earlier = one.pairs.get(row.key)
    differs = peer is not None and peer.text.text != row.summary
    if earlier is not None and differs:
        yield (
            "",
            f"repeats the key of line {earlier} (document_id {row.document_id!r}, system {row.system!r}, "
            f"target_words {_or_none(row.target)}, reference_id {_or_none(row.reference_id)})"
            f" with another summary. {key_advice}",
        )
    elif peer is not None and differs:
        yield (
            "summary",
            f"is another text than at line {peer.text.line} for the same document_id, system and "
            "target_words. Give it a system name of its own.",
        )


def _reference_conflicts(one: SetData, row: FlatRow, text: str) -> Iterator[tuple[str, str]]:
    reference = one.references.get(row.reference_id)
    if reference is None:
        return
    before = reference.texts.get(row.target)
    if before is not None and before.text != text:
        yield (
            "reference",
            f"is another text than at line {before.line} for the same document_id, reference_id and "
            "target_words. Several references of one document each need a reference_id.",
        )
    if reference.author and row.reference_author and reference.author != row.reference_author:
        yield (
            "reference_author",
            f"is {row.reference_author!r}, but {reference.author!r} earlier with this reference_id.",
        )


def _or_none(value: object) -> str:
    return "none" if value in {None, ""} else repr(value)

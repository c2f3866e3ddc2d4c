"""Our names as NIST's files can hold them: letters for people, numbers for systems, no white space, no dots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, product
from string import ascii_uppercase
from typing import TYPE_CHECKING

from annotation.models import System

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import DocumentSet, Project, Summary

_LETTERS = re.compile(r"[A-Z]{1,2}")
_NUMBER = re.compile(r"\d{1,4}")
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_UNFIT_DOCUMENT = re.compile(r"[^A-Za-z0-9_.-]+")
UNKNOWN_SELECTOR = "X"


@dataclass(frozen=True, slots=True)
class SetName:
    """A document set as a file's name or a table's line has it; `document` is empty for a whole set."""

    name: str
    summary_type: str
    selector: str
    document: str = ""


@dataclass(slots=True)
class NistNames:
    """Gives every system, person and set of a project a name that fits, the same in every file of an export.

    A name that fits stays as it is. `renamed` tells of the others.
    """

    people: People
    systems: Mapping[int, str]
    persons: dict[int, str]
    renamed: dict[tuple[str, str], str] = field(default_factory=dict)
    _letters: set[str] = field(default_factory=set)
    _sets: dict[str, str] = field(default_factory=dict)
    _references: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, people: People) -> NistNames:
        rows = list(System.objects.filter(project=project).order_by("name"))
        taken = {row.name for row in rows if _fits(row)}
        numbers, letters = _free(map(str, count(1)), taken), _free(_letter_names(), taken)
        systems: dict[int, str] = {}
        made = cls(people=people, systems=systems, persons={})
        for row in rows:
            is_person = row.kind == System.Kind.PERSON
            systems[row.pk] = row.name if _fits(row) else next(letters if is_person else numbers)
            made._note("system", row.name, systems[row.pk])
            if row.person_id is not None:
                made.persons.setdefault(row.person_id, systems[row.pk])
        made._letters = {name for name in systems.values() if name.isalpha()}
        return made

    def assessor(self, user_id: int, username: str) -> str:
        """A person who judged: the letter of what they wrote, where they wrote anything."""
        if user_id not in self.persons:
            self.persons[user_id] = self._next_letter()
        self._note("assessor", self.people.name(user_id, username), self.persons[user_id])
        return self.persons[user_id]

    def author(self, model: Summary) -> str:
        """Who wrote a model summary; one without a name gets a letter for its reference_id."""
        if model.system_id is not None:
            return self.systems[model.system_id]
        name = model.external_id
        if name not in self._references:
            fits = _LETTERS.fullmatch(name) and name not in self._letters
            self._references[name] = name if fits else self._next_letter()
            self._letters.add(self._references[name])
        self._note("reference_id", name or "(none)", self._references[name])
        return self._references[name]

    def of_set(self, row: DocumentSet, documents: int) -> SetName:
        """A set's name: of one document where it was one of several in a group, or was imported as such."""
        said = row.metadata.get("summary_type")
        is_single = said == "P" if said in {"M", "P"} else bool(row.group) and documents == 1
        whole = row.group if is_single and row.group else row.external_id
        selector = row.metadata.get("selector")
        fits = isinstance(selector, str) and _LETTERS.fullmatch(selector)
        return SetName(
            name=self._token("set", whole, _UNFIT),
            summary_type="P" if is_single else "M",
            selector=str(selector) if fits else UNKNOWN_SELECTOR,
            document=self._token("document", row.external_id, _UNFIT_DOCUMENT) if is_single else "",
        )

    def told(self) -> list[dict[str, str]]:
        """What was renamed, for a report."""
        return [
            {"kind": kind, "ours": ours, "theirs": theirs}
            for (kind, ours), theirs in sorted(self.renamed.items())
        ]

    def _next_letter(self) -> str:
        letter = next(_free(_letter_names(), self._letters))
        self._letters.add(letter)
        return letter

    def _token(self, kind: str, name: str, unfit: re.Pattern[str]) -> str:
        key = f"{kind} {name}"
        if key not in self._sets:
            plain = unfit.sub("-", name).strip("-.") or kind
            taken = set(self._sets.values())
            self._sets[key] = next(
                _free((plain, *(f"{plain}-{number}" for number in range(2, 100_000))), taken)
            )
            self._note(kind, name, self._sets[key])
        return self._sets[key]

    def _note(self, kind: str, ours: str, theirs: str) -> None:
        if ours != theirs:
            self.renamed[kind, ours] = theirs


def _fits(row: System) -> bool:
    wanted = _LETTERS if row.kind == System.Kind.PERSON else _NUMBER
    return wanted.fullmatch(row.name) is not None


def _letter_names() -> Iterator[str]:
    """A to Z, AA to ZZ, and so on."""
    for length in count(1):
        yield from map("".join, product(ascii_uppercase, repeat=length))


def _free(names: Iterator[str] | tuple[str, ...], taken: set[str]) -> Iterator[str]:
    return (name for name in names if name not in taken)

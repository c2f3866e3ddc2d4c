"""How a file of rows is read: which column a field has, and what stands for what the file does not say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal

from annotation.core.refusals import Invalid
from annotation.imports.fields import FLAT_FIELDS, MAX_NAME_CHARACTERS, MAX_TARGET, NESTED_FIELDS
from annotation.imports.layouts.presets import PRESETS

Target = int | Literal["reference"] | None
"""A number, the median length of the file's references, or none."""

DEFAULT_SYSTEM = "system 1"

_NONE = ("", "none")
_DIGITS_OF_HASH = 12


@dataclass(frozen=True, slots=True)
class Layout:
    """The column of each field, as `{"summary": "output"}`; a field that is not named has a column of its own name,
    or none where the mapping `is_whole`.

    `systems` are columns that each hold the summaries of the one system that they are named after. `system` is who
    wrote them where no column says so, `target` how long they should be where none does. A `preset` names the layout
    that is to be recognised in the columns; what the mapping says comes before it.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    systems: tuple[str, ...] = ()
    system: str = ""
    target: Target = None
    preset: str = ""
    is_whole: bool = False

    def __bool__(self) -> bool:
        return self != Layout()

    def column(self, name: str) -> str | None:
        """What the file calls a field; None where it is not read from the file."""
        return self.mapping.get(name, None if self.is_whole else name)

    def columns(self) -> dict[str, str]:
        """The columns that are read, by field; those of `systems` besides."""
        named = {name: self.column(name) for name in FLAT_FIELDS}
        if self.systems:
            named["summary"] = named["system"] = None
        return {name: column for name, column in named.items() if column is not None}

    def without(self, absent: Iterable[str]) -> Layout:
        """The same, whole: fields whose columns the file does not have are read from none."""
        gone = set(absent)
        kept = {name: column for name, column in self.columns().items() if name not in gone}
        return replace(self, mapping=kept, is_whole=True)

    @classmethod
    def stored(cls, told: Mapping[str, Any]) -> Layout:
        """What `dataclasses.asdict` has made of one."""
        return cls(**{**told, "systems": tuple(told["systems"])})


def layout_of(pairs: Iterable[str] = (), *, preset: str = "", system: str = "", target: str = "") -> Layout:
    """A layout as people type it: pairs such as "summary=output", and a target of "reference", "none" or a number.

    A pair may stand the other way round, where only its right side is a field. `summary` may have several columns.
    Raises Invalid.
    """
    mapping, summaries = _mapping(pairs)
    if preset and preset not in PRESETS:
        raise Invalid(
            f"There is no preset {preset!r}. There are {', '.join(PRESETS)}.",
            field="preset",
        )
    if len(system.strip()) > MAX_NAME_CHARACTERS:
        raise Invalid(f"The name of a system has at most {MAX_NAME_CHARACTERS} characters.", field="system")
    is_wide = len(summaries) > 1
    if is_wide and (taken := {"system", "summary_text"} & mapping.keys()):
        raise Invalid(
            f"Several columns hold summaries, each of one system, and {taken.pop()} is given a column besides. "
            "Leave one of the two out.",
            field="mapping",
        )
    if summaries and not is_wide:
        mapping["summary"] = summaries[0]
    return Layout(
        mapping=mapping,
        systems=tuple(summaries) if is_wide else (),
        system=system.strip(),
        target=_target(target.strip()),
        preset=preset,
    )


def document_hash(documents: Iterable[str]) -> str:
    """A name for a document set, made of its texts: the same for the same texts."""
    whole = sha256()
    for text in documents:
        whole.update(f"{len(text)} {text}".encode())
    return f"doc-{whole.hexdigest()[:_DIGITS_OF_HASH]}"


def _mapping(pairs: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The columns of all fields but `summary`, and the columns of that."""
    known = {*FLAT_FIELDS, *NESTED_FIELDS}
    mapping: dict[str, str] = {}
    summaries: list[str] = []
    for pair in pairs:
        name, equals, column = (part.strip() for part in pair.partition("="))
        if not (name and equals and column):
            raise Invalid(
                f"A column of another name is given as field=column, such as summary=output, not {pair!r}.",
                field="mapping",
            )
        if name not in known and column in known:
            name, column = column, name
        if name not in known:
            raise Invalid(
                f"There is no field {name!r} to map. Fields of a flat file: {', '.join(FLAT_FIELDS)}; "
                f"of a nested one: {', '.join(NESTED_FIELDS)}.",
                field="mapping",
            )
        if name in mapping or column in summaries:
            raise Invalid(f"The field {name} is given two columns. Give it one.", field="mapping")
        if name == "summary":
            summaries.append(column)
        else:
            mapping[name] = column
    return mapping, summaries


def _target(typed: str) -> Target:
    if typed in _NONE:
        return None
    if typed == "reference":
        return "reference"
    if typed.isascii() and typed.isdigit() and len(typed) < 11 and 1 <= int(typed) <= MAX_TARGET:
        return int(typed)
    raise Invalid(
        f"The target length is a whole number of at least 1, reference or none, not {typed!r}.",
        field="target_length",
    )

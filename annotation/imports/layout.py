"""Layouts of files of rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from configparser import ConfigParser, SectionProxy
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from annotation.core.refusals import Invalid
from annotation.imports.row import MAX_TARGET, opened

DEEPEST = 4
DEFAULT_SYSTEM = "system 1"
ENCODINGS = ("utf-8", "windows-1252", "iso-8859-15", "mac-roman", "windows-1250", "windows-1251", "shift-jis")

SEVERAL_COLUMNS = ("document", "summary", "reference", "rating")
"""Fields that may have several columns."""

_DATA = ConfigParser()
_DATA.read_string(Path(__file__).with_name("columns.ini").read_text(encoding="utf-8"))


def _sections(kind: str) -> dict[str, SectionProxy]:
    return {name.removeprefix(kind): held for name, held in _DATA.items() if name.startswith(kind)}


FIELDS = _sections("field ")
"""The `title`, `kind`, `help` and `names` of each field of a row."""
NESTED = _sections("nested ")
"""The fields of a nested line, of its systems and of claims, each with its name in files."""
PRESETS = _sections("preset ")
"""The known layouts: `title`, the columns that identify one, `shown_by`, and the names of columns by field."""
REFUSED = _sections("refused ")
"""Layouts that are refused: the pattern of a `column` that shows the layout, and the `advice` to the user."""
FLAT_FIELDS = tuple(FIELDS)
FLAT_REQUIRED, FLAT_OPTIONAL = FLAT_FIELDS[:4], FLAT_FIELDS[4:]
GENERAL = {name: tuple(held["names"].split()) for name, held in FIELDS.items()}
"""Names of the columns of each field, the surest first."""
CRITERIA = frozenset(_DATA["criteria"]["names"].split())
"""Common names of criteria."""
ASIDE = tuple(_DATA["aside"]["names"].split())
"""Ends of names of columns with remarks and figures."""
WRAPPERS = frozenset(_DATA["wrappers"]["names"].split())
"""Columns in which tools nest the columns of a row."""
PIECES = tuple(_DATA["pieces"]["names"].split())
"""Ends of names of columns whose list is a single text."""
LIKE_REFERENCES = tuple(_DATA["like references"]["names"].split())
"""Parts of names of references."""

LABELS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _DATA["labels of marks"].items()}
"""Patterns of labels that name an `error`, and that name `none`."""
OF_MTURK = re.compile(_DATA["mturk"]["columns"])
"""The beginning of names of columns that Mechanical Turk adds."""


def plain(name: str) -> str:
    """Normalise the name of a column: `Doc_ID` becomes `docid`."""
    return re.sub(r"[\s_?\-]+|\[\]$", "", name).casefold()


def indexed(name: str) -> tuple[str, str] | None:
    """Split the name of a column such as `references.0`, `reference_2` or `fluency 3` into its name and its number.

    Returns None for other names.
    """
    found = re.fullmatch(r"(.*?[^\W\d_])[\s._\-\[]*(\d{1,3})\]?", name)
    return (found[1], found[2]) if found else None


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of each field, such as `{"summary": ("output",)}`.

    The columns of missing fields are guessed, unless the mapping `is_whole`. Several columns for `summary` are one
    system each; several columns for `reference` are one reference each. `system` applies if no column names systems,
    and `target` to rows without a target length. `encoding` is the encoding of a text file.
    """

    mapping: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    system: str = ""
    target: int | None = None
    encoding: str = ""
    is_whole: bool = False

    def pairs(self) -> list[str]:
        """Return the mapping as people type it, field=column.

        A field is omitted if its only column has the field's own name, except `rating`.
        """
        typed = {name: some for name, some in self.mapping.items() if some != (name,) or name == "rating"}
        return [f"{name}={column}" for name, columns in typed.items() for column in columns]


def layout_of(pairs: Iterable[str] = (), *, system: str = "", target: str = "", encoding: str = "") -> Layout:
    """Parse pairs such as "summary=output" into a layout; the target is a number, "none" or empty.

    Raises Invalid for an unusable value.
    """
    mapping = _mapping(pairs)
    if encoding and encoding not in ENCODINGS:
        told = f"There is no encoding {encoding!r}. There are {', '.join(ENCODINGS)}."
        raise Invalid(told, field="encoding")
    if len(mapping.get("summary", ())) > 1 and "system" in mapping:
        told = "Several columns hold summaries, each of one system, and system is given a column besides."
        raise Invalid(f"{told} Leave one of the two out.", field="mapping")
    return Layout(mapping, system.strip(), _target(target.strip()), encoding)


def _mapping(pairs: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        name, _, column = (part.strip() for part in pair.partition("="))
        if name not in FLAT_FIELDS or not column:
            told = f"A column is given as field=column, such as summary=output, not {pair!r}. Fields are"
            raise Invalid(f"{told} {', '.join(FLAT_FIELDS)}.", field="mapping")
        before = found.get(name, ())
        if column in before or (before and name not in SEVERAL_COLUMNS):
            raise Invalid(f"The field {name} is given two columns. Give it one.", field="mapping")
        found[name] = (*before, column)
    return found


def _target(typed: str) -> int | None:
    if typed in {"", "none"}:
        return None
    if typed.isascii() and typed.isdigit() and len(typed) < 11 and 1 <= int(typed) <= MAX_TARGET:
        return int(typed)
    told = f"The target length is a whole number of at least 1, or none, not {typed!r}."
    raise Invalid(told, field="target_length")


def document_hash(documents: Iterable[str]) -> str:
    """Make an id from texts; equal texts have equal ids."""
    whole = "".join(f"{len(text)} {text}" for text in documents)
    return f"doc-{sha256(whole.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


_STEP = re.compile(r"[^.\[\]]+|\[(?:-?[0-9]{1,6})?\]")


def pick(values: Mapping[str, object], path: str) -> object:
    """Return the value with this name or at the end of this path; None if there is none.

    Examples of paths are `input.article`, `messages[-1].content` and `sentences[].text`. Texts along the path that hold
    JSON are parsed.
    """
    if path in values or not ("." in path or "[" in path):
        return values.get(path)
    return _walk(values, _STEP.findall(path))


def _walk(value: object, steps: list[str]) -> object:
    for number, step in enumerate(steps):
        value = opened(value)
        # Names of systems may have dots.
        if isinstance(value, Mapping) and (dotted := ".".join(steps[number:])) in value:
            return value[dotted]
        if step == "[]":
            return [_walk(item, steps[number + 1 :]) for item in value] if isinstance(value, list) else None
        if step.startswith("["):
            place = int(step[1:-1])
            value = value[place] if isinstance(value, list) and -len(value) <= place < len(value) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def root(path: str) -> str:
    """Return the first name of a path."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def last(path: str) -> str:
    """Return the last name of a dotted path, normalised by `plain`."""
    return plain(path.rpartition(".")[2])


def text_paths(values: Mapping[str, object]) -> Iterator[str]:
    """Yield the names of a record, each followed by paths to texts inside its value."""
    for name, value in values.items():
        yield name
        yield from _inside(name, opened(value), 1)


def _inside(path: str, value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield from [path] if value.strip() else ()
    elif isinstance(value, dict) and depth <= DEEPEST:
        for name, part in value.items():
            yield from _inside(f"{path}.{name}", part, depth + 1)
    elif isinstance(value, list) and value and "[]" not in path:
        # Use the last message of a conversation, but every item of another list.
        item = value[-1]
        step = "[-1]" if isinstance(item, dict) and {"role", "content"} <= item.keys() else "[]"
        yield from _inside(f"{path}{step}", item, depth)

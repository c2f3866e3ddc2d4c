"""NIST's result tables of DUC 2001 to 2004: columns between white space, told apart by how many there are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotation.imports.dataset import Dataset, PublishedRow
from annotation.imports.nist_lines import Reader, is_almost, is_tabular
from annotation.imports.nist_responses import ResponseReader
from annotation.imports.nist_units import UnitReader, counted_from_one
from annotation.imports.packages import Member, as_text
from annotation.imports.problems import Problems, Remarks

_RESPONSES = re.compile(r"(?:^|[._-])table\.([RU])(?:\.|$)")


def looks_like_table(head: str, base_name: str) -> bool:
    """Whether the beginning of a file is that of a table; its header lines may be any text."""
    if _RESPONSES.search(base_name):
        return True
    return any(is_almost(cells) or is_tabular(cells) for cells in map(str.split, head.split("\n")[:200]))


def take_table(member: Member, dataset: Dataset, problems: Problems, remarks: Remarks) -> None:
    """Add a table's lines to the data set, each checked; lines that are not of its layout are problems."""
    content, is_utf8 = as_text(member.data)
    if not is_utf8:
        remarks.add(member.name, "is not UTF-8: read as Windows-1252")
    responses = _RESPONSES.search(member.base)
    reader: Reader
    if responses:
        reader = ResponseReader(member.name, problems, letter=responses[1])
    else:
        reader = UnitReader(member.name, problems)
    found = list(_told_once(reader, content, problems, remarks))
    if not found and not reader.bad_lines:
        _tell_no_line(reader, member.name, problems)
    for remark in reader.remarks(found):
        remarks.add(member.name, remark.removesuffix("."))
    dataset.published.extend(counted_from_one(found))


def _told_once(reader: Reader, content: str, problems: Problems, remarks: Remarks) -> Iterator[PublishedRow]:
    """The rows without those that repeat an earlier one; one that contradicts an earlier one is a problem."""
    earlier: dict[tuple[object, ...], PublishedRow] = {}
    for row in reader.rows(content):
        first = earlier.setdefault(reader.about(row), row)
        if first is row:
            yield row
        elif (first.figures, first.percents) == (row.figures, row.percents):
            remarks.add(row.file, f"line {row.line} repeats line {first.line}, so it is counted once")
        else:
            problems.add(
                row.line,
                "",
                f"line {row.line} says otherwise than line {first.line}, of the same summary, model author and "
                "assessor. Leave one of them.",
                file=row.file,
            )


def _tell_no_line(reader: Reader, file: str, problems: Problems) -> None:
    nearest = reader.nearest
    if nearest is None:
        problems.add(None, "", "holds no line of a NIST result table.", file=file)
        return
    line, bad = nearest
    reason = f"{bad.reason} The file holds no line of a NIST result table."
    problems.add(line, f"column {bad.column}", reason, file=file)

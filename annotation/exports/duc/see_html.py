"""Every model and peer summary as a SEE HTML file, in a zip with a folder of models and one of peers."""

from __future__ import annotations

import html
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from django.db.models import Count

from annotation.core.paging import batches
from annotation.exports.duc.duc_files import LeftOut, OwnFormat, Written, write_zip
from annotation.exports.duc.nist_names import UNKNOWN_SELECTOR, NistNames, SetName
from annotation.models import DocumentSet, Summary, Unit
from annotation.models.pyramid import pyramid_of

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.exports.progress import ExportProgress
    from annotation.models import Project

SETS_AT_ONCE = 100


def write(project: Project, people: People, stream: BinaryIO, progress: ExportProgress) -> Written:
    """Write the zip to a stream; returns what is in it and what is not."""
    names = NistNames.of(project, people)
    seen: Counter[str] = Counter()
    files = write_zip(stream, (file for some in _sets(project) for file in _files(some, names, seen)))
    left = LeftOut()
    left.add_of(project, "documents", "percents", "verdicts", "decisions", "published")
    left.add("pyramids", seen["pyramids"])
    left.add("weights of units other than 1", seen["weights"])
    left.add("units with line breaks, written with spaces", seen["breaks"])
    left.add("summaries without a target length, written as 000", seen["no target"])
    left.add(f"sets without a selector's letter, written as {UNKNOWN_SELECTOR}", seen["no selector"])
    return Written(rows=files, left_out=left, renamed=names.told())


def _sets(project: Project) -> Iterator[Sequence[DocumentSet]]:
    rows = DocumentSet.objects.filter(project=project).annotate(document_count=Count("documents"))
    return batches(rows.order_by("external_id").iterator(chunk_size=SETS_AT_ONCE), SETS_AT_ONCE)


def _files(sets: Sequence[DocumentSet], names: NistNames, seen: Counter[str]) -> Iterator[tuple[str, str]]:
    keys = [row.pk for row in sets]
    units: dict[int, list[Unit]] = defaultdict(list)
    for unit in Unit.objects.filter(summary__document_set__in=keys).order_by("position"):
        units[unit.summary_id or 0].append(unit)
    summaries: dict[int, list[Summary]] = defaultdict(list)
    for summary in Summary.objects.filter(document_set__in=keys).select_related("system").order_by("pk"):
        summaries[summary.document_set_id].append(summary)
    for row in sets:
        of_set = names.of_set(row, getattr(row, "document_count", 0))
        seen["no selector"] += of_set.selector == UNKNOWN_SELECTOR
        taken: set[str] = set()
        for summary in summaries[row.pk]:
            if pyramid_of(summary.metadata) is not None:
                seen["pyramids"] += 1
                continue
            seen["no target"] += summary.target_words is None
            seen["weights"] += sum(unit.weight != 1 for unit in units[summary.pk])
            for folder, summariser in _places(summary, names):
                stem = _stem(of_set, summary, summariser)
                if f"{folder}/{stem}" in taken:
                    # Two references by one person: the second one goes under a letter of its own.
                    other = Summary(external_id=summary.external_id or summary.public_id)
                    stem = _stem(of_set, summary, names.author(other))
                taken.add(f"{folder}/{stem}")
                yield f"{folder}/{stem}.html", _page(stem, summary, units[summary.pk], seen)


def _places(summary: Summary, names: NistNames) -> Iterator[tuple[str, str]]:
    """The folders that a summary goes into, and the summariser's name in each."""
    if summary.is_model:
        yield "models", names.author(summary)
    if summary.is_peer and summary.system_id is not None:
        yield "peers", names.systems[summary.system_id]


def _stem(of_set: SetName, summary: Summary, summariser: str) -> str:
    """set.type.size.selector.summariser[.document]"""
    parts = (of_set.name, of_set.summary_type, f"{summary.target_words or 0:03}", of_set.selector, summariser)
    return ".".join((*parts, of_set.document) if of_set.document else parts)


def _page(title: str, summary: Summary, units: list[Unit], seen: Counter[str]) -> str:
    lines = ["<html>", "<head>", f"<title>{html.escape(title)}</title>", "</head>", '<body bgcolor="white">']
    for number, unit in enumerate(units, start=1):
        text = summary.text[unit.start : unit.end]
        plain = " ".join(text.split())
        seen["breaks"] += "\n" in text.strip()
        escaped = html.escape(plain, quote=False)
        lines.append(f'<a name="{number}">[{number}]</a> <a href="#{number}" id={number}>{escaped}</a>')
    return "\n".join([*lines, "</body>", "</html>", ""])


FORMAT = OwnFormat(level="see", format="html", suffix="zip", write=write)

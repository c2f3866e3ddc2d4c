"""Rows that a program hands over as they come: read as those of a flat file, and each may leave out what is known."""

from __future__ import annotations

from collections.abc import Mapping

from annotation.imports.dataset import Dataset, FlatRow
from annotation.imports.fields import FLAT_FIELDS, Fields
from annotation.imports.formats import Format
from annotation.imports.problems import Problems, Warnings
from annotation.imports.read import FileReading
from annotation.imports.streams import Record
from annotation.models import Document, Project


def read_pushed(
    rows: Mapping[int, Mapping[str, object]], *, most: int
) -> tuple[FileReading, dict[int, FlatRow]]:
    """Read rows by their numbers, which stand for a file's lines; those without a problem.

    `most` problems are told, and the first one of each row.

    A row holds a summary of a document with its system, a reference, or both. A summary whose rows name a reference_id
    is compared with that reference, every other one with all references of its document set.
    """
    dataset, problems, warnings = (
        Dataset(),
        Problems(most=most, tells_each_line=True),
        Warnings(word=Format.PUSHED.place),
    )
    read: dict[int, FlatRow] = {}
    for number, values in rows.items():
        fields = Fields(Record(number, values), {}, problems)
        row = _row(fields)
        if row is None:
            continue
        conflicts = dataset.add(row)
        for name, reason in conflicts:
            fields.complain(name, reason)
        if not conflicts:
            read[number] = row
        if row.system and row.remark:
            warnings.add(row.remark, line=number)
    reading = FileReading(
        format=Format.PUSHED, dataset=dataset, claims_side=None, problems=problems, warnings=warnings
    )
    return reading, read


def _row(fields: Fields) -> FlatRow | None:
    for name in fields.record.values:
        if name not in FLAT_FIELDS:
            fields.complain(name, f"is no field of a row. Fields are {', '.join(FLAT_FIELDS)}.")
    reference = fields.optional_text("reference")
    reference_id = fields.identifier("reference_id")
    is_reference = fields.raw("system") is None and fields.raw("summary") is None
    row = FlatRow(
        line=fields.line,
        document_id=fields.identifier("document_id", required=True),
        documents=() if fields.raw("document") is None else fields.documents("document"),
        system="" if is_reference else fields.identifier("system", required=True),
        target=fields.target(),
        summary="" if is_reference else fields.summary(),
        reference=reference if reference.strip() else None,
        reference_id=reference_id,
        reference_author=fields.identifier("reference_author"),
        group=fields.identifier("group"),
        language=fields.language(),
        metadata=fields.metadata(),
        questions=fields.questions(),
        names_reference=bool(reference_id),
    )
    if (
        fields.is_good
        and row.reference is None
        and (is_reference or row.reference_id or row.reference_author)
    ):
        fields.complain("reference", "is empty. A row holds a system with its summary, a reference, or both.")
    return row if fields.is_good else None


def add_known_documents(dataset: Dataset, project: Project, problems: Problems) -> None:
    """Give the sets whose rows name no document those that the project has; a problem where it has none."""
    bare = {name: one for name, one in dataset.sets.items() if not one.documents}
    known = (
        Document.objects.filter(document_set__project=project, document_set__external_id__in=bare)
        .order_by("document_set_id", "position")
        .values_list("document_set__external_id", "text")
    )
    for name, text in known if bare else ():
        bare[name].documents += (text,)
    for name, one in bare.items():
        if not one.documents:
            problems.add(
                one.line,
                "document",
                f"is missing, and the project has no document {name!r} yet. Send it with the first of its rows.",
            )

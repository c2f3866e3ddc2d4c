"""A flat row: one peer summary with its document and, mostly, a reference."""

from __future__ import annotations

from annotation.imports.dataset import Row
from annotation.imports.fields import Fields
from annotation.imports.problems import Warnings
from annotation.imports.questions import read_questions


def flat_row(fields: Fields, warnings: Warnings) -> Row | None:
    """The row, or None where something in it is wrong; every such thing is then noted in `fields`.

    A summary that is there and blank is a summary: it is imported with a warning. A blank
    reference is none.
    """
    reference = fields.optional_text("reference")
    row = Row(
        line=fields.line,
        document_id=fields.identifier("document_id", required=True),
        documents=fields.documents("document"),
        system=fields.identifier("system", required=True),
        target=fields.target(),
        summary=fields.required_text("summary"),
        reference=reference if reference.strip() else None,
        reference_id=fields.identifier("reference_id"),
        reference_author=fields.identifier("reference_author"),
        group=fields.identifier("group"),
        language=fields.language(),
        metadata=fields.metadata(),
        questions=read_questions(fields),
    )
    if not fields.is_good:
        return None
    if row.reference is None and (row.reference_id or row.reference_author):
        fields.complain(
            "reference",
            "is empty although the row names a reference. Repeat the reference's text in each of its rows.",
        )
        return None
    if not row.summary.strip():
        warnings.add(
            f"the summary of {row.document_id!r} by {row.system!r} is empty. It is imported and flagged "
            "empty_peer.",
            line=row.line,
        )
    return row

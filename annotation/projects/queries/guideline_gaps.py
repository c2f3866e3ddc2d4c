"""Where the guidelines do not say how to answer: what adjudicators and reviewers marked, for whoever writes them.

A gap is open while the version that was in force when it was marked still is; a newer version settles it. It stands in
the answer that somebody holds: what was taken back, or answered anew without the mark, is none.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, F, IntegerField, OuterRef, Q, Value
from django.db.models.functions import Coalesce

from annotation.core.known_checks import knows
from annotation.core.permissions import Verb
from annotation.core.readers import CheckReader
from annotation.models import Adjudication, Check, ErrorType, Guideline, Verdict
from annotation.reviewing.queries.sight import keeps_back

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

SHOWN = 20
NO_VERSION = 0


@dataclass(frozen=True, slots=True)
class GuidelineGap:
    """One mark: who set it, on what, and why.

    `kind` is decision or verdict. The place is the page of the peer summary, at `anchor`. `marked_under` is the version
    in force at that time, 0 where there was none; `settled_by` the first one after it, None while the gap is open.
    """

    gap_id: str
    kind: str
    by: str
    at: datetime
    about: str
    reason: str
    document_set: str
    summary_id: str
    anchor: str
    marked_under: int
    settled_by: int | None


@dataclass(frozen=True, slots=True)
class Gaps:
    """The newest gaps of one state, and how many there are of it in all."""

    newest: list[GuidelineGap]
    count: int


def may_see_gaps(verbs: AbstractSet[Verb]) -> bool:
    """Whether the gaps are shown to somebody who holds these verbs: they write guidelines, and are not blind now.

    Words of others about single texts are not for people who still have to judge these texts.
    """
    return Verb.CHANGE_PROJECT in verbs and Verb.VIEW_SCORES in verbs


def gaps_of(project: Project, reader: CheckReader, *, is_settled: bool = False, limit: int = SHOWN) -> Gaps:
    """The gaps marked in the project, open or settled, newest first, as far as the reader may know of them.

    Where the project keeps others' answers back from them, those are counted and shown that lie on claims which they
    know. Ask `may_see_gaps` first.
    """
    now = Guideline.objects.filter(project=project).order_by("-version").values_list("version", flat=True)
    version = now.first() or NO_VERSION
    state = Q(under__lt=version) if is_settled else Q(under=version)
    marked = [
        _within_reach(rows, project, reader).annotate(under=_VERSION).filter(state)
        for rows in (_decisions(project), _verdicts(project))
    ]
    found = [
        _gap(row, under=row.under, is_settled=is_settled)
        for rows in marked
        for row in rows.order_by("-pk")[:limit]
    ]
    newest = sorted(found, key=lambda gap: (gap.at, gap.gap_id), reverse=True)
    return Gaps(newest=newest[:limit], count=sum(rows.count() for rows in marked))


_VERSION = Coalesce(F("guideline__version"), Value(NO_VERSION), output_field=IntegerField())
_OF_GAP = ErrorType.GUIDELINE_GAP


def _decisions(project: Project) -> QuerySet[Any]:
    """Decisions in force that carry the mark."""
    of_project = Q(check_row__project=project) | Q(comparison__peer__document_set__project=project)
    later = Adjudication.objects.filter(withdrawn_at=None, pk__gt=OuterRef("pk"))
    of_check = later.filter(check_row=OuterRef("check_row"))
    of_unit = later.filter(comparison=OuterRef("comparison")).filter(
        Q(unit=OuterRef("unit")) | Q(claim=OuterRef("claim"))
    )
    rows = Adjudication.objects.filter(
        of_project, Q(is_guideline_gap=True) | Q(error_type=_OF_GAP), withdrawn_at=None
    ).exclude(Exists(of_check) | Exists(of_unit))
    return rows.annotate(person_id=F("decided_by_id")).select_related(
        "decided_by",
        "unit",
        "claim",
        "comparison__model",
        "comparison__peer__document_set",
        "check_row__claim",
        "check_row__peer__document_set",
    )


def _verdicts(project: Project) -> QuerySet[Any]:
    """Reviewers' standing answers that carry the mark."""
    later = Verdict.objects.filter(
        check_row=OuterRef("check_row"), person=OuterRef("person"), withdrawn_at=None, pk__gt=OuterRef("pk")
    )
    rows = Verdict.objects.filter(
        check_row__project=project, error_type=_OF_GAP, person__isnull=False, withdrawn_at=None
    ).exclude(Exists(later))
    return rows.select_related("person", "check_row__claim", "check_row__peer__document_set")


def _within_reach(rows: QuerySet[Any], project: Project, reader: CheckReader) -> QuerySet[Any]:
    if not keeps_back(project, reader):
        return rows
    known = Check.objects.filter(knows(reader.person), pk=OuterRef("check_row"))
    return rows.filter(Q(check_row=None) | Q(person_id=reader.person.pk) | Exists(known))


def _gap(row: Adjudication | Verdict, *, under: int, is_settled: bool) -> GuidelineGap:
    is_decision = isinstance(row, Adjudication)
    author = row.decided_by if isinstance(row, Adjudication) else row.person
    peer, about, anchor = _place(row)
    return GuidelineGap(
        gap_id=row.public_id,
        kind="decision" if is_decision else "verdict",
        by=author.username if author else "",
        at=row.created_at,
        about=about,
        reason=row.reason,
        document_set=peer.document_set.external_id,
        summary_id=peer.public_id,
        anchor=anchor,
        marked_under=under,
        settled_by=under + 1 if is_settled else None,
    )


def _place(row: Adjudication | Verdict) -> tuple[Any, str, str]:
    """The peer summary, what the answer is about, and where on the summary's page it stands."""
    if row.check_row is not None:
        return row.check_row.peer, row.check_row.claim.text, f"check-{row.check_row.public_id}"
    assert isinstance(row, Adjudication), "every verdict answers a check"
    assert row.comparison is not None, "the database holds a decision to a check or a comparison"
    if row.unit is not None:
        text = row.comparison.model.text[row.unit.start : row.unit.end].strip()
        return row.comparison.peer, text, f"unit-{row.unit.public_id}"
    assert row.claim is not None, "the database holds a decision on a comparison to a unit or a claim"
    return row.comparison.peer, row.claim.text, f"claim-{row.claim.public_id}"

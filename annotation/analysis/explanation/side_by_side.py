"""The summaries of a document set side by side, and the list of document sets."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from django.db.models import Avg, Count, Exists, F, FloatField, IntegerField, OuterRef, Q, Subquery, Value
from django.db.models.functions import Cast, Coalesce

from annotation.analysis.explanation.explanation import same_words
from annotation.analysis.explanation.statements import with_overruled
from annotation.analysis.slices.split import splits
from annotation.core.lists import Column, Filter, Kind, List, Viewer, sees_scores
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.models import (
    Check,
    Claim,
    DocumentSet,
    Label,
    Score,
    Summary,
)
from annotation.models.claim import NOT_YES, OF_CLAIMS
from annotation.scoring.own_scores import COMPOSITE, composites_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import Aggregate, QuerySet

    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a summary's text, with the checks of the unsupported claims that it contains."""

    text: str
    checks: tuple[Check, ...] = ()

    @property
    def verbatim(self) -> Check | None:
        """Return the check of the piece's only claim if both have the same words; otherwise None."""
        only = self.checks[0] if len(self.checks) == 1 else None
        return only if only is not None and same_words(only.claim.text, self.text) else None


@dataclass(frozen=True, slots=True)
class BesideOthers:
    """A summary with its stored score, if any.

    `pieces` together are the whole text. `unsupported` counts the claims with a no or unsure against the source;
    `reworded` has those that are not the `verbatim` of a piece. `claims` counts the scored claims on the reference
    side; `missed` has those with a no or unsure.
    """

    summary: Summary
    score: Score | None
    pieces: tuple[Piece, ...]
    unsupported: int
    reworded: tuple[Check, ...]
    missed: tuple[Check, ...]
    claims: int


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The summaries of a document set, by target length, and highest coverage first at each length.

    `claims` counts the claims on the reference side. `in_all` of them have the answer yes for each summary in which
    they are checked, and `in_none` for no summary. Claims that are unscored in a summary count in neither.
    """

    summaries: tuple[BesideOthers, ...]
    claims: int
    in_all: int
    in_none: int

    @property
    def several_lengths(self) -> bool:
        return len({each.summary.target_words for each in self.summaries}) > 1


def side_by_side(document_set: DocumentSet) -> SideBySide:
    """Compare the summaries of a document set."""
    rows = Summary.objects.filter(document_set=document_set, is_summary=True).select_related(
        "system", "score"
    )
    best_first = F("score__coverage").desc(nulls_last=True), F("score__alignment").desc(nulls_last=True)
    summaries = list(rows.order_by("target_words", *best_first, "system__name", "pk"))
    unsupported: dict[int | None, list[Check]] = defaultdict(list)
    missed: dict[int | None, list[Check]] = defaultdict(list)
    labels: dict[int, list[str | None]] = defaultdict(list)
    scored: Counter[int | None] = Counter()
    for check in with_overruled(checks_of(document_set)).select_related("claim__unit"):
        if check.side == Check.Side.REFERENCE:
            labels[check.claim_id].append(check.final_label)
            scored[check.summary_id] += check.final_label is not None
        if check.final_label in NOT_YES:
            (missed if check.side == Check.Side.REFERENCE else unsupported)[check.summary_id].append(check)
    answered = [of for of in labels.values() if None not in of]
    return SideBySide(
        summaries=tuple(
            _beside(summary, unsupported[summary.pk], tuple(missed[summary.pk]), scored[summary.pk])
            for summary in summaries
        ),
        claims=len(labels),
        in_all=sum(set(of) == {Label.YES} for of in answered),
        in_none=sum(Label.YES not in of for of in answered),
    )


def marked(text: str, checks: Sequence[Check]) -> tuple[Piece, ...]:
    """Cut a summary's text into pieces, and give each piece its claims.

    A claim is placed by its own offsets, or else by its unit; a claim without a place in the text is in no piece.
    Overlapping places become one piece.
    """
    places = sorted(
        ((*place, check) for check in checks if (place := _place(check.claim, text))),
        key=lambda each: each[:2],
    )
    pieces: list[Piece] = []
    at = 0
    for start, end, check in places:
        if start < at:
            # This part overlaps the piece before it.
            last = pieces.pop()
            pieces.append(Piece(last.text + text[at:end], (*last.checks, check)))
        else:
            pieces += [Piece(text[at:start])] if start > at else []
            pieces.append(Piece(text[start:end], (check,)))
        at = max(at, end)
    return (*pieces, Piece(text[at:])) if at < len(text) else tuple(pieces)


def _beside(
    summary: Summary, unsupported: list[Check], missed: tuple[Check, ...], claims: int
) -> BesideOthers:
    pieces = marked(summary.text, unsupported)
    verbatim = {piece.verbatim for piece in pieces}
    return BesideOthers(
        summary=summary,
        score=getattr(summary, "score", None),
        pieces=pieces,
        unsupported=len(unsupported),
        reworded=tuple(check for check in unsupported if check not in verbatim),
        missed=missed,
        claims=claims,
    )


def _place(claim: Claim, text: str) -> tuple[int, int] | None:
    start, end = claim.start, claim.end
    if start is None or end is None:
        if claim.unit is None:
            return None
        start, end = claim.unit.start, claim.unit.end
    end = start + len(text[start:end].rstrip())
    return (start, end) if start < end <= len(text) else None


def checks_of(document_set: DocumentSet) -> QuerySet[Check]:
    """Select the current checks of claims of the set's summaries, ordered by claim."""
    in_set = {"project": document_set.project_id, "document_set": document_set}
    rows = Check.objects.filter(OF_CLAIMS, summary__is_summary=True, is_current=True, **in_set)
    return rows.order_by("claim__claim_set", "claim__position", "pk")


def sets_with_summaries(project: Project) -> QuerySet[DocumentSet]:
    """Select the document sets that have summaries of systems, sorted by name."""
    rows = Summary.objects.filter(document_set=OuterRef("pk"), is_summary=True)
    return project.document_sets.filter(Exists(rows)).order_by("external_id")


BELOW_ALL, ABOVE_ALL = -1, 2_000_000
"""Sort values, in millionths, that put sets without a score last in either order."""


def _sets(viewer: Viewer) -> QuerySet[DocumentSet]:
    rows = Summary.objects.filter(document_set=OuterRef("pk"), is_summary=True)
    sets = viewer.project.document_sets.annotate(
        documents_count=Count("documents"), has_summaries=Exists(rows)
    )
    if not sees_scores(viewer):
        return sets
    scores = Score.objects.filter(summary__document_set=OuterRef("pk"), summary__is_summary=True)
    unsupported = Check.objects.filter(
        # Filter by project, too, for the indexes that begin with it.
        project=OuterRef("project"),
        document_set=OuterRef("pk"),
        side=Check.Side.SUMMARY,
        summary__is_summary=True,
        is_current=True,
        final_label__in=NOT_YES,
    )
    for name in ("coverage", "alignment"):
        mean = Subquery(_of_all(scores, Avg(name)), output_field=FloatField())
        millionths = Cast(mean * 1_000_000, IntegerField())
        up, down = Coalesce(millionths, ABOVE_ALL), Coalesce(millionths, BELOW_ALL)
        sets = sets.annotate(**{name: mean, f"{name}_up": up, f"{name}_down": down})
    return sets.annotate(
        scored=Coalesce(Subquery(_of_all(scores, Count("pk"))), 0),
        unsupported=Coalesce(Subquery(_of_all(unsupported, Count("pk"))), 0),
    )


def _mean(name: str, head: str, *, cell: str) -> Column:
    return Column(
        name,
        kind=Kind.NUMBER,
        nullable=True,
        head=head,
        order=f"{name}_up",
        order_down=f"{name}_down",
        cell=cell,
        seen_by=sees_scores,
        help="Mean over the scored summaries; null without any.",
    )


def _in_slice(viewer: Viewer, label: str) -> Q:
    for split in splits(viewer.project).values():
        inside = [name for name, of in split.slices.items() if split.label(of) == label]
        if inside:
            return Q(external_id__in=inside)
    raise Invalid(f"There is no slice {label!r}. An example of a slice is “topic: law”.", field="slice")


def _slices(viewer: Viewer) -> list[tuple[str, str]]:
    labels = [split.label(name) for split in splits(viewer.project).values() for name in split.names]
    return [(label, label) for label in labels]


def _with_composites(viewer: Viewer, rows: Sequence[DocumentSet]) -> None:
    own = composites_of(viewer.project, summary__document_set__in=rows)
    found: dict[int, list[float]] = defaultdict(list)
    for key, of_set in Summary.objects.filter(pk__in=own).values_list("pk", "document_set_id") if own else ():
        found[of_set].append(own[key])
    for row in rows:
        setattr(row, COMPOSITE, fmean(values) if (values := found[row.pk]) else None)


DOCUMENT_SETS = List(
    name="document sets",
    verbs=(Verb.VIEW_PROJECT,),
    rows=_sets,
    order=("external_id",),
    empty="No document sets yet. Import a file first.",
    prepare=_with_composites,
    filters=(
        Filter("document_id", "external_id", help="The set of that name."),
        Filter("group", help="Sets of that group."),
        Filter("language", help="Sets in that language."),
        Filter(
            "slice",
            _in_slice,
            options=_slices,
            title="Slice",
            seen_by=sees_scores,
            help="Sets of that slice, written as key and value: `topic: law`.",
        ),
    ),
    columns=(
        Column(
            "document_id",
            "external_id",
            head="Document set",
            order=True,
            search=True,
            cell="analysis/explanation/_document_set.html",
            help="Its name in the imported file.",
        ),
        Column("id", "public_id"),
        Column("group", help="Cluster that intervals resample; empty: the set itself."),
        Column("language"),
        Column("documents_count", kind=Kind.COUNT),
        Column("scored", kind=Kind.COUNT, head="Scored summaries", seen_by=sees_scores),
        _mean("coverage", "Mean coverage", cell="analysis/explanation/_mean.html"),
        _mean("alignment", "Mean alignment", cell="analysis/explanation/_mean.html"),
        Column(
            COMPOSITE,
            kind=Kind.NUMBER,
            nullable=True,
            head="Mean own composite",
            cell="analysis/explanation/_mean.html",
            seen_by=lambda viewer: sees_scores(viewer) and bool(viewer.project.own_weights),
            help="Mean over its summaries that have the composite with the project's own weights; null without any.",
        ),
        Column(
            "unsupported",
            kind=Kind.COUNT,
            head="Unsupported claims",
            order=True,
            seen_by=sees_scores,
            help="Claims of its summaries that the documents do not support.",
        ),
        Column("created_at", kind=Kind.MOMENT),
    ),
)


WORST_FIRST = replace(DOCUMENT_SETS, order=("coverage_up", "external_id"))
"""The list for viewers who may see scores: the set with the lowest coverage comes first."""


def _of_all(rows: QuerySet[Any], figure: Aggregate) -> QuerySet[Any]:
    found: QuerySet[Any] = rows.order_by().values(every=Value(1)).annotate(figure=figure).values("figure")
    return found

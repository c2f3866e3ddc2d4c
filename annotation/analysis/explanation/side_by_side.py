"""All summaries of a document set side by side.

The page shows the reference claims that each summary expresses, and its claims without support.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Avg, Count, Exists, F, FloatField, IntegerField, OuterRef, Subquery, Value
from django.db.models.functions import Cast, Coalesce

from annotation.core.lists import Column, Filter, Kind, List, Viewer, sees_scores
from annotation.core.permissions import Verb
from annotation.models import (
    Check,
    CoverageJudgment,
    DocumentSet,
    Label,
    Score,
    Summary,
)
from annotation.models.claim import NOT_YES, OF_CLAIMS
from annotation.models.judgment import COUNTING

if TYPE_CHECKING:
    from django.db.models import Aggregate, QuerySet

    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class BesideOthers:
    """A summary, its score (None until it is judged), and its claims without support in the source."""

    summary: Summary
    score: Score | None
    unsupported: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class AcrossSystems:
    """A reference claim with an entry per summary: the system and the check; the check is None if there is none."""

    text: str
    named: tuple[tuple[Check | None, str], ...]

    @property
    def checks(self) -> list[Check | None]:
        return [check for check, _ in self.named]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The summaries, highest coverage first, and the reference claims in the order of their texts.

    `has_percents` is True if assessors gave percents to a summary.
    """

    summaries: tuple[BesideOthers, ...]
    claims: tuple[AcrossSystems, ...]
    has_percents: bool

    @property
    def several_lengths(self) -> bool:
        """True if the summaries have different target lengths."""
        return len({each.summary.target_words for each in self.summaries}) > 1

    @property
    def in_none(self) -> int:
        """The number of claims that no summary expresses, although they were judged in all summaries."""
        return sum(not any(labels) for labels in self._judged_in_all)

    @property
    def in_all(self) -> int:
        """The number of claims that every summary expresses."""
        return sum(all(labels) for labels in self._judged_in_all)

    @property
    def _judged_in_all(self) -> list[list[bool]]:
        return [
            [check is not None and check.final_label == Label.YES for check in claim.checks]
            for claim in self.claims
            if all(check is not None and check.final_label is not None for check in claim.checks)
        ]


def side_by_side(document_set: DocumentSet) -> SideBySide:
    """Compare all summaries of a document set: the reference claims that each expresses, and its unsupported claims.

    It makes three queries.
    """
    peers = Summary.objects.filter(document_set=document_set, is_peer=True).select_related("system", "score")
    best_first = F("score__coverage").desc(nulls_last=True), F("score__alignment").desc(nulls_last=True)
    summaries = list(peers.order_by("target_words", *best_first, "system__name", "pk"))
    unsupported: dict[int, list[Check]] = defaultdict(list)
    covered: dict[int, dict[int, Check]] = defaultdict(dict)
    texts: dict[int, str] = {}
    for check in checks_of(document_set).select_related("claim"):
        assert check.peer_id is not None, "claims are checked for a summary"
        if check.side == Check.Side.REFERENCE:
            texts[check.claim_id] = check.claim.text
            covered[check.claim_id][check.peer_id] = check
        elif check.final_label in NOT_YES:
            unsupported[check.peer_id].append(check)
    return SideBySide(
        summaries=tuple(
            BesideOthers(peer, getattr(peer, "score", None), tuple(unsupported[peer.pk]))
            for peer in summaries
        ),
        claims=tuple(
            AcrossSystems(
                text,
                tuple(
                    (covered[claim].get(peer.pk), peer.system.name if peer.system else "")
                    for peer in summaries
                ),
            )
            for claim, text in texts.items()
        ),
        has_percents=CoverageJudgment.objects.filter(
            COUNTING, comparison__peer__document_set=document_set
        ).exists(),
    )


def checks_of(document_set: DocumentSet) -> QuerySet[Check]:
    """The current checks of claims of the set's summaries, ordered by claim."""
    in_set = {"project": document_set.project_id, "document_set": document_set}
    rows = Check.objects.filter(OF_CLAIMS, peer__is_peer=True, is_current=True, **in_set)
    return rows.order_by("claim__claim_set", "claim__position", "pk")


def sets_with_summaries(project: Project) -> QuerySet[DocumentSet]:
    """The document sets that have summaries of systems, sorted by name."""
    peers = Summary.objects.filter(document_set=OuterRef("pk"), is_peer=True)
    return project.document_sets.filter(Exists(peers)).order_by("external_id")


BELOW_ALL, ABOVE_ALL = -1, 2_000_000
"""Sort values, in millionths, that put sets without a score last in either order."""


def _sets(viewer: Viewer) -> QuerySet[DocumentSet]:
    """The document sets; for viewers who may see scores, with mean scores and numbers of unsupported claims."""
    sets = viewer.project.document_sets.annotate(documents_count=Count("documents"))
    if not sees_scores(viewer):
        return sets
    scores = Score.objects.filter(summary__document_set=OuterRef("pk"), summary__is_peer=True)
    unsupported = Check.objects.filter(
        # Filter by project, because the indexes begin with it.
        project=OuterRef("project"),
        document_set=OuterRef("pk"),
        side=Check.Side.PEER,
        peer__is_peer=True,
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


def _mean(name: str, head: str) -> Column:
    return Column(
        name,
        kind=Kind.NUMBER,
        nullable=True,
        head=head,
        order=f"{name}_up",
        order_down=f"{name}_down",
        seen_by=sees_scores,
        help="Mean over the scored summaries; null without any.",
    )


DOCUMENT_SETS = List(
    name="document sets",
    verbs=(Verb.VIEW_PROJECT,),
    rows=_sets,
    order=("external_id",),
    empty="No document sets yet. Import a file first.",
    filters=(
        Filter("document_id", "external_id", help="The set of that name."),
        Filter("group", help="Sets of that group."),
        Filter("language", help="Sets in that language."),
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
        _mean("coverage", "Mean coverage"),
        _mean("alignment", "Mean alignment"),
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


def _of_all(rows: QuerySet[Any], figure: Aggregate) -> QuerySet[Any]:
    found: QuerySet[Any] = rows.order_by().values(every=Value(1)).annotate(figure=figure).values("figure")
    return found

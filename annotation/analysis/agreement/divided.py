"""The items on which people's answers differ most, and where to look at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.analysis.agreement.ratings import PERCENTS, RatedItem, Scale, Value, slots
from annotation.models import Check, Claim, Comparison, Dispute, Label, Summary, Unit
from evaluation.statistics import item_disagreements

if TYPE_CHECKING:
    from annotation.models import Project

DIVIDED_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Divided:
    """An item on which answers differ, with as many answers as there are of each kind.

    `disagreement` is the mean of alpha's squared distance between two of its answers.
    """

    disagreement: float
    answers: tuple[tuple[Value, int], ...]
    text: str = ""
    document_id: str = ""
    system: str = ""
    target_words: int | None = None
    summary_id: str = ""
    check_id: str = ""
    unit_id: str = ""
    dispute_id: str = ""


def divided_items(
    project: Project, groups: Sequence[Sequence[RatedItem]], scale: Scale
) -> tuple[Divided, ...]:
    """The items of these groups of answers whose answers differ, the most divided first. At most four queries."""
    apart = item_disagreements(slots(groups), scale.level)
    worst = sorted(
        ((distance, group) for distance, group in zip(apart, groups, strict=True) if distance),
        # A yes against a no divides more than either against unsure, which the nominal level takes as alike.
        key=lambda each: (-each[0], not _holds_yes_and_no(each[1]), -len(each[1]), each[1][0].item),
    )[:DIVIDED_SHOWN]
    places = _places(project, scale, [group[0].item for _, group in worst])
    order = {value: place for place, value in enumerate(scale.categories)}
    return tuple(
        Divided(
            disagreement=distance,
            answers=tuple(
                sorted(Counter(rating.value for rating in group).items(), key=lambda each: order[each[0]])
            ),
            **places.get(group[0].item, {}),
        )
        for distance, group in worst
    )


def _holds_yes_and_no(group: Sequence[RatedItem]) -> bool:
    return {Label.YES.value, Label.NO.value} <= {rating.value for rating in group}


def _places(project: Project, scale: Scale, items: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Where these items are, and what they say, by item. At most three queries."""
    if not items:
        return {}
    if scale.items == "checks":
        return _check_places(project, items)
    if scale.key == PERCENTS:
        return _unit_places(project, items)
    peers = Summary.objects.filter(public_id__in=items).select_related("document_set", "system")
    return {peer.public_id: _of_peer(peer) for peer in peers.defer("text", "metadata")}


def _check_places(project: Project, items: Sequence[str]) -> dict[str, dict[str, Any]]:
    keys = [int(item) for item in items]
    open_ones = Dispute.objects.filter(project=project, check_row__in=keys, state=Dispute.State.OPEN)
    disputes = dict(open_ones.values_list("check_row_id", "public_id"))
    checks = Check.objects.filter(pk__in=keys).select_related("claim", "peer__system", "peer__document_set")
    return {
        str(check.pk): {
            **_of_peer(check.peer),
            "text": check.claim.text,
            "check_id": check.public_id,
            "dispute_id": disputes.get(check.pk, ""),
        }
        for check in checks
    }


def _unit_places(project: Project, items: Sequence[str]) -> dict[str, dict[str, Any]]:
    named = {item: item.partition(":") for item in items}
    compared = {int(comparison) for comparison, _, _ in named.values()}
    comparisons = Comparison.objects.select_related("peer__system", "peer__document_set").in_bulk(compared)
    ids = {unit for _, _, unit in named.values()}
    texts = {
        unit.public_id: unit.summary.text[unit.start : unit.end]
        for unit in Unit.objects.filter(public_id__in=ids).select_related("summary")
        if unit.summary is not None
    } | dict(Claim.objects.filter(public_id__in=ids).values_list("public_id", "text"))
    disputes = {
        f"{comparison}:{unit or claim}": public_id
        for comparison, unit, claim, public_id in Dispute.objects.filter(
            project=project, comparison__in=compared, state=Dispute.State.OPEN
        ).values_list("comparison_id", "unit__public_id", "claim__public_id", "public_id")
    }
    return {
        item: {
            **_of_peer(comparisons[int(comparison)].peer),
            "text": texts.get(unit, ""),
            "unit_id": unit,
            "dispute_id": disputes.get(item, ""),
        }
        for item, (comparison, _, unit) in named.items()
    }


def _of_peer(peer: Summary) -> dict[str, Any]:
    return {
        "document_id": peer.document_set.external_id,
        "system": peer.system.name if peer.system else "",
        "target_words": peer.target_words,
        "summary_id": peer.public_id,
    }

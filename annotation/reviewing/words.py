"""What a list of checks holds, in the words of its screen: the switches of the queue and what narrows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from annotation.models import Check, DocumentSet, Label, Project, System
from annotation.reviewing.queries.review_queue import Only, Order

if TYPE_CHECKING:
    from django.db.models import QuerySet

TITLES = {
    "order": "Order",
    "only": "Show",
    "side": "Score",
    "numbers": "Claims",
    "label": "People's answer",
    "reviewer": "Answered by",
    "document_set": "Document set",
    "system": "System",
    "q": "Search",
    "draw": "Queue",
}
OPTIONS: dict[str, dict[str, str]] = {
    "order": {
        Order.SET: "By document set",
        Order.DOUBT: "Most uncertain",
        Order.EFFECT: "Largest impact on coverage",
        Order.DOCUMENT: "By summary",
    },
    "only": {
        Only.WAITING: "Unanswered",
        Only.SPLIT: "Panel split",
        Only.DISPUTED: "Disputed",
        Only.AGAINST: "Against the judge",
        Only.ANSWERED: "Answered",
        Only.ALL: "All",
    },
    "side": {"": "Both", Check.Side.REFERENCE: "Coverage", Check.Side.PEER: "Alignment"},
    "numbers": {"": "All", "1": "With numbers"},
    "label": {"": "Anything", **dict(Label.choices)},
}
"""Words for each value of a filter, in the order of the screen."""
UNKNOWN = "unknown"


class Narrowed(NamedTuple):
    """One thing that narrows a list: the name of the filter, its title and what it is set to, in words."""

    name: str
    title: str
    words: str


def narrowed_by(project: Project, queries: Sequence[Mapping[str, str]]) -> list[list[Narrowed]]:
    """What narrows each of these lists, given as the words of `Filter.as_query`. At most two statements for all."""
    names = {
        "document_set": _names(DocumentSet.objects.all(), "external_id", project, "document_set", queries),
        "system": _names(System.objects.all(), "name", project, "system", queries),
    }
    return [list(_narrowed(query, names)) for query in queries]


def _narrowed(query: Mapping[str, str], names: Mapping[str, Mapping[str, str]]) -> Iterator[Narrowed]:
    for name, title in TITLES.items():
        value = query.get(name)
        if not value or name == "order":
            continue
        if name in names:
            words = names[name].get(value, UNKNOWN)
        elif name == "draw":
            words = "random sample"
        else:
            words = OPTIONS.get(name, {}).get(value, value)
        yield Narrowed(name, title, words)


def _names(
    rows: QuerySet[DocumentSet] | QuerySet[System],
    column: str,
    project: Project,
    name: str,
    queries: Sequence[Mapping[str, str]],
) -> dict[str, str]:
    """What people call the rows that the queries name by public id."""
    named = {query[name] for query in queries if query.get(name)}
    if not named:
        return {}
    return dict(rows.filter(project=project, public_id__in=named).values_list("public_id", column))

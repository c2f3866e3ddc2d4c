"""What a list of checks holds, in the words of its screen: the switches of the queue."""

from __future__ import annotations

from annotation.models import Check, Label
from annotation.reviewing.queries.review_queue import Only, Order

TITLES = {
    "order": "Order",
    "only": "Show",
    "side": "Score",
    "numbers": "Claims",
    "label": "People's answer",
    "reviewer": "Answered by",
    "system": "System",
}
OPTIONS: dict[str, dict[str, str]] = {
    "order": {
        Order.SET: "By document set",
        Order.UNCERTAINTY: "Most uncertain",
        Order.IMPACT: "Largest impact on coverage",
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
    "side": {
        "": "All claims",
        Check.Side.REFERENCE: "Coverage",
        Check.Side.PEER: "Alignment",
        Check.Side.QUESTION: "Questions",
    },
    "numbers": {"": "All", "1": "With numbers"},
    "label": {"": "Anything", **dict(Label.choices)},
}
"""Words for each value of a filter, in the order of the screen."""

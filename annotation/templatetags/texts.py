"""What the pages of claims and units say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template

from annotation.texts import words

if TYPE_CHECKING:
    from annotation.texts.queries.claims import ClaimInForce

register = template.Library()

register.filter("undo_in_words", words.undo_in_words)
register.filter("dropped_in_words", words.dropped_in_words)
register.filter("name_in_words", words.name_in_words)
register.filter("origin_in_words", words.origin_in_words)
register.filter("if_deleted", words.if_deleted)
register.filter("settled_by", words.settled_by)
register.filter("decisions_fall", words.decisions_fall)


@register.filter
def answers_stay(claim: ClaimInForce) -> str:
    """What becomes of the answers of people when the claim is put into other words."""
    return words.answers_stay(claim.answered, claim.checks)

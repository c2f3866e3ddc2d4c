"""What the lists of random samples say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template

from annotation.models import Draw
from annotation.sampling import words

if TYPE_CHECKING:
    from annotation.sampling.queries.sample_work import SampleWork
    from annotation.sampling.queries.set_samples import SetSample

register = template.Library()

register.filter("items_in_words", words.items_in_words)


@register.filter
def method_label(method: str) -> str:
    """How work for assessors was drawn."""
    return str(Draw.Method(method).label)


@register.filter
def share_percent(share: float) -> str:
    """A share that was asked for, in percent."""
    return f"{100 * share:g}"


@register.filter
def chance_of_work(work: SampleWork) -> str:
    """The chance of the drawn checks."""
    return words.chances_in_words(work.least, work.most)


@register.filter
def chance_of_items(row: SetSample) -> str:
    """The chance of the drawn items; empty where nothing was handed out."""
    chances = [chance.probability for chance in row.chances]
    return words.chances_in_words(chances[0], chances[-1]) if chances else ""

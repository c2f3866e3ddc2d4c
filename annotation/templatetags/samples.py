"""What the lists of random samples say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template

from annotation.models import Draw
from annotation.sampling import words

if TYPE_CHECKING:
    from annotation.sampling.queries.sample_work import SampleWork

register = template.Library()


@register.filter
def method_label(method: str) -> str:
    """How checks were sampled."""
    return str(Draw.Method(method).label)


@register.filter
def chance_of_work(work: SampleWork) -> str:
    """The chance of the drawn checks."""
    return words.chances_in_words(work.least, work.most)

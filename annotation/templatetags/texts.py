"""Names of texts and of lists of claims."""

from __future__ import annotations

from django import template

from annotation.texts import words

register = template.Library()

register.filter("name_in_words", words.name_in_words)
register.filter("origin_in_words", words.origin_in_words)

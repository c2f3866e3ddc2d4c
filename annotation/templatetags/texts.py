"""What the pages of claims and units say of them."""

from __future__ import annotations

from django import template

from annotation.texts import words

register = template.Library()

register.filter("undo_in_words", words.undo_in_words)
register.filter("dropped_in_words", words.dropped_in_words)
register.filter("name_in_words", words.name_in_words)
register.filter("origin_in_words", words.origin_in_words)

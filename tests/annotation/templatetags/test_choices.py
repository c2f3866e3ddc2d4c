from __future__ import annotations

from annotation.templatetags.choices import options


def test_the_chosen_one_is_on() -> None:
    made = options((("", "none"), ("omission", "Omission")), "omission")
    assert made == '<option value="">none</option><option value="omission" selected>Omission</option>'


def test_what_is_not_offered_chooses_none() -> None:
    assert options((("1", "100 %"),), "0.99") == '<option value="1">100 %</option>'


def test_words_are_escaped() -> None:
    made = options((('"', "<b>"),), '"')
    assert made == '<option value="&quot;" selected>&lt;b&gt;</option>'

"""Long explanations in two parts: nothing is lost, and names do not end a sentence."""

from __future__ import annotations

from annotation.templatetags.said import opening, remainder

TEXT = "It is right on 0.95 (91 % to 98 %). Others say so too. v0.3 is not asked. Is it? “Yes.” 12 agree."


def test_two_sentences_stand_on_the_page_and_the_rest_in_the_fold() -> None:
    assert opening(TEXT) == "It is right on 0.95 (91 % to 98 %). Others say so too. v0.3 is not asked."
    assert remainder(TEXT) == ["Is it? “Yes.” 12 agree."]
    assert " ".join([opening(TEXT), *remainder(TEXT)]) == TEXT


def test_a_short_one_has_no_fold() -> None:
    assert (opening("One. Two."), remainder("One. Two.")) == ("One. Two.", [])

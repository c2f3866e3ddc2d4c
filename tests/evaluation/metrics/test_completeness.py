from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import EvaluationError, InvalidWeight
from evaluation.metrics._completeness import completeness

ENGLISH = "The port was closed for two days because the dredger ran aground near the old mole."


def missing(input_text: str, output: str, language: str = "en") -> tuple[str, ...]:
    return completeness(input_text, output, language).missing_elements


def test_the_worked_example() -> None:
    # quick, brown, fox, jump, lazy, dog against brown, fox, jump, dog: 4 of 6.
    found = completeness("The quick brown fox jumps over the lazy dog", "A brown fox jumped over a dog")
    assert found.input_elements == ("quick", "brown", "fox", "jump", "lazy", "dog")
    assert found.output_elements == ("brown", "fox", "jump", "dog")
    assert found.missing_elements == ("quick", "lazy")
    assert found.score == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    ("input_text", "output", "score"),
    [("", "", 1), ("  ", "!!!", 1), ("Ships sail.", "", 0), ("", "Ships sail.", 0), ("...", "Ships", 0)],
)
def test_texts_without_elements(input_text: str, output: str, score: float) -> None:
    assert completeness(input_text, output).score == score


def test_texts_of_stop_words_alone_are_compared_by_them() -> None:
    assert completeness("They did", "It was").score == 0
    assert completeness("It was", "It was").score == 1


@pytest.mark.parametrize(
    ("element", "other", "is_covered"),
    [
        ("cat", "cats", False),  # 3 characters need an equal element
        ("cats", "cat", True),  # 3 of 4 characters
        ("abcdefgh", "abcde", True),  # 5 / 8 = .625
        ("abcde", "abc", False),  # 3 / 5 = .6 is not above .6
        ("international", "internationalization", True),  # 13 / 20 = .65
        ("inter", "international", False),  # 5 / 13
        ("2008", "200", False),  # a number matches only an equal number
        ("2008", "20083", False),
        ("1,200", "1200", True),
        ("café", "CAFE", True),
        ("Ελλάδα", "ΕΛΛΑΔΑ", True),
        ("straße", "STRASSE", True),
    ],
)
def test_what_covers_an_element(element: str, other: str, *, is_covered: bool) -> None:
    assert completeness(element, other).score == float(is_covered)


@pytest.mark.parametrize(
    ("form", "base"),
    [("thinking", "think"), ("thought", "think"), ("gone", "go"), ("rose", "rise"), ("playing", "play")],
)
def test_forms_of_verbs_are_one_element(form: str, base: str) -> None:
    assert completeness(form, base).input_elements == (base,)


def test_a_word_repeated_is_no_topic() -> None:
    assert completeness("fox fox fox", "fox").input_elements == ("fox",)


def test_camel_case_is_split_before_folding() -> None:
    assert completeness("parseXMLFile", "").input_elements == ("parse", "xml", "file")
    assert completeness("camelCase", "camel case").score == 1
    # The plural of an abbreviation is one word.
    assert completeness("AIs", "").input_elements == ("ais",)


@pytest.mark.parametrize("word", ["NaN", "PhD", "iPhone", "eBay", "pH", "LaTeX", "GmbH"])
def test_a_word_that_would_leave_a_single_letter_stays_whole(word: str) -> None:
    assert completeness(word, "").input_elements == (word.lower(),)


def test_plural_nouns_stay_as_they_are() -> None:
    assert completeness("The two cats slept", "").input_elements == ("two", "cats", "sleep")
    assert completeness("Plants need works of art", "").input_elements == ("plants", "need", "works", "art")


def test_a_name_of_several_words_is_an_element_beside_its_words() -> None:
    found = completeness("Ada Lovelace met Charles Babbage in New York.", "In New York, Charles met Ada.")
    assert found.input_elements == (
        *("ada", "lovelace", "meet", "charles", "babbage", "new", "york"),
        *("ada lovelace", "charles babbage", "new york"),
    )
    # The output lacks 4 of the 10 elements: both surnames, and therefore also the two whole names.
    assert found.missing_elements == ("lovelace", "babbage", "ada lovelace", "charles babbage")
    assert found.score == pytest.approx(6 / 10)


def test_a_topic_is_two_words_that_stand_together_twice() -> None:
    source = "The harbour wall cracked. Divers saw the harbour wall."
    assert completeness(source, "").input_elements == (
        "harbour",
        "wall",
        "crack",
        "divers",
        "see",
        "harbour wall",
    )
    # One occurrence covers a phrase; its words apart do not.
    assert missing(source, "A harbour wall") == ("crack", "divers", "see")
    assert missing(source, "A wall of the harbour") == ("crack", "divers", "see", "harbour wall")


def test_a_headline_or_a_language_that_capitalises_nouns_names_nobody() -> None:
    assert len(completeness("Council Approves Market Roof Repair", "").input_elements) == 5
    assert len(completeness("PORT CLOSED", "").input_elements) == 2
    assert completeness("Das Haus Meer", "", "de").input_elements == ("haus", "meer")


def test_the_scale_multiplies_the_score() -> None:
    # 4 of 6 elements.
    found = completeness(
        "The quick brown fox jumps over the lazy dog", "A brown fox jumped over a dog", scale=3
    )
    assert found.score == pytest.approx(2)
    assert completeness("", "", scale=10).score == 10
    with pytest.raises(InvalidWeight, match="scale"):
        completeness("a", "b", scale=0)


def test_contractions_count_as_what_they_stand_for() -> None:
    first = completeness("It isn't true that they can't swim", "").input_elements
    assert first == completeness("It is not true that they cannot swim", "").input_elements == (
        "not",
        "true",
        "swim",
    )  # fmt: skip


def test_other_languages_take_base_forms_and_stop_words_of_their_own() -> None:
    found = completeness("Die Boote fuhren nach Norden", "Ein Boot fährt", "de")
    assert found.input_elements == ("boot", "fahren", "norden")
    assert found.missing_elements == ("norden",)


UNRELATED = {
    "zh": (
        "市议会周二批准了修缮市场屋顶的计划，工程将于九月开始，摊贩会搬到旧电车场的帐篷里。",
        "研究人员在深海发现了一种新的水母，它的触手长达三米，在黑暗中发出蓝色的光。",
    ),
    "ru": (
        "Городской совет одобрил во вторник ремонт крыши рынка, работы начнутся в сентябре, а торговцы "
        "переедут в палатку на старом трамвайном дворе.",
        "Учёные нашли в глубине океана новую медузу, и её щупальца достигают трёх метров; в темноте она "
        "светится голубым светом.",
    ),
}


@pytest.mark.parametrize("script", UNRELATED)
@pytest.mark.parametrize("is_named", [True, False])
def test_every_script_has_elements(script: str, *, is_named: bool) -> None:
    first, second = UNRELATED[script]
    language = script if is_named else "en"
    assert completeness(first, second, language).score < 0.1
    assert completeness(second, first, language).score < 0.1
    assert completeness(first, first, language).score == 1
    assert len(completeness(first, second, language).input_elements) > 8


@pytest.mark.parametrize("wrong", [None, 5, ["a"]])
def test_what_is_no_text_is_refused_by_name(wrong: object) -> None:
    with pytest.raises(EvaluationError, match="input must be a text"):
        completeness(cast("Any", wrong), "x")
    with pytest.raises(EvaluationError, match="output must be a text"):
        completeness("x", cast("Any", wrong))


anything = st.text(max_size=80) | st.text(alphabet="abcXY '_.4é猫ю", max_size=80)


@given(anything, anything)
def test_the_parts_fit_together(first: str, second: str) -> None:
    found = completeness(first, second)
    assert 0 <= found.score <= 1
    assert set(found.missing_elements) <= set(found.input_elements)
    assert len(set(found.input_elements)) == len(found.input_elements)
    if found.input_elements and found.output_elements:
        covered = len(found.input_elements) - len(found.missing_elements)
        assert found.score == covered / len(found.input_elements)


@given(anything)
def test_a_text_is_complete_in_itself_and_in_more(text: str) -> None:
    assert completeness(text, text).score == 1
    assert completeness(text, text).missing_elements == ()


@given(st.lists(st.sampled_from(ENGLISH.split()), min_size=1, unique=True))
def test_more_output_never_covers_less(words: list[str]) -> None:
    some = completeness(ENGLISH, " ".join(words[: len(words) // 2])).score
    assert completeness(ENGLISH, " ".join(words)).score >= some

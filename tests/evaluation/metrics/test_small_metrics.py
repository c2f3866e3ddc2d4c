import pytest

from evaluation import conciseness, redundancy, topic_preservation
from evaluation.errors import InvalidPercent
from evaluation.metrics import conciseness_terms, repeated_sentences

WORD = "word "


@pytest.mark.parametrize(
    ("source_words", "sentences", "rating", "expected"),
    [
        # The ratio .3 and sentences of 15 words have the full terms: .7 · (.6 · 1 + .4 · 1) + .3 · .5.
        (100, [15, 15], 0.5, 0.85),
        # The ratio .6 has the compression 0: .7 · .4 + .3 · 1.
        (50, [15, 15], 1.0, 0.58),
        # The ratio .15 has the compression .5: .7 · (.6 · .5 + .4) + .3 · 0.
        (100, [15], 0.0, 0.49),
        # One sentence of 30 words has the sentence term .5, and the ratio is .3: .7 · (.6 + .4 · .5) + .3 · 1.
        (100, [30], 1.0, 0.86),
        # One sentence of 45 words has the sentence term 0, and the ratio is .3: .7 · .6.
        (150, [45], 0.0, 0.42),
        # The summary is longer than the source, so compression is 0: .7 · .4.
        (10, [15, 15], 0.0, 0.28),
    ],
)
def test_conciseness(source_words: int, sentences: list[int], rating: float, expected: float) -> None:
    summary = " ".join(f"{(WORD * words).strip().capitalize()}." for words in sentences)
    assert conciseness(WORD * source_words, summary, rating) == pytest.approx(expected)


def test_conciseness_terms_are_those_of_the_score() -> None:
    # 30 words of 100 have the compression 1. One sentence of 30 words has (40 - 30) / 20 = .5.
    terms = conciseness_terms(WORD * 100, f"{(WORD * 30).strip()}.")
    assert (terms.compression, terms.sentences) == (pytest.approx(1.0), pytest.approx(0.5))
    # The score with this rating is .7 · (.6 + .4 · .5) + .3 · .5 = .71.
    assert terms.with_rating(0.5) == pytest.approx(0.71)


def test_conciseness_is_none_without_what_it_is_made_of() -> None:
    assert conciseness("a b c", "a b", None) is None
    assert conciseness("", "a b", 0.5) is None
    assert conciseness("a b", " ", 0.5) is None
    assert conciseness("猫在睡觉。狗在跑步。", "猫在睡觉。", 0.5) is None


def test_a_rating_beyond_its_range_is_refused() -> None:
    with pytest.raises(InvalidPercent, match="rating"):
        conciseness("a b", "a", 1.5)


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("It rained all day. We left early.", 1.0),
        ("It rained all day.", 1.0),
        ("It rained all day. We left. It rained all day.", 2 / 3),
        ("It rained all day. All day it rained.", 0.5),
        # Sentences with other numbers are no repetitions.
        ("Sales rose by 5 percent in May. Sales rose by 7 percent in May.", 1.0),
        ("猫在窗台上睡觉。狗在院子里跑步。猫在窗台上睡觉。", 2 / 3),
        ("", None),
        ("...", 1.0),
    ],
)
def test_redundancy(summary: str, expected: float | None) -> None:
    language = "zh" if "猫" in summary else "en"
    assert redundancy(summary, language) == (None if expected is None else pytest.approx(expected))


def test_repeated_sentences_are_named() -> None:
    assert repeated_sentences("It rained all day. We left. All day it rained.") == ["All day it rained."]


def test_topic_preservation() -> None:
    assert topic_preservation(["yes", "no", "yes", None]) == pytest.approx(2 / 3)
    assert topic_preservation([]) is None
    assert topic_preservation([None]) is None

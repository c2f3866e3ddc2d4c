import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluation.errors import InvalidBudget
from evaluation.text._lengths import LengthUnit, count_length, count_words, has_word_breaks, truncate
from evaluation.text._splitting import Span, sentence_spans, split_sentences

# Pieces that matter for the segmentation, among arbitrary characters (lone surrogates included).
PIECES = st.sampled_from(
    [
        "et al.", " [2004]", "[12, 13]", ". ", "... ", "! ", "?\"", "; ", ", but ", ", and ", " — ", "—",
        "(", ")", "\n", "\r\n", "\n\n", "\u2028", "\x85", " ", "\t", "\u3000", "。", "，", "；", "Dr. ",
        "U.S. ", "3.5", "the cat sat", "water ran down the hill", "公司去年的收入增长了", "แมวนอนหลับ", "😀",
        "\ud800", "e\u0301", "\u200b", "---",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(st.characters(), max_size=8), max_size=30).map("".join)
LANGUAGES = st.sampled_from(["en", "de", "fr", "zh", "th", "en-GB", "pt_BR", "xx", "", "☃"])
UNITS: list[LengthUnit] = ["words", "characters", "bytes"]


def assert_lossless(text: str, spans: list[Span]) -> None:
    end = 0
    for span in spans:
        assert span.start >= end, "spans must stand in order and never overlap"
        assert not text[end : span.start].strip(), "only white space may stand between spans"
        assert span.of(text) == span.of(text).strip() != ""
        end = span.end
    assert not text[end:].strip()


@given(TEXTS, LANGUAGES)
@example("\ud800 a. B.", "en")
def test_sentences_cover_every_character_once(text: str, language: str) -> None:
    assert_lossless(text, sentence_spans(text, language))


@given(TEXTS)
def test_no_unit_reaches_over_a_blank_line(text: str) -> None:
    assert all("\n\n" not in span.of(text) for span in sentence_spans(text))


@given(TEXTS, st.integers(1, 40), st.sampled_from(UNITS))
def test_truncated_text_is_the_longest_beginning_within_the_target(
    text: str, target: int, unit: LengthUnit
) -> None:
    short = truncate(text, target, unit)
    assert text.startswith(short)
    assert count_length(short, unit) <= target
    if short != text:
        # One more character would be too long; a cut between words leaves white space, which does not count as a
        # word.
        rest = text[len(short) :]
        more = short + rest[: len(rest) - len(rest.lstrip()) + 1]
        assert count_length(more, unit) > target


@given(TEXTS)
def test_words_are_counted_as_split_gives_them(text: str) -> None:
    assert count_words(text) == count_length(text, "words") == len(text.split())


@pytest.mark.parametrize(
    ("text", "language", "sentences"),
    [
        ("", "en", []),
        (" \n\t ", "en", []),
        ("It rained. Dr. Lee left.", "en", ["It rained.", "Dr. Lee left."]),
        (
            "See Okafor et al. [2004] for more. It held.",
            "en",
            ["See Okafor et al. [2004] for more.", "It held."],
        ),
        ("It holds from 1 May. Experts differ.", "en", ["It holds from 1 May.", "Experts differ."]),
        ("So did Okafor et al. [2004]. It held.", "en", ["So did Okafor et al. [2004].", "It held."]),
        ("Okafor et al.[3] agree. It held.", "en", ["Okafor et al.[3] agree.", "It held."]),
        ("Heading\n\nOne. Two.\r\nThree", "en", ["Heading", "One.", "Two.", "Three"]),
        ("It was 3.5 km. 😀 Good.", "en", ["It was 3.5 km.", "😀 Good."]),
        ("Hr. Weiß kam. Er blieb.", "de", ["Hr. Weiß kam.", "Er blieb."]),
        ("我是学生。你呢？", "zh", ["我是学生。", "你呢？"]),
        ("One. Two.", "tlh", ["One.", "Two."]),
    ],
)
def test_sentences(text: str, language: str, sentences: list[str]) -> None:
    assert split_sentences(text, language) == sentences


def test_offsets_count_code_points() -> None:
    assert sentence_spans("😀 One.  Two.") == [Span(0, 6), Span(8, 12)]


@pytest.mark.parametrize(
    ("text", "unit", "length"),
    [
        ("", "words", 0),
        ("Rain, then  more\nrain.", "words", 4),
        ("déjà vu", "characters", 7),
        ("déjà vu", "bytes", 9),
        ("😀", "bytes", 4),
    ],
)
def test_lengths(text: str, unit: LengthUnit, length: int) -> None:
    assert count_length(text, unit) == length


@pytest.mark.parametrize(
    ("target", "unit", "short"),
    [
        (2, "words", " one  two"),
        (3, "words", " one  two three\n"),
        (4, "characters", " one"),
        (5, "bytes", " one "),
    ],
)
def test_truncation_keeps_the_white_space_between_words(target: int, unit: LengthUnit, short: str) -> None:
    assert truncate(" one  two three\n", target, unit) == short


def test_bytes_are_cut_at_a_whole_character() -> None:
    assert truncate("déjà vu", 2, "bytes") == "d"
    assert truncate("déjà vu", 3, "bytes") == "dé"


def test_truncation_refuses_a_target_below_1() -> None:
    with pytest.raises(InvalidBudget, match="at least 1, got 0"):
        truncate("one", 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("The cat sleeps.", True),
        ("한국어 문장입니다.", True),
        ("Кот спит.", True),
        ("猫在睡觉。", False),
        ("我是学生。 你好吗。", False),
        ("我 是 一个 学生 。", True),
        ("ファイルを開く", False),
        ("แมวนอนหลับอยู่บนเก้าอี้", False),
        ("ແມວນອນຢູ່ເທິງຕັ່ງ", False),
        ("ឆ្មាកំពុងដេកលើកៅអី", False),
        ("ကြောင်လေးအိပ်နေသည်", False),
        ("The firm 三菱 sells cars in many places.", True),
    ],
)
def test_word_breaks(text: str, *, expected: bool) -> None:
    assert has_word_breaks(text) is expected


def test_long_text_without_any_border_is_one_unit() -> None:
    # With quadratic run time this text would take too long.
    text = "x (; , and " * 100_000
    assert_lossless(text, sentence_spans(text))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The wall is\nweak. It\r\nleaks.", ["The wall is\nweak.", "It\r\nleaks."]),
        ("Costs rose,\nwhich nobody liked.", ["Costs rose,\nwhich nobody liked."]),
        ("A heading\nThe wall is weak.", ["A heading", "The wall is weak."]),
        ("the wall is weak .\nit leaks .", ["the wall is weak .", "it leaks ."]),
        ("One paragraph\n\nand another", ["One paragraph", "and another"]),
    ],
)
def test_a_wrapped_line_goes_on_and_other_breaks_are_borders(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences

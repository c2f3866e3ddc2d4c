import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.judging import LexicalJudge, Verdict, check_claims, extract_claims
from evaluation.judging.protocol import ExtractedClaim, Side, Text
from evaluation.text._splitting import Span

COUNCIL = (
    "The council met on Tuesday. It approved 41 crowns for the school in Alder Street. "
    "The mayor did not resign. Snow closed two roads near Bergen."
)
SIDES: list[Side] = ["covered", "supported"]


def check(
    claims: Sequence[str], text: str, side: Side = "covered", language: str = "en"
) -> tuple[Verdict, ...]:
    return check_claims(claims, text, judge=LexicalJudge(), side=side, language=language)


def verdict(claim: str, text: str = COUNCIL, side: Side = "covered", language: str = "en") -> Verdict:
    return check([claim], text, side, language)[0]


def probability(claim: str, text: str = COUNCIL, side: Side = "covered", language: str = "en") -> float:
    found = verdict(claim, text, side, language).probability
    assert found is not None
    return found


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The council met on Tuesday.", (1,)),
        ("It approved 41 crowns for the school in Alder Street.", (2,)),
        ("The mayor did not resign.", (3,)),
        ("Snow closed two roads near Bergen.", (4,)),
    ],
)
def test_what_the_text_says_word_for_word_is_yes(side: Side, claim: str, evidence: tuple[int, ...]) -> None:
    found = verdict(claim, side=side)
    assert (found.label, found.evidence) == ("yes", evidence)


@pytest.mark.parametrize("side", SIDES)
def test_what_the_text_does_not_mention_is_no_and_named(side: Side) -> None:
    found = verdict("Dolphins sing at night.", side=side)
    assert found.label == "no"
    assert found.evidence == ()
    assert found.reason == "Too little is found. Missing: Dolphins, sing, night."


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        (
            "It approved 41 crowns for the school in Alder Street.",
            "It approved 14 crowns for the school in Alder Street.",
        ),
        ("Snow closed two roads near Bergen.", "Snow closed three roads near Bergen."),
        ("Snow closed two roads near Bergen.", "Snow closed 5 roads near Bergen."),
    ],
)
def test_another_number_turns_yes_into_no(side: Side, claim: str, changed: str) -> None:
    assert verdict(claim, side=side).label == "yes"
    assert verdict(changed, side=side).label == "no"


@pytest.mark.parametrize("side", SIDES)
def test_another_name_pulls_down(side: Side) -> None:
    same = probability("Snow closed two roads near Bergen.", side=side)
    other = probability("Snow closed two roads near Oslo.", side=side)
    assert other < same - 0.2


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    "claim",
    [
        "The mayor resigned.",
        "The council did not meet on Tuesday.",
        "Snow didn't close two roads near Bergen.",
    ],
)
def test_a_negation_dropped_or_added_is_no(side: Side, claim: str) -> None:
    found = verdict(claim, side=side)
    assert found.label == "no"
    assert "denies" in found.reason


@pytest.mark.parametrize(
    ("written", "claimed"),
    [
        ("It cost 1,200 crowns.", "It cost 1200 crowns."),
        ("It cost 1200.50 crowns.", "It cost 1,200.5 crowns."),
        ("Two roads were closed.", "2 roads were closed."),
        ("Twelve people left.", "12 people left."),
        ("The ships sailed and went home.", "The ship sails and goes home."),
        ("The mayor’s office closed.", "The mayor's office closed."),
        ("THE PORT CLOSED EARLY.", "The port closed early."),
        ("Ｔｈｅ ｐｏｒｔ closed early.", "The port closed early."),
    ],
)
def test_the_same_in_another_form_counts_as_found(written: str, claimed: str) -> None:
    assert verdict(claimed, written).reason == "Every word is found, most in unit 1."


LANGUAGES = {
    "de": (
        "Der Rat bewilligte 1.200 Kronen für die Schule. Die Bürgermeisterin kündigte nicht.",
        ["Der Rat bewilligte 1200 Kronen für die Schule.", "Die Bürgermeisterin kündigte nicht."],
        [
            "Der Rat bewilligte 1300 Kronen für die Schule.",
            "Die Bürgermeisterin kündigte.",
            "Delfine singen nachts.",
        ],
    ),
    "ru": (
        "Компания не получила прибыль в 2020 году. Мэр подал в отставку во вторник.",
        ["Компания не получила прибыль в 2020 году.", "Во вторник мэр подал в отставку."],
        [
            "Компания получила прибыль в 2020 году.",
            "Компания не получила прибыль в 2021 году.",
            "Дельфины поют ночью.",
        ],
    ),
    "zh": (
        "公司2020年没有盈利。市长周二辞职。学校得到四十一克朗。",
        ["公司2020年没有盈利。", "市长周二辞职。"],
        ["公司2020年盈利。", "公司2021年没有盈利。", "海豚晚上唱歌。"],
    ),
    "ja": (
        "市長は火曜日に辞任した。学校は四十一クローナを受け取った。",
        ["市長は火曜日に辞任した。"],
        ["イルカは夜に歌う。"],
    ),
    "ar": (
        "وافق المجلس على 41 كرونة للمدرسة. أغلق الثلج طريقين.",
        ["وافق المجلس على 41 كرونة للمدرسة."],
        ["تغني الدلافين في الليل."],
    ),
    "hi": (
        "परिषद ने विद्यालय के लिए 41 क्राउन दिए। बर्फ ने सड़क बंद की।",
        ["परिषद ने विद्यालय के लिए 41 क्राउन दिए।"],
        ["डॉल्फ़िन रात में गाती हैं।"],
    ),
    "th": ("สภาอนุมัติเงินให้โรงเรียน หิมะปิดถนนสองสาย", ["สภาอนุมัติเงินให้โรงเรียน"], ["โลมาร้องเพลงตอนกลางคืน"]),
    # Kazakh has neither lemmas nor a stemmer here.
    "kk": (
        "Кеңес мектепке 41 крон бөлді. Қар жолды жапты.",
        ["Кеңес мектепке 41 крон бөлді."],
        ["Дельфиндер түнде ән айтады."],
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.slow
def test_other_languages_and_scripts(language: str, side: Side) -> None:
    text, said, not_said = LANGUAGES[language]
    found = {claim: verdict(claim, text, side, language).label for claim in (*said, *not_said)}
    assert found == dict.fromkeys(said, "yes") | dict.fromkeys(not_said, "no")


def test_numbers_are_read_in_the_language_of_the_text() -> None:
    said = {
        each: verdict("Es kostete 1200 Kronen.", "Es kostete 1.200 Kronen.", language=each)
        for each in ("en", "de")
    }
    assert (said["en"].label, said["de"].label) == ("no", "yes")


def test_one_unit_that_agrees_outweighs_one_that_denies() -> None:
    found = verdict("The mayor resigned.", "The mayor did not resign on Monday. The mayor resigned.")
    assert (found.label, found.evidence) == ("yes", (2,))


def test_evidence_may_be_two_units() -> None:
    text = "The storm closed the port. Dolphins swam through the flooded market."
    found = verdict("The storm closed the port while dolphins swam through the market.", text)
    assert found.evidence == (1, 2)


def test_a_claim_of_function_words_alone_is_unscored() -> None:
    assert verdict("It was.") == Verdict(None, reason="The claim holds no word that could be compared.")


def test_a_blank_claim_is_unscored_and_a_blank_text_says_no() -> None:
    assert verdict("...").label is None
    assert verdict("It rained.", " ") == Verdict("no", probability=0.0, reason="The text is empty.")


# A small vocabulary with numbers, so that texts share words.
words = st.sampled_from(
    ["storm", "port", "ferry", "council", "41", "crowns", "Alder", "not", "mayor", "snow", "Bergen", "7"]
)
sentences = st.lists(words, min_size=1, max_size=8).map(lambda chosen: " ".join(chosen).capitalize() + ".")
texts = st.lists(sentences, min_size=1, max_size=4).map(" ".join)
anything = st.text(max_size=60)


@given(st.lists(anything | sentences, max_size=5), anything | texts, st.sampled_from(SIDES))
def test_any_input_gets_one_verdict_per_claim(claims: list[str], text: str, side: Side) -> None:
    verdicts = check(claims, text, side)
    assert len(verdicts) == len(claims)
    for one in verdicts:
        if one.label is None:
            assert one.probability is None
            assert one.reason
        else:
            assert one.probability is not None
            assert 0 <= one.probability <= 1
            assert one.label == ("yes" if one.probability >= 0.5 else "no")
        assert all(1 <= unit <= len(Text.of(text).unit_spans) for unit in one.evidence)


@given(st.lists(sentences, min_size=1, max_size=5), texts, st.randoms(use_true_random=False))
def test_neither_order_nor_company_changes_a_verdict(claims: list[str], text: str, random: object) -> None:
    together = dict(zip(claims, check(claims, text), strict=True))
    backwards = dict(zip(claims[::-1], check(claims[::-1], text), strict=True))
    assert together == backwards == {claim: verdict(claim, text) for claim in claims}


@given(texts, st.sampled_from(SIDES))
def test_every_sentence_of_a_text_is_in_it(text: str, side: Side) -> None:
    units = [content for _, content in Text.of(text).numbered_units()]
    assert all(one.label in ("yes", None) for one in check(units, text, side))


@given(
    st.lists(words.filter(lambda word: word != "not"), min_size=2, max_size=8, unique=True),
    st.sampled_from(SIDES),
)
def test_taking_the_claim_out_of_the_text_never_helps_it(chosen: list[str], side: Side) -> None:
    claim = " ".join(chosen)
    whole = probability(claim, f"{claim}. Dolphins sing.", side)
    assert probability(claim, f"{' '.join(chosen[1:])}. Dolphins sing.", side) <= whole


def test_claims_are_clauses_with_their_places() -> None:
    text = "The storm closed the port on Monday, but ferries sailed again by noon. Nobody was hurt."
    assert extract_claims(text, judge=LexicalJudge()) == (
        ExtractedClaim("The storm closed the port on Monday", 1, 0, 35),
        ExtractedClaim("ferries sailed again by noon.", 1, 41, 70),
        ExtractedClaim("Nobody was hurt.", 2, 71, 87),
    )


def test_extraction_follows_the_units_given() -> None:
    text = Text("One two. --- Three four.", (Span(0, 8), Span(9, 12), Span(13, 24)))
    claims = extract_claims(text, judge=LexicalJudge())
    assert [(claim.text, claim.unit) for claim in claims] == [("One two.", 1), ("Three four.", 3)]


def stated(text: str, language: str = "en") -> list[str]:
    return [claim.text for claim in extract_claims(text, judge=LexicalJudge(), language=language)]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "The cat is black and sleeps on the windowsill during sunny afternoons.",
            ["The cat is black", "The cat sleeps on the windowsill during sunny afternoons."],
        ),
        (
            "It enjoys watching birds and occasionally naps in the garden.",
            ["It enjoys watching birds", "It occasionally naps in the garden."],
        ),
        (
            "It started with 10 employees and grew to 500 by 2020.",
            ["It started with 10 employees", "It grew to 500 by 2020."],
        ),
        ("The wall was built and painted in 1990.", ["The wall was built", "The wall was painted in 1990."]),
        (
            "He was born in Leeds, and he was taught to use a spacer.",
            ["He was born in Leeds", "he was taught to use a spacer."],
        ),
        ("The mayor left; the council stayed.", ["The mayor left", "the council stayed."]),
        ("The bridge closed but the ferry ran.", ["The bridge closed", "the ferry ran."]),
        ("He stayed home while she worked.", ["He stayed home", "she worked."]),
        ("While the ferry ran, the bridge was shut.", ["the ferry ran", "the bridge was shut."]),
        ("While 1,000 people came, the hall was shut.", ["1,000 people came", "the hall was shut."]),
    ],
)
def test_compound_predicates_are_split_with_their_subject(text: str, claims: list[str]) -> None:
    assert stated(text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "She bought bread and canned fish.",
        "The store sells bread and drinks to tourists.",
        "Ann and Bob met the mayor.",
        "He was born in Leeds and moved to York.",
        "He said he was ill and was leaving.",
        "She met a man who lied and was jailed.",
        "All but two ships sank.",
        "The port closed because the dredger sank near the mole.",
        "The road, which opened in 1990, is closed to all traffic.",
        "On Monday the port closed, and in the evening it rained.",
        "Die Fähre fuhr am Morgen, und der Hafen blieb bis Mittag zu.",
    ],
)
def test_where_it_is_not_seen_to_be_two_statements_it_stays_one(text: str) -> None:
    assert stated(text, "de" if "ä" in text else "en") == [text]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I love this wonderful bridge.", []),
        ("In my opinion the council failed.", []),
        ("What a lovely day!", []),
        ("It was really a beautiful day.", []),
        ("The bridge opened in 1990 and is wonderful.", ["The bridge opened in 1990"]),
        # Another person's opinion is a fact about that person; an opinion may also stand beside a fact.
        ("The mayor said she loves the bridge.", ["The mayor said she loves the bridge."]),
        ('"I love this bridge," she said.', ['"I love this bridge," she said.']),
        ("The wonderful bridge closed.", ["The wonderful bridge closed."]),
        ("We found the ship.", ["We found the ship."]),
    ],
)
def test_an_opinion_is_no_claim(text: str, claims: list[str]) -> None:
    assert stated(text) == claims


def test_an_abbreviation_is_no_claim() -> None:
    assert "Gov." not in stated("Gov. Smith signed the bill. Gov.")
    assert stated("Gov.") == []


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@given(anything | texts)
def test_an_extracted_claim_is_made_of_its_unit_s_words_in_order(content: str) -> None:
    text = Text.of(content)
    for claim in extract_claims(text, judge=LexicalJudge()):
        unit = text.unit_spans[claim.unit - 1]
        if claim.start is not None and claim.end is not None:
            assert unit.start <= claim.start < claim.end <= unit.end
            assert content[claim.start : claim.end] == claim.text
        left = iter(words_of(unit.of(content)))
        assert all(word in left for word in words_of(claim.text))


@given(texts)
def test_extraction_loses_no_word_but_conjunctions(content: str) -> None:
    claims = extract_claims(content, judge=LexicalJudge())
    lost = set(words_of(content)) - {word for claim in claims for word in words_of(claim.text)}
    assert lost <= {"and", "but", "so", "yet", "while", "whereas", "although", "though"}

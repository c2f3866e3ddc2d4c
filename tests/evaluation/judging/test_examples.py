import json

from evaluation.judging.examples import (
    EXAMPLE_TOKENS,
    LONGEST_PASSAGE,
    Candidate,
    Example,
    choose_examples,
    passage,
    within,
)
from evaluation.judging.prompts import PROMPTS

MILL = Candidate("The mill burned down", "no", is_correction=True)


def test_both_labels_come_in_turn() -> None:
    candidates = [
        MILL,
        Candidate("The mill burned", "no", is_correction=True),
        Candidate("Rain fell", "yes", is_correction=True),
    ]
    assert choose_examples(candidates) == [0, 2, 1]


def test_what_the_judge_got_wrong_comes_first() -> None:
    right = Candidate("The mill burned down at night", "no", is_correction=False)
    assert choose_examples([right, MILL]) == [1, 0]


def test_no_more_than_fit_are_chosen() -> None:
    candidates = [
        Candidate(f"The mill number {number} burned", "no", is_correction=True) for number in range(60)
    ]
    chosen = choose_examples(candidates)
    # Each example takes about 130 tokens: 100 for its passage, 20 for the frame, and its claim.
    assert 10 <= len(chosen) <= 12
    assert choose_examples(candidates, most_tokens=100) == []
    told = [Example(candidates[place].claim, "x" * LONGEST_PASSAGE, "no") for place in chosen]
    assert within(told) == told
    assert sum(example.tokens for example in told) <= EXAMPLE_TOKENS
    assert within(told, told[0].tokens) == told[:1]


def test_no_claim_is_told_twice_with_one_label() -> None:
    other = Candidate(MILL.claim, "yes", is_correction=False)
    assert choose_examples([MILL, MILL, other, MILL]) == [0, 2]


def test_nothing_to_choose_from() -> None:
    assert choose_examples([]) == []


def test_a_passage_holds_the_sentences_that_share_words() -> None:
    text = "It rained all day. The old mill burned down at night. Nobody was hurt. The mill was empty."
    assert passage("The mill burned down", text) == "The old mill burned down at night. The mill was empty."
    # A single sentence that is too long is truncated.
    assert len(passage("mill", "mill " * 200)) == LONGEST_PASSAGE


def test_a_prompt_with_examples_is_a_version_of_its_own() -> None:
    prompt = PROMPTS["cover_summary"]
    example = Example("It cost $5", 'He said: "It cost $5."', "no", "hearsay")
    told = prompt.with_examples([example], "Hearsay is no.")
    assert told.version != prompt.version
    assert told.version == prompt.with_examples([example], "Hearsay is no.").version
    assert told.version != prompt.with_examples([example]).version
    system = told.render("Amounts are in crowns.")
    line = next(line for line in system.splitlines() if line.startswith('{"text"'))
    assert json.loads(line) == {
        "text": 'He said: "It cost $5."',
        "claim": "It cost $5",
        "label": "no",
        "reason": "hearsay",
    }
    # The order is: guideline, examples, the user's own instruction.
    assert system.index("Hearsay is no.") < system.index(line) < system.index("Amounts are in crowns.")


def test_nothing_to_tell_leaves_the_prompt() -> None:
    assert PROMPTS["cover_summary"].with_examples([], "  ") is PROMPTS["cover_summary"]

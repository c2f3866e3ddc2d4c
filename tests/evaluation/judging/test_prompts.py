import hashlib
import json

import pytest

from evaluation.judging import JudgeSettings, Text
from evaluation.judging.prompts import PROMPTS, Prompt, canonical, check_input, extract_input

# Digests of what each version says. Anyone who changes a prompt's words or schema raises its version and records
# the new digest under it: stored calls are found by version.
RECORDED = {
    ("extract", "2"): "998bc826bb3dd01c",
    ("check_covered", "2"): "4eb23c50f53aa93c",
    ("check_supported", "2"): "8391b82c2d02e24f",
    ("read_document", "2"): "5454b9d1e531d8d2",
    ("align_summary", "2"): "571c67bd43d29732",
    ("cover_summary", "1"): "6272696e5f966e3c",
    ("explain", "1"): "98222b7f4c03e832",
}


def digest(prompt: Prompt) -> str:
    told = prompt.system + canonical(prompt.schema_of(list(prompt.parts)))
    told += "".join(part.instruction for part in prompt.parts.values())
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def test_a_changed_prompt_has_a_new_version() -> None:
    assert {(prompt.step, prompt.version): digest(prompt) for prompt in PROMPTS.values()} == RECORDED


def test_a_custom_instruction_is_filled_in_but_not_read_as_a_template() -> None:
    prompt = Prompt("extract", "1", "Cut for $$5.$custom_instruction\nEnd.", {})
    wish = "Mind $custom_instruction, ${x} and {this.__class__}."
    assert prompt.render(wish) == f"Cut for $5.\nThe user of this evaluation adds:\n{wish}\n\nEnd."


def test_without_an_instruction_nothing_is_added() -> None:
    assert Prompt("extract", "1", "Cut.$custom_instruction", {}).render("  ") == "Cut."


@pytest.mark.parametrize(
    ("system", "reason"),
    [("Cut $5.", "lone"), ("Cut $secret and $key.", "unknown placeholders: key, secret")],
)
def test_a_prompt_with_a_bad_placeholder_is_refused(system: str, reason: str) -> None:
    with pytest.raises(JudgeSettings, match=reason):
        Prompt("extract", "1", system, {})


def test_a_question_carries_numbered_units_and_ids() -> None:
    text = Text.of("It rained. We left.")
    units = [{"unit": 1, "text": "It rained."}, {"unit": 2, "text": "We left."}]
    assert check_input(text, {"c1": "Rain."}) == {
        "text": {"language": "en", "units": units},
        "claims": [{"id": "c1", "claim": "Rain."}],
    }
    assert extract_input(text, [2]) == {"text": {"language": "en", "units": units}, "units_wanted": [2]}


def test_two_questions_about_one_text_begin_alike() -> None:
    text = Text.of("It rained.")
    one = canonical(check_input(text, {"c1": "Rain."}))
    other = canonical(check_input(text, {"c1": "Snow."}))
    shared = canonical({"text": check_input(text, {})["text"]}).removesuffix("}")
    assert one.startswith(shared)
    assert other.startswith(shared)


def test_canonical_json_keeps_every_character() -> None:
    value = {"b": "é猫\n", "a": [1, None]}
    assert canonical(value) == '{"b":"é猫\\n","a":[1,null]}'
    assert json.loads(canonical(value)) == value

import hashlib
import json

import pytest

from evaluation.judging import JudgeSettings
from evaluation.judging.prompts import PROMPTS, Prompt, canonical, check_input, cover_input

# Digests of what each version says. Anyone who changes a prompt's words or schema raises its version and records
# the new digest under it: stored calls are found by version.
RECORDED = {
    ("check_supported", "3"): "17732eb363966bf9",
    ("read_document", "2"): "5454b9d1e531d8d2",
    ("align_summary", "2"): "571c67bd43d29732",
    ("cover_summary", "1"): "6272696e5f966e3c",
    ("explain", "2"): "388777bd1497fbe6",
}


def digest(prompt: Prompt) -> str:
    told = prompt.system + canonical(prompt.schema_of(list(prompt.parts)))
    told += "".join(part.instruction for part in prompt.parts.values())
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def test_a_changed_prompt_has_a_new_version() -> None:
    assert {(prompt.step, prompt.version): digest(prompt) for prompt in PROMPTS.values()} == RECORDED


def test_a_custom_instruction_is_filled_in_but_not_read_as_a_template() -> None:
    prompt = Prompt("explain", "1", "Cut for $$5.$custom_instruction\nEnd.")
    wish = "Mind $custom_instruction, ${x} and {this.__class__}."
    assert prompt.render(wish) == f"Cut for $5.\nThe user of this evaluation adds:\n{wish}\n\nEnd."


def test_without_an_instruction_nothing_is_added() -> None:
    assert Prompt("explain", "1", "Cut.$custom_instruction").render("  ") == "Cut."


@pytest.mark.parametrize(
    ("system", "reason"),
    [("Cut $5.", "lone"), ("Cut $secret and $key.", "unknown placeholders: key, secret")],
)
def test_a_prompt_with_a_bad_placeholder_is_refused(system: str, reason: str) -> None:
    with pytest.raises(JudgeSettings, match=reason):
        Prompt("explain", "1", system)


def test_what_several_calls_share_stands_first() -> None:
    pieces = [(1, "It rained."), (2, "We left.")]
    text = {"1": "It rained.", "2": "We left."}
    # The source of all its claims, and the claims that all summaries of a document are compared with.
    assert canonical(check_input(pieces, {"c1": "Rain."})) == canonical(
        {"text": text, "claims": {"c1": "Rain."}}
    )
    covering = cover_input(pieces, {"claims": {"c1": "Rain."}, "topics": {}})
    assert canonical(covering) == canonical({"claims": {"c1": "Rain."}, "text": text})


def test_canonical_json_keeps_every_character() -> None:
    value = {"b": "é猫\n", "a": [1, None]}
    assert canonical(value) == '{"b":"é猫\\n","a":[1,null]}'
    assert json.loads(canonical(value)) == value

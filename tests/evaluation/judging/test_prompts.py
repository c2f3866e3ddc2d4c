import hashlib

import pytest

from evaluation.judging.errors import JudgeSettings
from evaluation.judging.openai import OpenAIJudge
from evaluation.judging.prompts import PROMPTS, Prompt, Step, canonical

# Digests of the text of each version. A change of a prompt or schema needs a new version and a new digest here,
# because stored calls are found by version.
RECORDED = {
    ("check_supported", "4"): "2a74b4a468e0a813",
    ("read_document", "2"): "2167ce49c54fcf20",
    ("align_summary", "2"): "525b6f00498288dc",
    ("cover_summary", "2"): "de48e0807faef754",
}


def digest(prompt: Prompt) -> str:
    told = prompt.system + canonical(prompt.schema_of(list(prompt.parts)))
    told += "".join(part.instruction for part in prompt.parts.values())
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def test_a_changed_prompt_has_a_new_version() -> None:
    assert {(prompt.step, prompt.version): digest(prompt) for prompt in PROMPTS.values()} == RECORDED


def test_a_custom_instruction_is_filled_in_but_not_read_as_a_template() -> None:
    prompt = Prompt("cover_summary", "1", "Cut for $5.")
    wish = "Mind $custom_instruction, ${x} and {this.__class__}."
    assert prompt.render(wish) == f"Cut for $5.\nThe user of this evaluation adds:\n{wish}"


def test_without_an_instruction_nothing_is_added() -> None:
    assert Prompt("cover_summary", "1", "Cut.").render("  ") == "Cut."


def test_a_prompt_in_own_words_is_a_version_that_follows_from_them() -> None:
    prompt = PROMPTS["cover_summary"]
    own = prompt.reworded("Judge.\n\n[claims]\nIs $it said?")
    assert own.render("Be strict.", ["claims", "topics"]) == (
        f"Judge. Is $it said? {prompt.parts['topics'].instruction}\nThe user of this evaluation adds:\nBe strict."
    )
    assert own.schema_of(["claims"]) == prompt.schema_of(["claims"])
    assert (
        own.version == prompt.reworded("Judge.\r\n\r\n[claims]\r\nIs $it said?\n").version != prompt.version
    )
    assert prompt.reworded(f" {prompt.text}\n") is prompt


@pytest.mark.parametrize("step", list(PROMPTS))
def test_the_text_of_a_prompt_holds_all_its_words(step: Step) -> None:
    prompt = PROMPTS[step]
    names = list(prompt.parts)
    again = prompt.reworded(f"{prompt.text} ")
    assert again is prompt
    changed = prompt.reworded(f"Now: {prompt.text}")
    assert changed.render(parts=names).split() == ["Now:", *prompt.render(parts=names).split()]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "needs words"),
        ("[claims]\nx", "needs words"),
        ("x\n[claims]\n", "needs words"),
        ("x" * 8001, "at most 8000"),
        ("x\n[nothing]\ny", "no part 'nothing'; it has: claims, questions, topics, criteria"),
        ("x\n[claims]\ny\n[claims]\nz", "part twice"),
        ("x\0", "control characters"),
        ("x\ud800", "control characters"),
    ],
)
def test_words_that_no_prompt_can_have_are_refused(text: str, reason: str) -> None:
    with pytest.raises(JudgeSettings, match=reason):
        PROMPTS["cover_summary"].reworded(text)


def test_spaces_of_other_scripts_and_editors_are_no_control_characters() -> None:
    words = "判断してください。\u3000はい\u00a0いいえ"
    assert PROMPTS["cover_summary"].reworded(words).render().startswith(words)


def test_a_prompt_under_another_step_is_refused() -> None:
    with pytest.raises(JudgeSettings, match="'align_summary'"):
        OpenAIJudge("m", "http://127.0.0.1:9/v1", prompts={"align_summary": PROMPTS["cover_summary"]})

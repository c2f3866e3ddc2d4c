"""The prompts of an LLM judge, as versioned data. Their words are in prompts.toml.

Each step has a system message. The user message is one JSON object, with a field for each text.

A step has optional parts. The parts that a call uses determine the JSON schema of the reply. Servers without schemas
get the schema as the last line of the system message.

A changed prompt or schema needs a new version, because the keys of stored calls contain the version. `Prompt.reworded`
and `Prompt.with_examples` change the version.
"""

import hashlib
import json
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, Literal

from evaluation._labels import LABELS, LABELS_IN_WORDS
from evaluation.judging.errors import JudgeSettings
from evaluation.judging.examples import LONGEST_GUIDELINE, Example
from evaluation.judging.protocol import Json
from evaluation.metrics._criteria import Criterion

Step = Literal["read_document", "align_summary", "check_supported", "cover_summary"]
Pieces = Sequence[tuple[int, str]]
"""The number and content of units, or of those parts of units that fit into one call."""
LONGEST_PROMPT = 8_000
_PART_NAME = re.compile(r"^\[(\w+)\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Part:
    """An optional part of a step: its instruction, and its properties in the reply."""

    instruction: str
    properties: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The instructions of a step, with its optional parts.

    `examples` is the text with the guideline and the examples that `with_examples` adds.
    """

    step: Step
    version: str
    system: str
    parts: Mapping[str, Part] = field(default_factory=dict)
    examples: str = ""

    def render(self, custom_instruction: str | None = None, parts: Sequence[str] = ()) -> str:
        """Build the system message of a call with these parts."""
        wish = (custom_instruction or "").strip()
        added = f"\nThe user of this evaluation adds:\n{wish}\n" if wish else ""
        told = " ".join(self.parts[name].instruction for name in parts)
        return f"{self.system}{told}{self.examples}{added}".strip()

    @property
    def text(self) -> str:
        """Return the instructions as one text: first the step's, then each part's after a line with its name in
        brackets.
        """
        parts = (
            f"[{name}]\n{part.instruction.strip()}" for name, part in self.parts.items() if part.instruction
        )
        return "\n\n".join([self.system.strip(), *parts])

    def reworded(self, text: str) -> "Prompt":
        """Return the prompt in a user's words, in the layout of `text`; the form of the reply does not change.

        Parts that the text omits keep their instructions. The version contains a hash of the words; if the words are
        unchanged, the prompt itself is returned. Raises JudgeSettings for an empty text or part, and for a text that is
        too long or has control characters, unknown parts or repeated parts.
        """
        own = text.replace("\r\n", "\n").strip()
        system, *sections = _PART_NAME.split(own)
        words = dict(zip(sections[::2], map(str.strip, sections[1::2]), strict=True))
        known = [name for name, part in self.parts.items() if part.instruction]
        if unknown := sorted(words.keys() - set(known)):
            told = f"The step {self.step!r} has no part {unknown[0]!r}"
            raise JudgeSettings(f"{told}; it has: {', '.join(known)}.")
        if not system.strip() or not all(words.values()) or len(own) > LONGEST_PROMPT:
            told = "A prompt needs words at its start and in each part, and takes at most"
            raise JudgeSettings(f"{told} {LONGEST_PROMPT} characters.")
        if len(words) < len(sections) // 2:
            raise JudgeSettings(f"The step {self.step!r} has a part twice. Write each part once.")
        if any(unicodedata.category(each) in ("Cc", "Cs") and each not in "\n\t" for each in own):
            raise JudgeSettings("A prompt must not hold control characters. Take them out.")
        parts = {
            name: replace(part, instruction=words.get(name, part.instruction))
            for name, part in self.parts.items()
        }
        changed = replace(self, system=f"{system.strip()} ", parts=parts)
        return self if changed.text == self.text else replace(changed, version=self._version_of(changed.text))

    def _version_of(self, words: str) -> str:
        digest = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.version}+{digest[:8]}"

    def schema_of(self, parts: Sequence[str] = ()) -> Mapping[str, Json]:
        """Build the JSON schema of the reply to a call with these parts."""
        properties: dict[str, Json] = {}
        for name in parts:
            properties.update(self.parts[name].properties)
        return _object(**properties)

    def with_examples(self, examples: Sequence[Example], guideline: str = "") -> "Prompt":
        """Return the prompt with examples of people's answers and a guideline, before the user's own instruction.

        The version contains a hash of examples and guideline. If both are empty, the prompt itself is returned.
        Example: `PROMPTS["cover_summary"].with_examples([Example("It rained", "Rain fell.", "yes")])`.
        """
        told = ""
        if guideline.strip():
            told += f"\nPeople answer by this guideline:\n{guideline.strip()[:LONGEST_GUIDELINE]}\n"
        if examples:
            listed = "".join(f"{canonical(_told(example))}\n" for example in examples)
            told += f"\n{_SHARED['examples']}\n{listed}"
        if not told:
            return self
        return replace(self, examples=told, version=self._version_of(told))


def _told(example: Example) -> dict[str, Json]:
    reason: dict[str, Json] = {"reason": example.reason} if example.reason else {}
    return {"text": example.passage, "claim": example.claim, "label": example.label, **reason}


def _object(**properties: Json) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_WORDS = tomllib.loads(files("evaluation.judging").joinpath("prompts.toml").read_text("utf-8"))
_SHARED = {**_WORDS["shared"], "labels": LABELS_IN_WORDS}
_FIELDS: Mapping[str, Json] = {**_WORDS["fields"], "label": {"type": "string", "enum": list(LABELS)}}


def _schema(shape: Any) -> Json:
    """Return the JSON schema of a shape: the name of a field, a list with the shape of its items, or an object."""
    if isinstance(shape, str):
        return _FIELDS[shape]
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0])}
    return _object(**{name: _schema(each) for name, each in shape.items()})


PROMPTS: Mapping[Step, Prompt] = {
    step: Prompt(
        step,
        told["version"],
        told["system"].format(**_SHARED),
        {
            name: Part(
                part["instruction"].format(**_SHARED),
                {key: _schema(shape) for key, shape in _WORDS["replies"].get(part.get("reply"), {}).items()},
            )
            for name, part in told["parts"].items()
        },
    )
    for step, told in _WORDS["steps"].items()
}
"""The built-in prompt of each step."""


def read_input(
    pieces: Pieces,
    *,
    reference: Pieces = (),
    wanted: Sequence[int] | None = None,
    questions: Mapping[str, str] | None = None,
    n_questions: int = 0,
) -> dict[str, Json]:
    """Build the user message of a request about a document.

    `wanted` has the numbers of the units whose claims are requested; None requests the claims of every unit.
    """
    message: dict[str, Json] = {
        "text": numbered(pieces),
        "reference": numbered(reference),
        "units_wanted": wanted,
        "questions": questions,
        "n_questions": n_questions,
    }
    return {name: value for name, value in message.items() if value}


def align_input(source: Pieces, summary: Pieces, wanted: Sequence[int] | None = None) -> dict[str, Json]:
    """Build the user message that asks for a summary's claims and for their verdicts against the source."""
    message: dict[str, Json] = {"text": numbered(source), "summary": numbered(summary)}
    return message if wanted is None else {**message, "units_wanted": list(wanted)}


def cover_input(
    pieces: Pieces, asked: Mapping[str, Mapping[str, str]], criteria: Mapping[str, Criterion] | None = None
) -> dict[str, Json]:
    """Build the user message about a summary alone. `asked` has claims, questions and topics, by kind and id."""
    listed = {name: items for name, items in asked.items() if items}
    own = {"criteria": criteria_asked(criteria)} if criteria else {}
    return {**listed, **own, "text": numbered(pieces)}


def criteria_asked(criteria: Mapping[str, Criterion]) -> dict[str, Json]:
    """Write the question of each criterion with its values, under its id."""
    return {
        identity: {
            "question": each.question,
            "values": {str(value): words for value, words in each.choices}
            or ("numbers from 0 to 1" if each.scale == "share" else "whole numbers from 0 to 100"),
        }
        for identity, each in criteria.items()
    }


def canonical(value: Json) -> str:
    """Return the canonical JSON of a value: no white space between values, no escapes of characters outside ASCII, and
    keys in the given order.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def numbered(pieces: Pieces) -> dict[str, Json]:
    """Turn units into a JSON object with their numbers as keys."""
    return {str(number): content for number, content in pieces}

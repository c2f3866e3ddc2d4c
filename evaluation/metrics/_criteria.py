"""Criteria, which are questions about a whole summary with a scale, and built-in packs of criteria.

The packs are data in criteria.json. A pack has the common fields of its criteria under `all`, and the criteria under
`criteria`. Sources of the packs:

- DUC 2002: twelve counts, each answered 0, 1 to 5, 6 to 10 or more than 10 and published as 0 to 3. The subjects of
  questions 1 to 4 are known from NIST's page, the subjects of 5 to 12 from the literature. NIST's wording was not
  seen, so the wording here is our own.
- DUC 2004: seven questions with five answers each, A the best and E the worst. The subjects of questions 6 and 7 are
  known only from the literature; the wording is our own. A to E are stored as 1 to 5.
- DUC 2006 and 2007: five qualities from 1, very poor, to 5, very good. The subject of the fifth, structure and
  coherence, is from the literature; the wording is our own.
- SummEval (2021): coherence, consistency, fluency and relevance from 1, worst, to 5, best. The wording is our own.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, get_args

from evaluation.errors import EvaluationError

Scale = Literal["points", "yes_no", "percent", "share"]
Reads = Literal["summary", "reference", "source", "unmarked"]
AnsweredBy = Literal["people", "judge", "both"]
Asked = Literal["before", "after"]

MOST_POINTS = 11
MOST_JUDGED = 12
"""The largest number of criteria in `checked_criteria`."""
LONGEST_QUESTION = 500
LONGEST_WORDS = 200
_NAME = re.compile(r"[\w-]{1,40}")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A question about a whole summary with its scale.

    `scale` is one of:
    - points: 2 to 11 whole numbers, each with a text or ""; a pair such as (1, 5) stands for all numbers of its range
    - yes_no: 1 and 0
    - percent: 0 to 100, or only the values in `points` if there are any
    - share: any number from 0 to 1

    `reads` names the text that the question needs; "unmarked" stands for the summary units without a mark. `asked` is
    "before" or "after": people answer before or after they see the reference.
    """

    name: str
    question: str
    scale: Scale | tuple[int, int] = "points"
    points: tuple[tuple[int, str], ...] = ()
    higher_is_better: bool = True
    reads: Reads = "summary"
    answered_by: AnsweredBy = "people"
    asked: Asked = "before"

    def __post_init__(self) -> None:
        match self.scale:
            case (int(low), int(high)):
                texts = dict(self.points)
                points = tuple((value, texts.get(value, "")) for value in range(low, high + 1))
                object.__setattr__(self, "scale", "points")
                object.__setattr__(self, "points", points)

    @property
    def values(self) -> tuple[int, ...]:
        """Return the allowed whole numbers; empty for a share.

        Example: `Criterion("neutral", "Is the tone neutral?", "yes_no").values` is `(0, 1)`.
        """
        if self.points:
            return tuple(value for value, _ in self.points)
        return {"yes_no": (0, 1), "percent": tuple(range(101))}.get(str(self.scale), ())

    @property
    def choices(self) -> tuple[tuple[int, str], ...]:
        """Return each possible answer as its value and its text, or the value again if it has no text. The result is
        empty if the answer is a number that people type.

        Example: DUC 2002's first question has `(0, "none"), (1, "1 to 5"), (2, "6 to 10"), (3, "more than 10")`.
        """
        if self.scale == "yes_no":
            return (0, "no"), (1, "yes")
        unit = " %" if self.scale == "percent" else ""
        return tuple((value, words or f"{value}{unit}") for value, words in self.points)

    def in_words(self, value: float) -> str:
        """Return the text of an answer, or its number if the answer has no text.

        Example: `Criterion("tone", "Is it neutral?", "yes_no").in_words(1)` is "yes".
        """
        unit = " %" if self.scale == "percent" else ""
        return {float(point): words for point, words in self.choices}.get(value, f"{value:g}{unit}")

    def share(self, value: float) -> float:
        """Rescale an answer to [0, 1], so that 1 is the best answer of the scale.

        Example: `Criterion("tone", "Is it neutral?", (1, 5)).share(4)` is .75.
        """
        low, high = (self.values[0], self.values[-1]) if self.values else (0, 1)
        part = (value - low) / (high - low)
        return part if self.higher_is_better else 1 - part

    @property
    def fault(self) -> tuple[str, str] | None:
        """Return a field that makes the criterion unusable, with a sentence; None if it can be asked."""
        if not _NAME.fullmatch(self.name):
            return "name", "A name has 1 to 40 letters, digits, _ and - only."
        if not 1 <= len(self.question.strip()) <= LONGEST_QUESTION:
            return "question", f"A question has 1 to {LONGEST_QUESTION} characters."
        values, words = [value for value, _ in self.points], [words for _, words in self.points if words]
        if self.scale == "points" and not 2 <= len(values) <= MOST_POINTS:
            return "points", f"A scale of points has 2 to {MOST_POINTS} of them."
        if values != sorted(set(values)) or any(not 0 <= value <= 100 for value in values):
            return "points", "Points are different whole numbers from 0 to 100, rising."
        if len(words) > len(set(words)) or any(len(each) > LONGEST_WORDS for each in words):
            return "points", f"Answers have different words of at most {LONGEST_WORDS} characters."
        if self.reads in ("reference", "unmarked") and self.asked == "before":
            return (
                "asked",
                "A criterion that is read with the reference is asked after the reference is seen.",
            )
        return None


def checked_criteria(given: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """Return the criteria as a tuple. Raises EvaluationError for too many or repeated criteria, and for a criterion
    that is unusable, reads the unmarked units or has the scale "share".
    """
    criteria = tuple(given)
    names = [each.name for each in criteria]
    if len(criteria) > MOST_JUDGED:
        raise EvaluationError(f"A judge answers at most {MOST_JUDGED} criteria, got {len(criteria)}.")
    for each in criteria:
        if each.fault is not None:
            raise EvaluationError(f"The criterion {each.name!r} cannot be asked. {each.fault[1]}")
        if names.count(each.name) > 1:
            raise EvaluationError(f"Two criteria are named {each.name!r}; each needs its own name.")
        if each.reads == "unmarked" or each.scale == "share":
            raise EvaluationError(f"A judge does not answer {each.name!r}: it has another scale or text.")
    return criteria


def read_criteria(text: str) -> tuple[Criterion, ...]:
    """Read criteria from JSON: a list of objects with the fields of `Criterion`. Raises EvaluationError otherwise.

    Example: `read_criteria('[{"name": "tone", "question": "Is it neutral?", "scale": [1, 5]}]')`.
    """
    try:
        listed: Any = json.loads(text)
        return tuple(_from_json(each) for each in listed)
    except (ValueError, TypeError, AttributeError) as error:
        known = ", ".join(field.name for field in fields(Criterion))
        raise EvaluationError(f"Criteria are a JSON list of objects with some of {known}. {error}") from error


def _from_json(given: Mapping[str, Any]) -> Criterion:
    columns = dict(given)
    if isinstance(columns.get("scale"), list):
        columns["scale"] = tuple(columns["scale"])
    columns["points"] = tuple((int(value), str(words)) for value, words in columns.get("points", ()))
    found = Criterion(**columns)
    choices = {"scale": Scale, "reads": Reads, "answered_by": AnsweredBy, "asked": Asked}
    for name, known in choices.items():
        if getattr(found, name) not in get_args(known):
            raise ValueError(f"{name} is one of {', '.join(get_args(known))}.")
    types = {"name": str, "question": str, "higher_is_better": bool}
    if wrong := [name for name, kind in types.items() if not isinstance(getattr(found, name), kind)]:
        raise TypeError(f"{wrong[0]} is of another type.")
    return found


def counted(words: tuple[str, ...], first: int = 0) -> tuple[tuple[int, str], ...]:
    """Number texts from `first`, as the points of a criterion.

    Example: `counted(("no", "yes"))` is `((0, "no"), (1, "yes"))`.
    """
    return tuple(enumerate(words, start=first))


UNMARKED = Criterion(
    name="unmarked",
    question="What share of the unmarked summary units is still related to the subject?",
    scale="percent",
    points=tuple((percent, "") for percent in range(0, 101, 20)),
    reads="unmarked",
    asked="after",
)
"""The criterion that a new project gets."""


def _listed(pack: Mapping[str, Any]) -> tuple[Criterion, ...]:
    return tuple(_from_json({**pack["all"], **own}) for own in pack["criteria"])


_DATA = json.loads(files("evaluation.metrics").joinpath("criteria.json").read_text("utf-8"))

JUDGED: Mapping[str, Criterion] = MappingProxyType({each.name: each for each in _listed(_DATA.pop("judged"))})
"""Built-in criteria of scores, by the name of the score."""
PACKS: Mapping[str, tuple[Criterion, ...]] = MappingProxyType(
    {name: _listed(pack) for name, pack in _DATA.items()}
)
"""Sets of criteria, by name."""

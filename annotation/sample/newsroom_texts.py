"""The texts of the sample project Newsroom, put together from written blocks, and what each summary really says.

The same blocks give the same texts, and the same slips of its two reviewers, on every machine.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evaluation.text import count_words, split_sentences

BLOCKS = Path(__file__).with_name("newsroom.toml")
TARGET_WORDS = 80
FIXED_FACTS = 2
"""So many facts open every document; the rest comes in another order in each."""

Form = Literal["source", "said", "again", "vague", "wrong", "short"]
TELLS: frozenset[Form] = frozenset(("source", "said", "again"))
"""The forms that express a fact."""


class Style(NamedTuple):
    """How a system puts a fact of the reference: the odds of each form, the rest being that it leaves it out.

    `aside` is the chance that it tells something beside the point.
    """

    odds: Mapping[Form, float]
    aside: float


LEAD = "lead"
STYLES: Mapping[str, Style] = {
    "herald-2": Style({"again": 0.42, "source": 0.28, "said": 0.14, "vague": 0.03, "wrong": 0.01}, 0.1),
    "courier-1": Style({"again": 0.24, "source": 0.28, "said": 0.1, "vague": 0.12, "wrong": 0.04}, 0.3),
    "tribune-1": Style({"again": 0.3, "source": 0.16, "said": 0.14, "vague": 0.1, "wrong": 0.06}, 0.3),
    "bulletin-xs": Style({"again": 0.1, "source": 0.14, "said": 0.04, "vague": 0.24, "wrong": 0.22}, 0.6),
}
"""The systems but the baseline, which takes the first sentences that fit."""


@dataclass(frozen=True, slots=True)
class FactTold:
    """How a summary puts a fact of the reference: in which form, None where it leaves it out, and in which units."""

    form: Form | None
    units: tuple[int, ...] = ()

    @property
    def is_true(self) -> bool:
        return self.form in TELLS


@dataclass(frozen=True, slots=True)
class Story:
    """One document set. `told` says by system and sentence of the reference what its summary makes of it, `forms` in
    which form each unit of the summary is.
    """

    name: str
    kind: str
    document: str
    reference: str
    summaries: Mapping[str, str]
    told: Mapping[str, Mapping[str, FactTold]]
    forms: Mapping[str, Sequence[Form]]

    def rows(self) -> Iterator[dict[str, object]]:
        """The story as rows of an import, one for each summary."""
        for system, summary in self.summaries.items():
            yield {
                "document_id": self.name,
                "document": self.document,
                "reference": self.reference,
                "reference_id": f"{self.name}-reference",
                "system": system,
                "summary": summary,
                "target_words": TARGET_WORDS,
                "language": "en",
                "metadata": {"kind": self.kind},
            }


def stories() -> list[Story]:
    """All stories: of each plot the first, then of each the second, and so on."""
    plots = tomllib.loads(BLOCKS.read_text(encoding="utf-8"))["plots"]
    turns = zip(*(plot["cases"] for plot in plots), strict=True)
    return [_story(plot, case) for turn in turns for plot, case in zip(plots, turn, strict=True)]


def _story(plot: Mapping[str, Any], case: Mapping[str, str]) -> Story:
    name = f"{plot['name']}-{case['name']}"
    facts = [{form: _filled(text, case) for form, text in fact.items()} for fact in plot["facts"]]
    points = [fact for fact in facts if "said" in fact]
    asides = [fact for fact in facts if "said" not in fact]
    later = [*facts[FIXED_FACTS:]]
    random.Random(f"order of {name}").shuffle(later)
    in_order = [*facts[:FIXED_FACTS], *later]
    summaries: dict[str, str] = {}
    told: dict[str, dict[str, FactTold]] = {}
    forms: dict[str, list[Form]] = {}
    lead = _lead(in_order)
    for system, pieces in (
        (LEAD, lead),
        *(
            (system, _pieces(f"{system} on {name}", style, points, asides))
            for system, style in STYLES.items()
        ),
    ):
        summaries[system], told[system] = _put_together(pieces, points)
        forms[system] = [piece.form for piece in pieces for _ in split_sentences(piece.text)]
    halves = [in_order[: len(in_order) // 2], in_order[len(in_order) // 2 :]]
    return Story(
        name=name,
        kind=plot["kind"],
        document="\n\n".join(" ".join(fact["source"] for fact in half) for half in halves),
        reference=" ".join(fact["said"] for fact in points),
        summaries=summaries,
        told=told,
        forms=forms,
    )


def _filled(text: str, case: Mapping[str, str]) -> str:
    filled = text.format(**case)
    return filled[0].upper() + filled[1:]


class _Piece(NamedTuple):
    """Some words of a summary, and the fact of the reference that they are about, if any."""

    text: str
    form: Form
    fact: Mapping[str, str]


def _lead(facts: Sequence[Mapping[str, str]]) -> list[_Piece]:
    """The first sentences of the document that fit, each of them a piece; what a fact says stands in its first one."""
    pieces: list[_Piece] = []
    for fact in facts:
        for place, sentence in enumerate(split_sentences(fact["source"])):
            piece = _Piece(sentence, "short" if place else "source", fact)
            if _length([*pieces, piece]) > TARGET_WORDS:
                return pieces
            pieces.append(piece)
    return pieces


def _pieces(
    name: str, style: Style, points: Sequence[Mapping[str, str]], asides: Sequence[Mapping[str, str]]
) -> list[_Piece]:
    """What a system makes of the facts. The first is never left out, for the rest of the summary hangs on it."""
    chance = random.Random(name)
    pieces: list[_Piece] = []
    for place, fact in enumerate(points):
        forms, weights = list(style.odds), list(style.odds.values())
        if place and chance.random() > sum(weights):
            continue
        form = chance.choices(forms, weights)[0]
        text = split_sentences(fact["source"])[0] if form == "source" else fact[form]
        pieces.append(_Piece(text, form, fact))
    if chance.random() < style.aside:
        fact = chance.choice(asides)
        pieces.append(_Piece(fact["short"], "short", fact))
    while _length(pieces) > TARGET_WORDS:
        pieces.pop(chance.randrange(1, len(pieces)))
    return pieces


def _length(pieces: Sequence[_Piece]) -> int:
    return sum(count_words(piece.text) for piece in pieces)


def _put_together(
    pieces: Sequence[_Piece], points: Sequence[Mapping[str, str]]
) -> tuple[str, dict[str, FactTold]]:
    """The summary, and by sentence of the reference what it makes of it."""
    found: dict[str, FactTold] = {}
    unit = 0
    for piece in pieces:
        units = tuple(range(unit + 1, unit + 1 + len(split_sentences(piece.text))))
        unit = units[-1]
        if piece.form != "short":
            found[piece.fact.get("said", "")] = FactTold(piece.form, units)
    told = {fact["said"]: found.get(fact["said"], FactTold(None)) for fact in points}
    return " ".join(piece.text for piece in pieces), told

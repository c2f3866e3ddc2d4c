"""The scores of a summary as formulas with the numbers in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from annotation.models import Project, Rating
from evaluation.blend import (
    ComparisonScore,
    ScoredClaim,
    ScoredSummary,
    ScoredUnit,
    SummaryScore,
    UnitCoverage,
)
from evaluation.metrics import ConcisenessTerms

if TYPE_CHECKING:
    from annotation.scoring.questions import AskedQuestion, GivenRating

TERMS_SHOWN = 8

COVERED_BY = {"questions": "question coverage", "claims": "claim coverage"}
"""What stands for coverage in a summarization score."""

UnitFigure = Literal["value", "judge_share", "human_value", "human_share"]
"""What a unit puts into a figure of the coverage family."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A score with the numbers that it is made of; without a value `text` is empty, or says why.

    `column` is the score's name in exports, and the place on the page that explains it. `needs_target`: it is blank
    because neither the summary nor the project has a target length.
    """

    name: str
    column: str
    value: float | None
    text: str
    needs_target: bool = False


def formulas_of(
    project: Project,
    value: ScoredSummary,
    score: SummaryScore,
    *,
    questions: Sequence[AskedQuestion] = (),
    ratings: Mapping[str, GivenRating] | None = None,
    terms: ConcisenessTerms | None = None,
) -> tuple[Formula, ...]:
    """Every score of a summary as a formula; those that few projects have only where there is something to say."""
    wholes = _formulas_of_wholes(project, score, questions, ratings or {}, terms, value)
    return (
        *_formulas(project, value, score),
        *(formula for formula in wholes if formula.value is not None or formula.text),
    )


def unit_formula(project: Project, unit: ScoredUnit, coverage: UnitCoverage) -> str:
    """How a unit's value came about, with its numbers: "mean of 40 and 60 %", "1 yes / 2 scored".

    Empty where nothing is computed: where the value is one person's percent, a rule's, or there is none.
    """
    percents = _percents(project, unit.percents)
    match coverage.source:
        case "assessors":
            return percents
        case "claims":
            return _share_of_yes(unit.claims)
        case "blend":
            weight = project.blend_human_weight
            said = percents or f"{unit.percents[0]:g} %"
            return f"{weight:.3g}·({said}) + {1 - weight:.3g}·({_share_of_yes(unit.claims)})"
        case _:
            return ""


def coverage_formula(score: ComparisonScore, figure: UnitFigure = "value") -> str:
    """The mean with its numbers, such as "(1.00 + 0.50) / 2"; weights are named where they differ from 1.

    Empty where no unit has a value.
    """
    found = [(unit.weight, getattr(unit, figure)) for unit in score.units]
    units = [(weight, value) for weight, value in found if value is not None]
    if not units:
        return ""
    is_weighted = any(weight != 1 for weight, _ in units)
    terms = [f"{weight:g}·{value:.2f}" if is_weighted else f"{value:.2f}" for weight, value in units]
    if len(terms) > TERMS_SHOWN:
        terms = [*terms[: TERMS_SHOWN - 1], "…", terms[-1]]
    return f"({' + '.join(terms)}) / {sum(weight for weight, _ in units):g}"


def _percents(project: Project, percents: Sequence[float]) -> str:
    if len(percents) <= 1:
        return ""
    said = [f"{percent:g}" for percent in percents]
    return f"{project.assessor_average} of {', '.join(said[:-1])} and {said[-1]} %"


def _mean_of_comparisons(score: SummaryScore, column: str, figure: UnitFigure) -> str:
    values = [getattr(made, column) for made in score.comparisons]
    present = [value for value in values if value is not None]
    if len(present) > 1:
        return f"({' + '.join(f'{value:.3f}' for value in present)}) / {len(present)}"
    made = next(
        (made for made, value in zip(score.comparisons, values, strict=True) if value is not None), None
    )
    return coverage_formula(made, figure) if made else ""


def _formulas(project: Project, value: ScoredSummary, score: SummaryScore) -> Iterable[Formula]:
    def formula(name: str, column: str, result: float | None, text: str) -> Formula:
        return Formula(name=name, column=column, value=result, text=text if result is not None else "")

    def measured(name: str, column: str, result: float | None, text: str) -> Formula:
        if result is None and value.target is None:
            return Formula(name=name, column=column, value=None, text="no target length", needs_target=True)
        return formula(name, column, result, text)

    for name, column, figure in _COVERAGES:
        text = _mean_of_comparisons(score, column, figure)
        yield formula(name, column, getattr(score, column), text)
    yield measured("Brevity", "brevity", score.brevity, _brevity(value))
    for name, column, result, weight in (
        ("Composite, a = 1", "composite_1", score.composite_1, 1.0),
        ("Composite, a = ⅔", "composite_2_3", score.composite_2_3, 2 / 3),
        ("Composite of the project", "composite_custom", score.composite_custom, project.composite_weight),
    ):
        yield measured(name, column, result, _composite(score, weight))
    yield formula("Claim coverage", "claim_coverage", score.claim_coverage, _covered_claims(value, score))
    yield formula("Alignment", "alignment", score.alignment, _share_of_yes(value.peer_claims))
    yield formula(
        "Factual alignment",
        "factual_alignment",
        score.factual_alignment,
        f"harmonic mean of {_number(score.claim_coverage)} and {_number(score.alignment)}",
    )


_COVERAGES: tuple[tuple[str, str, UnitFigure], ...] = (
    ("Coverage", "coverage", "value"),
    ("Coverage by the judge alone", "coverage_judge", "judge_share"),
    ("Coverage by people alone", "coverage_human", "human_value"),
    ("Decided by people", "human_share", "human_share"),
)


def _formulas_of_wholes(
    project: Project,
    score: SummaryScore,
    questions: Sequence[AskedQuestion],
    ratings: Mapping[str, GivenRating],
    terms: ConcisenessTerms | None,
    value: ScoredSummary,
) -> Iterable[Formula]:
    """The scores that few projects have; they are shown where somebody asked for them."""
    yield Formula("Question coverage", "question_coverage", score.question_coverage, _pairs(questions))
    yield Formula("Summarization", "summarization", score.summarization, _lower(project, score))
    reasons = {name: rating.reason for name, rating in ratings.items()}
    told = reasons.get("topic_preservation", "")
    yield Formula("Topic preservation", "topic_preservation", score.topic_preservation, told)
    yield Formula("Completeness", "completeness", score.completeness, reasons.get("completeness", ""))
    yield Formula("Redundancy", "redundancy", score.redundancy, reasons.get("redundancy", ""))
    yield Formula("Coherence", "coherence", score.coherence, reasons.get("coherence", ""))
    rated = ratings.get(Rating.Name.CONCISENESS)
    yield Formula("Conciseness", "conciseness", score.conciseness, _conciseness(rated, terms, value))


def _pairs(questions: Sequence[AskedQuestion]) -> str:
    standings = [question.standing for question in questions]
    kept, unscored = standings.count("kept"), standings.count("unscored")
    counting = kept + standings.count("missed")
    left_out = f"{unscored} without an answer" if unscored else ""
    if counting:
        return f"{kept} yes in both / {counting} yes in the source{f', {left_out}' if left_out else ''}"
    return left_out or ("the source answers yes to none" if "not_yes" in standings else "")


def _lower(project: Project, score: SummaryScore) -> str:
    if score.summarization is None or score.summarization_part is None:
        return ""
    part = score.summarization_part
    covered = score.question_coverage if part == "questions" else score.claim_coverage
    parts = f"alignment {_number(score.alignment)} and {COVERED_BY[part]} {_number(covered)}"
    if project.summarization_strict:
        lower = f"strict: 1 where both {parts} are 1, else 0"
    else:
        reached = "reaches" if score.passed else "is below"
        lower = f"the lower of {parts}, which {reached} the threshold {project.summarization_threshold:g}"
    return lower if project.summarization_scale == 1 else f"{lower}; times {project.summarization_scale:g}"


def _conciseness(rated: GivenRating | None, terms: ConcisenessTerms | None, value: ScoredSummary) -> str:
    if rated is None:
        return ""
    if rated.value is None:
        return rated.reason
    if terms is None and not value.has_word_breaks:
        return "Words cannot be counted in this script."
    if terms is None:
        return "The words of the source cannot be counted."
    lengths = f".6·{terms.compression:.3f} compression + .4·{terms.sentences:.3f} sentence length"
    return f".7·({lengths}) + .3·{rated.value:.3f} rated by {rated.judge}"


def _brevity(value: ScoredSummary) -> str:
    if value.target is None:
        return ""
    if value.peer_length > value.target:
        return f"{value.peer_length} is more than the target {value.target}"
    return f"({value.target} − {value.peer_length}) / {value.target}"


def _composite(score: SummaryScore, weight: float) -> str:
    if weight == 1:
        return f"1·{_number(score.coverage)}"
    return f"{weight:.3g}·{_number(score.coverage)} + {1 - weight:.3g}·{_number(score.brevity)}"


def _covered_claims(value: ScoredSummary, score: SummaryScore) -> str:
    if len(score.comparisons) > 1:
        return "mean of the model summaries"
    claims = [claim for made in value.comparisons for unit in made.units for claim in unit.claims]
    return _share_of_yes(claims or value.document_claims)


def _share_of_yes(claims: Sequence[ScoredClaim]) -> str:
    scored = [claim.final for claim in claims if claim.final is not None]
    unscored = f", {len(claims) - len(scored)} unscored" if len(scored) < len(claims) else ""
    return f"{scored.count('yes')} yes / {len(scored)} scored{unscored}" if scored else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"

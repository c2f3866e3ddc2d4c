"""The scores of a summary as formulas with their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from annotation.models import Project
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
    from annotation.analysis.explanation.questions import QuestionStanding
    from annotation.scoring.ratings import GivenRating

TERMS_SHOWN = 8
SAME_WEIGHT = 1e-3
"""Weights of composites that differ by less than this count as equal."""
UnitFigure = Literal["value", "judge_share", "human_value", "human_share"]
"""The figure of a unit that enters a coverage score."""
COVERAGES: tuple[tuple[str, str, UnitFigure], ...] = (
    ("Coverage", "coverage", "value"),
    ("Coverage by the judge alone", "coverage_judge", "judge_share"),
    ("Coverage by people alone", "coverage_human", "human_value"),
    ("Checked by people", "human_share", "human_share"),
)
RATED = ("topic_preservation", "completeness", "redundancy", "coherence")
"""Scores that are shown with a reason in place of a formula."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A score with its formula or a reason, if any.

    `column` is the score's name in exports and its anchor on the page. `needs_target` is True if the score has no value
    because there is no target length.
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
    questions: Sequence[QuestionStanding] = (),
    ratings: Mapping[str, GivenRating] | None = None,
    terms: ConcisenessTerms | None = None,
) -> tuple[Formula, ...]:
    """Write the scores of a summary as formulas.

    Question coverage, summarization and scores of the whole text are left out if they have neither a value nor a
    reason.
    """
    wholes = _formulas_of_wholes(project, score, questions, ratings or {}, terms)
    return (
        *_formulas(project, value, score),
        *(formula for formula in wholes if formula.value is not None or formula.text),
    )


def unit_formula(project: Project, unit: ScoredUnit, coverage: UnitCoverage) -> str:
    """Write the formula of a unit's value, such as "mean of 40 and 60 %" or "1 yes / 2 scored".

    The formula is "" if nothing is computed: one person's percent, a decision, a rule, or no value.
    """
    shown = [f"{percent:g}" for percent in unit.percents]
    percents = (
        f"{project.assessor_average} of {', '.join(shown[:-1])} and {shown[-1]} %" if len(shown) > 1 else ""
    )
    match coverage.source:
        case "assessors":
            return percents
        case "claims":
            return _share_of_yes(unit.claims)
        case "blend":
            weight = project.blend_human_weight
            return f"{weight:.3g}·({percents or f'{shown[0]} %'}) + {1 - weight:.3g}·({_share_of_yes(unit.claims)})"
        case _:
            return ""


def coverage_formula(score: ComparisonScore, figure: UnitFigure = "value") -> str:
    """Write the weighted mean of the units' `figure`, such as "(1.00 + 0.50) / 2"; weights appear if one differs from
    1.

    The formula is "" if no unit has a value.
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


def _mean_of_comparisons(score: SummaryScore, column: str, figure: UnitFigure) -> str:
    made = [each for each in score.comparisons if getattr(each, column) is not None]
    if len(made) > 1:
        return f"({' + '.join(f'{getattr(each, column):.3f}' for each in made)}) / {len(made)}"
    return coverage_formula(made[0], figure) if made else ""


def _formulas(project: Project, value: ScoredSummary, score: SummaryScore) -> Iterator[Formula]:
    def formula(name: str, column: str, text: str, *, needs_target: bool = False) -> Formula:
        result = getattr(score, column)
        if result is None and needs_target and value.target is None:
            return Formula(name, column, None, "no target length", needs_target=True)
        return Formula(name, column, result, text if result is not None else "")

    for name, column, figure in COVERAGES:
        yield formula(name, column, _mean_of_comparisons(score, column, figure))
    length = f"({value.target} − {value.summary_length}) / {value.target}"
    if value.target is not None and value.summary_length > value.target:
        length = f"{value.summary_length} is more than the target {value.target}"
    yield formula("Brevity", "brevity", length, needs_target=True)
    for name, column, weight in (
        ("Composite, a = 1", "composite_1", 1.0),
        ("Composite, a = ⅔", "composite_2_3", 2 / 3),
        ("Composite of the project", "composite_custom", project.composite_weight),
    ):
        if column == "composite_custom" and any(abs(weight - other) < SAME_WEIGHT for other in (1, 2 / 3)):
            continue
        text = f"{weight:.3g}·{_number(score.coverage)}"
        if weight != 1:
            text += f" + {1 - weight:.3g}·{_number(score.brevity)}"
        yield formula(name, column, text, needs_target=True)
    covered = "mean of the references"
    if len(score.comparisons) <= 1:
        claims = [claim for made in value.comparisons for unit in made.units for claim in unit.claims]
        covered = _share_of_yes(claims or value.document_claims)
    yield formula("Claim coverage", "claim_coverage", covered)
    yield formula("Alignment", "alignment", _share_of_yes(value.summary_claims))
    factual = f"harmonic mean of {_number(score.claim_coverage)} and {_number(score.alignment)}"
    yield formula("Factual alignment", "factual_alignment", factual)


def _formulas_of_wholes(
    project: Project,
    score: SummaryScore,
    questions: Sequence[QuestionStanding],
    ratings: Mapping[str, GivenRating],
    terms: ConcisenessTerms | None,
) -> Iterator[Formula]:
    yield Formula("Question coverage", "question_coverage", score.question_coverage, _pairs(questions))
    yield Formula("Summarization", "summarization", score.summarization, _lower(project, score))
    for name in RATED:
        reason = ratings[name].reason if name in ratings else ""
        yield Formula(name.replace("_", " ").capitalize(), name, getattr(score, name), reason)
    concise = _conciseness(ratings.get("conciseness"), terms)
    yield Formula("Conciseness", "conciseness", score.conciseness, concise)


def _pairs(standings: Sequence[QuestionStanding]) -> str:
    kept, unscored = standings.count("kept"), standings.count("unscored")
    counting = kept + standings.count("missed")
    left_out = f"{unscored} without an answer" if unscored else ""
    if counting:
        return f"{kept} yes in both / {counting} yes in the source{f', {left_out}' if left_out else ''}"
    return left_out or ("the source answers yes to none" if "not_yes" in standings else "")


def _lower(project: Project, score: SummaryScore) -> str:
    if score.summarization is None or score.summarization_part is None:
        return ""
    part, covered = "claim coverage", score.claim_coverage
    if score.summarization_part == "questions":
        part, covered = "question coverage", score.question_coverage
    parts = f"alignment {_number(score.alignment)} and {part} {_number(covered)}"
    if project.summarization_strict:
        lower = f"strict: 1 where both {parts} are 1, else 0"
    else:
        reached = "reaches" if score.passed else "is below"
        lower = f"the lower of {parts}, which {reached} the threshold {project.summarization_threshold:g}"
    return lower if project.summarization_scale == 1 else f"{lower}; times {project.summarization_scale:g}"


def _conciseness(rated: GivenRating | None, terms: ConcisenessTerms | None) -> str:
    if rated is None:
        return ""
    if rated.value is None:
        return rated.reason
    if terms is None:
        return "Words cannot be counted in this script."
    lengths = f".6·{terms.compression:.3f} compression + .4·{terms.sentences:.3f} sentence length"
    return f".7·({lengths}) + .3·{rated.value:.3f} rated by {rated.judge}"


def _share_of_yes(claims: Sequence[ScoredClaim]) -> str:
    scored = [claim.final for claim in claims if claim.final is not None]
    unscored = f", {len(claims) - len(scored)} unscored" if len(scored) < len(claims) else ""
    return f"{scored.count('yes')} yes / {len(scored)} scored{unscored}" if scored else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"

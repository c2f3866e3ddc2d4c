from typing import Any

import pytest

from evaluation import (
    EvaluationError,
    Label,
    ScoredClaim,
    ScoredComparison,
    ScoredSummary,
    ScoredUnit,
    ScoreRules,
    SummaryScore,
    alignment,
    claim_coverage,
    score,
)
from evaluation.blend import left_out_of_averages, unit_coverage
from evaluation.errors import InvalidBudget, InvalidLabel, InvalidPercent, InvalidWeight

WEIGHTED = ScoreRules(blend="weighted")


def judged(*labels: Label | None) -> tuple[ScoredClaim, ...]:
    return tuple(ScoredClaim(claim_id=f"c{number}", judge=label) for number, label in enumerate(labels))


def reviewed(*labels: Label | None) -> tuple[ScoredClaim, ...]:
    return tuple(ScoredClaim(claim_id=f"c{number}", reviewer=label) for number, label in enumerate(labels))


def summary_of(*units: ScoredUnit, **options: Any) -> ScoredSummary:
    return ScoredSummary("s", comparisons=(ScoredComparison("m", units),), **options)


def score_of(*units: ScoredUnit, **options: Any) -> SummaryScore:
    return score(summary_of(*units, **options))


@pytest.mark.parametrize(
    ("given", "final", "source"),
    [
        ({}, None, None),
        ({"judge": "no"}, "no", "judge"),
        ({"judge": "yes", "rule": "no"}, "no", "rule"),
        ({"judge": "yes", "rule": "no", "reviewer": "unsure"}, "unsure", "reviewer"),
        ({"judge": "yes", "reviewer": "no", "adjudicated": "yes"}, "yes", "adjudicator"),
        (
            {"reviewer": "yes"},
            "yes",
            "reviewer",
        ),  # a person's answer scores a claim that the judge left unscored
    ],
)
def test_the_final_verdict_follows_the_order_of_precedence(
    given: dict[str, Label], final: Label | None, source: str | None
) -> None:
    claim = ScoredClaim("c", **given)
    assert (claim.final, claim.final_source) == (final, source)


@pytest.mark.parametrize(
    ("given", "human"),
    [
        ({"judge": "yes", "rule": "no"}, None),
        ({"judge": "yes", "reviewer": "yes"}, "yes"),
        ({"reviewer": "no", "adjudicated": "unsure"}, "unsure"),
    ],
)
def test_the_human_verdict_is_a_persons(given: dict[str, Label], human: Label | None) -> None:
    assert ScoredClaim("c", **given).human == human


def test_an_adjudicated_percent_stands_alone() -> None:
    unit = ScoredUnit("u", percents=(0, 20), adjudicated_percent=80, claims=judged("no"))
    for rules in (ScoreRules(), WEIGHTED):
        coverage = unit_coverage(unit, rules)
        assert (coverage.value, coverage.source, coverage.human_share) == (0.8, "adjudicated", 1.0)
        assert coverage.human_value == 0.8
        assert coverage.judge_share == 0.0


def test_assessors_come_before_claims() -> None:
    # (60 + 80) / 2 = 70 %, while the claims alone would give 1/2.
    coverage = unit_coverage(ScoredUnit("u", percents=(60, 80), claims=judged("yes", "no")))
    assert (coverage.value, coverage.source, coverage.human_share) == (0.7, "assessors", 1.0)
    assert (coverage.judge_share, coverage.human_value) == (0.5, 0.7)


def test_assessors_may_be_averaged_by_their_median() -> None:
    unit = ScoredUnit("u", percents=(0, 20, 100))
    assert unit_coverage(unit).value == pytest.approx(0.4)
    assert unit_coverage(unit, ScoreRules(assessor_average="median")).value == 0.2


def test_claims_give_their_share_of_yes() -> None:
    # yes, no, unsure are scored, 1 of 3 is yes; the reviewer answered 1 of those 3.
    claims = (*judged("yes", "no", None), ScoredClaim("r", judge="yes", reviewer="unsure"))
    coverage = unit_coverage(ScoredUnit("u", claims=claims))
    assert (coverage.value, coverage.source) == (1 / 3, "claims")
    assert coverage.human_share == 1 / 3
    assert (coverage.scored_claims, coverage.unscored_claims) == (3, 1)
    assert coverage.judge_share == 2 / 3  # the judge says yes, no, yes
    assert coverage.human_value is None  # people did not answer every claim


def test_people_who_answered_every_claim_give_the_unit_a_value_of_their_own() -> None:
    claims = (
        ScoredClaim("a", judge="no", reviewer="yes"),
        ScoredClaim("b", reviewer="no", adjudicated="yes"),
    )
    coverage = unit_coverage(ScoredUnit("u", claims=claims))
    assert (coverage.human_value, coverage.human_share, coverage.judge_share) == (1.0, 1.0, 0.0)


def test_a_confirmation_counts_as_a_persons_verdict() -> None:
    claims = (ScoredClaim("a", judge="yes", reviewer="yes"), ScoredClaim("b", judge="yes"))
    assert unit_coverage(ScoredUnit("u", claims=claims)).human_share == 0.5


@pytest.mark.parametrize("unit", [ScoredUnit("u"), ScoredUnit("u", claims=judged(None, None))])
def test_a_unit_of_which_nothing_was_said_has_no_value(unit: ScoredUnit) -> None:
    coverage = unit_coverage(unit)
    assert (coverage.value, coverage.source, coverage.human_share) == (None, None, None)


def test_the_weighted_blend_mixes_percents_and_claims() -> None:
    # The percents give .7 and the claims 1/2. A person answered one of the two claims, and people weigh .25: value .25
    # * .7 + .75 * .5 = .55; human share .25 + .75 * .5 = .625.
    claims = (ScoredClaim("a", judge="no", reviewer="yes"), ScoredClaim("b", judge="no"))
    unit = ScoredUnit("u", percents=(60, 80), claims=claims)
    coverage = unit_coverage(unit, ScoreRules(blend="weighted", human_weight=0.25))
    assert coverage.value == pytest.approx(0.55)
    assert coverage.source == "blend"
    assert coverage.human_share == pytest.approx(0.625)


@pytest.mark.parametrize(
    ("unit", "value", "source", "human_share"),
    [
        (ScoredUnit("u", percents=(60,)), 0.6, "assessors", 1.0),
        (ScoredUnit("u", percents=(60,), claims=judged(None)), 0.6, "assessors", 1.0),
        (ScoredUnit("u", claims=judged("yes", "no")), 0.5, "claims", 0.0),
    ],
)
def test_the_weighted_blend_uses_what_there_is(
    unit: ScoredUnit, value: float, source: str, human_share: float
) -> None:
    coverage = unit_coverage(unit, WEIGHTED)
    assert (coverage.value, coverage.source, coverage.human_share) == (value, source, human_share)


def test_the_published_row_of_duc_2002() -> None:
    # Set D061, target 50, 47 words: coverage 0.400, brevity 0.06, composite 0.287.
    units = (ScoredUnit(f"u{n}", percents=(p,)) for n, p in enumerate([0, 0, 0, 60, 60, 60, 100]))
    result = score_of(*units, summary_length=47, target=50)
    assert result.coverage == pytest.approx(0.4)
    assert result.brevity == pytest.approx(0.06)
    assert result.composite_1 == result.coverage
    assert result.composite_2_3 == pytest.approx(0.286667, abs=5e-7)
    assert (result.coverage_human, result.human_share, result.coverage_judge) == (result.coverage, 1.0, None)


def test_all_figures_of_a_mixed_comparison() -> None:
    # Unit a has 60 and 80 %, which is .7: its human share is 1, the judge's share of yes 1/2 and the human value .7.
    # Unit b has yes from the judge, no from the reviewer, and an unscored claim, which is 1/2: its human share is 1/2,
    # the judge's share of yes 1, and it has no human value. Unit c has no answer. The weights are 1, 3, 1.
    result = score_of(
        ScoredUnit("a", percents=(60, 80), claims=judged("yes", "no")),
        ScoredUnit("b", 3.0, claims=(*judged("yes", None), ScoredClaim("r", judge="yes", reviewer="no"))),
        ScoredUnit("c"),
        summary_length=50,
        target=100,
    )
    assert result.coverage == pytest.approx(0.55)  # (.7 + 3 * .5) / 4
    assert result.coverage_judge == pytest.approx(0.875)  # (.5 + 3 * 1) / 4
    assert result.coverage_human is None
    assert result.human_share == pytest.approx(0.625)  # (1 + 3 * .5) / 4
    assert result.claim_coverage == 0.5  # the final verdicts are yes, no, yes, None, no
    assert (result.claims, result.claims_unscored) == (5, 1)
    assert result.flags == ("unscored:1", "partial:1")
    assert result.composite_2_3 == pytest.approx(2 / 3 * 0.55 + 1 / 3 * 0.5)


def test_an_override_inside_a_unit_with_percents_moves_claim_coverage_alone() -> None:
    before = ScoredUnit("u", percents=(60,), claims=judged("no", "no"))
    after = ScoredUnit(
        "u", percents=(60,), claims=(ScoredClaim("c0", judge="no", reviewer="yes"), before.claims[1])
    )
    assert score_of(before).coverage == score_of(after).coverage == 0.6
    assert (score_of(before).claim_coverage, score_of(after).claim_coverage) == (0.0, 0.5)
    # Under the weighted blend the answer also changes the coverage: (.6 + 0) / 2 = .3 becomes (.6 + .5) / 2 = .55.
    assert score(summary_of(before), WEIGHTED).coverage == pytest.approx(0.3)
    assert score(summary_of(after), WEIGHTED).coverage == pytest.approx(0.55)


def test_units_that_all_lack_a_value_give_null_and_no_partial_flag() -> None:
    result = score_of(ScoredUnit("a", claims=judged(None)), ScoredUnit("b"), summary_length=5, target=10)
    assert (result.coverage, result.human_share, result.claim_coverage) == (None, None, None)
    assert (result.composite_1, result.composite_2_3) == (None, None)
    assert result.brevity == 0.5
    assert result.flags == ("few_claims",)
    assert result.claims_unscored == 1


def test_coverage_human_needs_every_unit() -> None:
    answered = ScoredUnit("a", claims=reviewed("yes", "no"))
    assert score_of(answered, ScoredUnit("b", percents=(100,))).coverage_human == 0.75
    assert score_of(answered, ScoredUnit("b", claims=judged("yes"))).coverage_human is None
    assert score_of().coverage_human is None


@pytest.mark.parametrize(("count", "is_flagged"), [(0, False), (1, True), (2, True), (3, False)])
def test_a_reference_of_fewer_than_three_claims_is_flagged(count: int, *, is_flagged: bool) -> None:
    found = score_of(ScoredUnit("u", claims=judged(*["yes"] * count)))
    assert ("few_claims" in found.flags) is is_flagged


def test_one_yes_and_four_unscored_give_no_score_but_a_flag() -> None:
    few = ("yes", None, None, None, None)
    found = score_of(ScoredUnit("u", claims=judged(*few)), summary_claims=judged(*few))
    assert (found.coverage, found.coverage_judge, found.claim_coverage, found.alignment) == (None,) * 4
    assert (found.human_share, found.factual_alignment, found.summarization) == (None, None, None)
    assert "mostly_unscored" in found.flags
    # The functions of single metrics have no least share of scored claims.
    assert (alignment(few), claim_coverage(few)) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("labels", "least", "value", "is_flagged"),
    [
        (("yes", None), 0.5, 1.0, False),  # half is enough
        (("yes", None, None), 0.5, None, True),
        (("yes", None, None), 0.0, 1.0, True),  # the score stays and gets the flag
        (("yes", "no", None), 0.7, None, True),  # 2 of 3 is less than required
        (("yes", "no", None), 2 / 3, 0.5, False),
        ((None, None), 0.5, None, False),  # nobody has answered yet
    ],
)
def test_the_least_share_of_scored_claims(
    labels: tuple[Label | None, ...], least: float, value: float | None, *, is_flagged: bool
) -> None:
    summary = summary_of(ScoredUnit("u", claims=judged(*labels)), summary_claims=judged(*labels))
    found = score(summary, ScoreRules(least_scored=least))
    assert (found.coverage, found.claim_coverage, found.alignment) == (value, value, value)
    assert ("mostly_unscored" in found.flags) is is_flagged


def test_a_percent_scores_all_claims_of_its_unit_for_coverage() -> None:
    units = (ScoredUnit("u", percents=(40,), claims=judged(None, None)), ScoredUnit("v", claims=judged(None)))
    found = score_of(*units)
    # 2 of 3 claims belong to a unit with a percent; none of the claims themselves is scored.
    assert (found.coverage, found.claim_coverage) == (0.4, None)
    assert "mostly_unscored" not in found.flags


def test_a_judge_that_leaves_most_open_has_no_coverage_of_its_own() -> None:
    claims = (ScoredClaim("a", judge="yes"), *(ScoredClaim(name, reviewer="no") for name in "bc"))
    found = score_of(ScoredUnit("u", claims=claims))
    assert (found.coverage, found.coverage_judge) == (pytest.approx(1 / 3), None)


@pytest.mark.parametrize(("scored", "value"), [((1, 2), 0.75), ((1, 3), None)])
def test_questions_that_are_mostly_unscored_give_no_question_coverage(
    scored: tuple[int, int], value: float | None
) -> None:
    options: dict[str, Any] = {"questions_asked": True, "question_coverage": 0.75, "questions_scored": scored}
    found = score_of(ScoredUnit("u", claims=judged("yes")), summary_claims=judged("yes"), **options)
    assert (found.question_coverage, found.summarization) == (value, value)
    assert ("mostly_unscored" in found.flags) is (value is None)


def test_claims_that_are_units_weigh_as_given() -> None:
    units = (
        ScoredUnit("a", 2.0, claims=(ScoredClaim("a", judge="yes"),)),
        ScoredUnit("b", 1.0, claims=(ScoredClaim("b", judge="no"),)),
    )
    result = score_of(*units)
    assert result.coverage == pytest.approx(2 / 3)
    assert result.claim_coverage == 0.5  # claims of the whole reference, without weights


def test_several_model_summaries_are_averaged() -> None:
    # The first reference has coverage 1 and claims 1/1, the second coverage .5 and claims 1/2. Only the judge has
    # answered, so the judge's coverage is the same.
    result = score(
        ScoredSummary(
            "s",
            comparisons=(
                ScoredComparison("m1", (ScoredUnit("a", claims=judged("yes")),)),
                ScoredComparison("m2", (ScoredUnit("b", claims=judged("yes", "no")),)),
            ),
        )
    )
    assert (result.coverage, result.coverage_judge, result.claim_coverage) == (0.75, 0.75, 0.75)
    assert (result.human_share, result.coverage_human) == (0.0, None)
    assert [comparison.coverage for comparison in result.comparisons] == [1.0, 0.5]
    assert result.flags == ("few_claims",)


def test_a_comparison_without_coverage_is_left_out_and_flagged() -> None:
    result = score(
        ScoredSummary(
            "s",
            comparisons=(
                ScoredComparison("m1", (ScoredUnit("a", percents=(40,)), ScoredUnit("b"))),
                ScoredComparison("m2", (ScoredUnit("c"), ScoredUnit("d"))),
            ),
            claims_extracted=False,
        )
    )
    assert result.coverage == 0.4
    assert result.coverage_human is None
    assert result.flags == ("partial:1", "comparisons_left_out:1")


def test_without_a_model_summary_the_documents_claims_are_the_reference() -> None:
    claims = (*judged("yes", "no", None), ScoredClaim("r", judge="no", reviewer="yes"))
    result = score(ScoredSummary("s", document_claims=claims))
    assert result.coverage == result.claim_coverage == pytest.approx(2 / 3)
    assert result.coverage_judge == pytest.approx(1 / 3)
    assert result.human_share == pytest.approx(1 / 3)
    assert result.flags == ("no_model_summary", "unscored:1", "partial:1")
    assert (result.claims, result.claims_unscored) == (4, 1)


def test_a_model_summary_comes_before_the_documents_claims() -> None:
    result = score_of(ScoredUnit("a", claims=judged("yes")), document_claims=judged("no", "no"))
    assert (result.coverage, result.claims) == (1.0, 1)


def test_a_reference_without_claims_is_covered_and_flagged() -> None:
    result = score_of(ScoredUnit("a", percents=(20,)), summary_claims=judged("yes", "no"))
    assert result.claim_coverage == 1.0
    assert result.flags == ("no_claims",)
    assert result.factual_alignment == pytest.approx(2 / 3)
    assert result.left_out_of_averages == {"claim_coverage", "factual_alignment", "summarization"}


@pytest.mark.parametrize(
    ("flags", "by_questions", "left_out"),
    [
        ((), False, set()),
        (["over_length"], True, set()),
        (["no_claims", "over_length"], False, {"claim_coverage", "factual_alignment", "summarization"}),
        # A summarization score from questions does not use the reference's claims.
        (["no_claims"], True, {"claim_coverage", "factual_alignment"}),
    ],
)
def test_what_rests_on_there_being_no_claims_enters_no_average(
    flags: list[str], by_questions: bool, left_out: set[str]
) -> None:
    assert left_out_of_averages(flags, by_questions=by_questions) == left_out


def test_a_reference_without_claims_does_not_raise_the_others() -> None:
    summary = ScoredSummary(
        "s",
        comparisons=(
            ScoredComparison("m1", (ScoredUnit("a", percents=(20,)),)),
            ScoredComparison("m2", (ScoredUnit("b", claims=judged("yes", "no")),)),
        ),
    )
    result = score(summary)
    assert result.claim_coverage == 0.5
    assert "no_claims" not in result.flags


def test_claims_that_nobody_looked_for_are_not_covered() -> None:
    result = score_of(ScoredUnit("a", percents=(20,)), summary_claims=judged("yes"), claims_extracted=False)
    assert (result.claim_coverage, result.factual_alignment, result.summarization) == (None, None, None)
    assert result.flags == ()
    assert result.left_out_of_averages == frozenset()


@pytest.mark.parametrize(
    "unit",
    [ScoredUnit("a", claims=judged(None, None)), ScoredUnit("a"), ScoredUnit("a", claims=judged("yes"))],
)
def test_an_empty_summary_covers_nothing_by_rule(unit: ScoredUnit) -> None:
    result = score_of(unit, summary_length=0, target=100, is_empty=True, summary_claims=judged("yes"))
    assert (result.coverage, result.coverage_judge, result.brevity) == (0.0, 0.0, 1.0)
    # The published adjusted mean of an empty summary is 0.333 (AP890925-0124, summary 17), which is 1/3 * 1.
    assert result.composite_2_3 == pytest.approx(1 / 3)
    assert result.alignment is None
    assert result.summarization is None
    assert result.human_share == 0.0
    assert "empty_summary" in result.flags


def test_claims_against_an_empty_summary_are_scored_no() -> None:
    result = score_of(ScoredUnit("a", claims=judged(None, "yes")), is_empty=True)
    assert result.claim_coverage == 0.0
    assert result.claims_unscored == 0


def test_an_assessors_percent_on_an_empty_summary_stays_theirs() -> None:
    result = score_of(ScoredUnit("a", percents=(0,)), is_empty=True)
    assert (result.coverage, result.coverage_human, result.human_share) == (0.0, 0.0, 1.0)


def test_without_a_target_only_coverage_alone_is_reported() -> None:
    result = score_of(ScoredUnit("a", percents=(60,)), summary_length=10)
    assert (result.brevity, result.composite_1, result.composite_2_3) == (None, 0.6, None)
    assert result.composite_custom is None


def test_the_projects_own_composite() -> None:
    summary = summary_of(ScoredUnit("a", percents=(60,)), summary_length=80, target=100)
    # Coverage is .6 and brevity (100 - 80) / 100 = .2: .5 * .6 + .5 * .2 = .4.
    assert score(summary, ScoreRules(composite_weight=0.5)).composite_custom == pytest.approx(0.4)
    assert score(summary, ScoreRules(composite_weight=1)).composite_custom == 0.6


@pytest.mark.parametrize("policy", ["zero", "truncate"])
def test_an_overlong_summary_has_no_brevity_and_a_flag(policy: Any) -> None:
    summary = summary_of(ScoredUnit("a", percents=(40,)), summary_length=120, target=100)
    result = score(summary, ScoreRules(over_length=policy))
    assert (result.brevity, result.flags) == (0.0, ("no_claims", "over_length"))
    assert result.composite_2_3 == pytest.approx(0.266667, abs=5e-7)


def test_words_of_a_script_without_spaces_give_no_brevity() -> None:
    summary = summary_of(
        ScoredUnit("a", claims=judged("yes")), summary_length=3, target=100, has_word_breaks=False
    )
    result = score(summary)
    assert (result.brevity, result.composite_2_3, result.composite_1) == (None, None, 1.0)
    assert result.flags == ("few_claims", "no_word_breaks")
    by_characters = score(summary, ScoreRules(length_unit="characters"))
    assert (by_characters.brevity, by_characters.flags) == (0.97, ("few_claims",))


def test_alignment_family() -> None:
    # Claim coverage is 1/2 and alignment 2/3; their harmonic mean is 2 * (1/3) / (7/6) = 4/7.
    summary = (*judged("yes", "no"), ScoredClaim("r", judge="no", reviewer="yes"), ScoredClaim("u"))
    result = score_of(ScoredUnit("a", claims=judged("yes", "no")), summary_claims=summary)
    assert result.alignment == pytest.approx(2 / 3)
    assert result.factual_alignment == pytest.approx(4 / 7)
    assert (result.summarization, result.summarization_part, result.passed) == (0.5, "claims", True)
    assert (result.claims, result.claims_unscored) == (6, 1)


def test_questions_are_the_coverage_part_where_they_were_asked() -> None:
    unit, summary = ScoredUnit("a", claims=judged("yes")), judged("yes", "no")
    result = score_of(unit, summary_claims=summary, question_coverage=0.25)
    assert (result.summarization, result.summarization_part, result.passed) == (0.25, "questions", False)
    unanswered = score_of(unit, summary_claims=summary, questions_asked=True)
    assert (unanswered.summarization, unanswered.summarization_part, unanswered.passed) == (None, None, None)


def test_rules_of_summarization_are_the_projects() -> None:
    summary = summary_of(ScoredUnit("a", claims=judged("yes", "no")), summary_claims=judged("yes"))
    assert score(summary, ScoreRules(threshold=0.6)).passed is False
    assert score(summary, ScoreRules(scale=10)).summarization == 5.0
    assert score(summary, ScoreRules(strict=True)).summarization == 0.0


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: ScoredClaim("c", judge="maybe"), InvalidLabel),  # type: ignore[arg-type]
        (lambda: ScoredUnit("u", percents=(120,)), InvalidPercent),
        (lambda: ScoredUnit("u", adjudicated_percent=-1), InvalidPercent),
        (lambda: ScoredUnit("u", weight=-1), InvalidWeight),
        (lambda: ScoredSummary("s", target=0), InvalidBudget),
        (lambda: ScoredSummary("s", summary_length=-1), InvalidBudget),
        (lambda: ScoredSummary("s", question_coverage=50), InvalidPercent),
        (lambda: ScoreRules(human_weight=1.5), InvalidPercent),
        (lambda: ScoreRules(composite_weight=-0.5), InvalidPercent),
        (lambda: ScoreRules(scale=0), InvalidWeight),
        (lambda: ScoreRules(blend="judge_first"), EvaluationError),  # type: ignore[arg-type]
    ],
)
def test_values_that_cannot_be_are_refused(make: Any, error: type[EvaluationError]) -> None:
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("labels", "flagged"), [(10 * ["yes"], False), (9 * ["no"], False), (8 * ["no"], True)]
)
def test_more_than_one_claim_in_ten_without_an_answer_is_flagged(labels: list[Label], flagged: bool) -> None:
    # Unscored: 0 of 10, 1 of 10, 2 of 10.
    unscored = 10 - len(labels)
    claims = judged(*labels, *[None] * unscored)
    result = score(
        ScoredSummary("s", comparisons=(ScoredComparison("m", (ScoredUnit("u", claims=claims),)),))
    )
    assert (f"unscored:{unscored}" in result.flags) == flagged

from dataclasses import asdict, replace

from hypothesis import given
from hypothesis import strategies as st

from evaluation import Label, ScoredClaim, ScoredComparison, ScoredSummary, ScoredUnit, ScoreRules, score
from evaluation.blend import unit_coverage

LABELS: st.SearchStrategy[Label | None] = st.sampled_from(["yes", "no", "unsure", None])
PERCENTS = st.sampled_from([0.0, 20.0, 33.3, 40.0, 60.0, 80.0, 100.0])
CLAIMS = st.lists(
    st.builds(ScoredClaim, st.just("c"), judge=LABELS, reviewer=LABELS, adjudicated=LABELS), max_size=4
).map(tuple)
UNITS = st.builds(
    ScoredUnit,
    st.uuids().map(str),
    weight=st.sampled_from([1.0, 1.0, 0.0, 0.5, 3.0]),
    percents=st.lists(PERCENTS, max_size=3).map(tuple),
    adjudicated_percent=st.none() | PERCENTS,
    claims=CLAIMS,
)
UNIT_LISTS = st.lists(UNITS, max_size=5).map(tuple)
COMPARISONS = st.lists(st.builds(ScoredComparison, st.just("m"), UNIT_LISTS), max_size=3).map(tuple)
SUMMARIES = st.builds(
    ScoredSummary,
    st.just("s"),
    comparisons=COMPARISONS,
    document_claims=CLAIMS,
    summary_claims=CLAIMS,
    summary_length=st.integers(0, 200),
    target=st.none() | st.integers(1, 200),
    has_word_breaks=st.booleans(),
    is_empty=st.booleans(),
    question_coverage=st.none() | st.floats(0, 1),
    claims_extracted=st.booleans(),
    questions_asked=st.booleans(),
)
RULES = st.builds(
    ScoreRules,
    blend=st.sampled_from(["human_first", "weighted"]),
    human_weight=st.floats(0, 1),
    assessor_average=st.sampled_from(["mean", "median"]),
    composite_weight=st.floats(0, 1),
    length_unit=st.sampled_from(["words", "characters", "bytes"]),
    threshold=st.floats(0, 1),
    strict=st.booleans(),
)
SHARES = (
    "coverage",
    "coverage_judge",
    "coverage_human",
    "human_share",
    "claim_coverage",
    "alignment",
    "factual_alignment",
    "summarization",
    "brevity",
    "composite_1",
    "composite_2_3",
    "composite_custom",
)


@given(SUMMARIES, RULES)
def test_every_score_is_a_share_or_none(summary: ScoredSummary, rules: ScoreRules) -> None:
    result = asdict(score(summary, rules))
    for name in SHARES:
        assert result[name] is None or 0 <= result[name] <= 1, name


@given(SUMMARIES, RULES)
def test_a_unit_has_a_value_a_source_and_a_human_share_or_none_of_them(
    summary: ScoredSummary, rules: ScoreRules
) -> None:
    for comparison in score(summary, rules).comparisons:
        for unit in comparison.units:
            known = [unit.value is not None, unit.source is not None, unit.human_share is not None]
            assert len(set(known)) == 1
            assert unit.human_share is None or 0 <= unit.human_share <= 1


@given(SUMMARIES, RULES, st.data())
def test_the_order_of_rows_changes_nothing(
    summary: ScoredSummary, rules: ScoreRules, data: st.DataObject
) -> None:
    def mixed_unit(unit: ScoredUnit) -> ScoredUnit:
        return replace(
            unit,
            claims=tuple(data.draw(st.permutations(unit.claims))),
            percents=tuple(data.draw(st.permutations(unit.percents))),
        )

    mixed = replace(
        summary,
        comparisons=tuple(
            replace(comparison, units=tuple(map(mixed_unit, data.draw(st.permutations(comparison.units)))))
            for comparison in data.draw(st.permutations(summary.comparisons))
        ),
        summary_claims=tuple(data.draw(st.permutations(summary.summary_claims))),
        document_claims=tuple(data.draw(st.permutations(summary.document_claims))),
    )
    before, after = score(summary, rules), score(mixed, rules)
    assert replace(after, comparisons=()) == replace(before, comparisons=())


@given(st.lists(UNITS, min_size=1, max_size=5), RULES, st.data())
def test_a_claim_turned_yes_never_lowers_coverage(
    units: list[ScoredUnit], rules: ScoreRules, data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(units) - 1))
    claims = units[number].claims
    scored = [position for position, claim in enumerate(claims) if claim.final in ("no", "unsure")]
    if not scored:
        return
    position = data.draw(st.sampled_from(scored))
    turned = replace(claims[position], adjudicated="yes")
    changed = list(units)
    changed[number] = replace(units[number], claims=(*claims[:position], turned, *claims[position + 1 :]))
    before = score(ScoredSummary("s", (ScoredComparison("m", tuple(units)),)), rules)
    after = score(ScoredSummary("s", (ScoredComparison("m", tuple(changed)),)), rules)
    assert (before.coverage is None) == (after.coverage is None)
    assert before.coverage is None or after.coverage is None or after.coverage >= before.coverage
    assert after.claim_coverage > before.claim_coverage


@given(st.lists(UNITS, min_size=1, max_size=5), RULES, LABELS, st.none() | PERCENTS, st.data())
def test_an_override_in_one_unit_never_changes_another(
    units: list[ScoredUnit],
    rules: ScoreRules,
    label: Label | None,
    percent: float | None,
    data: st.DataObject,
) -> None:
    number = data.draw(st.integers(0, len(units) - 1))
    changed = list(units)
    overridden = tuple(replace(claim, reviewer=label, adjudicated=None) for claim in units[number].claims)
    changed[number] = replace(units[number], claims=overridden, adjudicated_percent=percent)
    before = score(ScoredSummary("s", (ScoredComparison("m", tuple(units)),)), rules).comparisons[0].units
    after = score(ScoredSummary("s", (ScoredComparison("m", tuple(changed)),)), rules).comparisons[0].units
    assert [u for n, u in enumerate(before) if n != number] == [u for n, u in enumerate(after) if n != number]


@given(UNITS)
def test_weighted_with_all_weight_on_people_is_human_first(unit: ScoredUnit) -> None:
    weighted = unit_coverage(unit, ScoreRules(blend="weighted", human_weight=1))
    first = unit_coverage(unit, ScoreRules(blend="human_first"))
    assert (weighted.value, weighted.human_share) == (first.value, first.human_share)


@given(UNITS)
def test_weighted_with_no_weight_on_people_is_the_claims(unit: ScoredUnit) -> None:
    weighted = unit_coverage(unit, ScoreRules(blend="weighted", human_weight=0))
    claims = unit_coverage(replace(unit, percents=()))
    if unit.adjudicated_percent is None and claims.value is not None:
        assert (weighted.value, weighted.human_share) == (claims.value, claims.human_share)


@given(SUMMARIES, RULES)
def test_the_judge_alone_never_depends_on_people(summary: ScoredSummary, rules: ScoreRules) -> None:
    def silent(claim: ScoredClaim) -> ScoredClaim:
        return replace(claim, reviewer=None, adjudicated=None)

    without_people = replace(
        summary,
        comparisons=tuple(
            replace(
                comparison,
                units=tuple(
                    replace(
                        unit, percents=(), adjudicated_percent=None, claims=tuple(map(silent, unit.claims))
                    )
                    for unit in comparison.units
                ),
            )
            for comparison in summary.comparisons
        ),
        document_claims=tuple(map(silent, summary.document_claims)),
    )
    alone = score(without_people, rules)
    if not summary.is_empty:
        assert alone.coverage_judge == score(summary, rules).coverage_judge == alone.coverage
    assert alone.human_share in (None, 0.0)

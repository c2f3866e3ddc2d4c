from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation import Label, ScoredClaim, ScoredComparison, ScoredSummary, ScoredUnit, ScoreRules, score
from evaluation.blend import flip_impacts

LABELS: tuple[Label, ...] = ("yes", "no")


def summary(*units: ScoredUnit) -> ScoredSummary:
    return ScoredSummary("s", comparisons=(ScoredComparison("c", units),), summary_length=5)


def unit(name: str, *labels: Label | None, **columns: object) -> ScoredUnit:
    claims = tuple(ScoredClaim(f"{name}{n}", judge=label) for n, label in enumerate(labels))
    return ScoredUnit(name, claims=claims, **columns)  # type: ignore[arg-type]


def test_claims_share_their_units_weight() -> None:
    # The weights are 1 and 3: a claim of two in u changes 1/2 of 1/4, the only claim in v changes 3/4.
    effects = flip_impacts(summary(unit("u", "yes", "no"), unit("v", "yes", weight=3.0)))
    assert effects == pytest.approx({"u0": 0.125, "u1": 0.125, "v0": 0.75})


def test_percents_that_stand_alone_leave_nothing_to_move() -> None:
    assert flip_impacts(summary(unit("u", "yes", percents=(40.0,)))) == {"u0": 0.0}
    assert set(flip_impacts(summary(unit("u", "yes", weight=0.0))).values()) == {0.0}


def test_under_the_weighted_blend_the_claims_keep_their_part() -> None:
    rules = ScoreRules(blend="weighted", human_weight=0.75)
    assert flip_impacts(summary(unit("u", "yes", percents=(40.0,))), rules) == pytest.approx({"u0": 0.25})


def test_a_decided_unit_does_not_move() -> None:
    assert flip_impacts(summary(unit("u", "yes", adjudicated_percent=40.0))) == {"u0": 0.0}


def test_an_unscored_claim_counts_by_the_farther_outcome() -> None:
    # u has the value 1 from one scored claim; a "no" to the other makes it 1/2.
    assert flip_impacts(summary(unit("u", "yes", None)))["u1"] == pytest.approx(0.5)


def test_the_first_answer_of_all_may_move_everything() -> None:
    assert flip_impacts(summary(unit("u", None))) == {"u0": 1.0}


def test_several_model_summaries_share_the_effect() -> None:
    comparisons = (ScoredComparison("c", (unit("u", "yes"),)), ScoredComparison("d", (unit("v", "no"),)))
    value = ScoredSummary("s", comparisons=comparisons, summary_length=5)
    assert flip_impacts(value) == pytest.approx({"u0": 0.5, "v0": 0.5})


def test_without_a_model_summary_the_documents_claims_count() -> None:
    claims = (ScoredClaim("x", judge="yes"), ScoredClaim("y", judge="no"))
    assert flip_impacts(ScoredSummary("s", document_claims=claims)) == pytest.approx({"x": 0.5, "y": 0.5})


VOICES = st.tuples(st.sampled_from((*LABELS, None)), st.sampled_from((*LABELS, None)))
UNITS = st.tuples(
    st.lists(VOICES, min_size=1, max_size=3),
    st.sampled_from(((), (40.0,), (0.0, 80.0))),
    st.sampled_from((1.0, 2.5)),
)


@given(st.lists(UNITS, min_size=1, max_size=3), st.sampled_from(("human_first", "weighted")))
def test_an_effect_is_the_larger_change_of_coverage_that_an_answer_can_make(
    given_units: list[tuple[list[tuple[Label | None, Label | None]], tuple[float, ...], float]],
    blend: Literal["human_first", "weighted"],
) -> None:
    rules = ScoreRules(blend=blend, human_weight=0.7)
    units = [
        ScoredUnit(
            f"u{n}",
            claims=tuple(ScoredClaim(f"{n}-{m}", judge=j, reviewer=r) for m, (j, r) in enumerate(voices)),
            percents=percents,
            weight=weight,
        )
        for n, (voices, percents, weight) in enumerate(given_units)
    ]
    before = score(summary(*units), rules).coverage
    assume(before is not None)

    def change(label: Label) -> float:
        first = replace(units[0].claims[0], adjudicated=label)
        answered = replace(units[0], claims=(first, *units[0].claims[1:]))
        after = score(summary(answered, *units[1:]), rules).coverage
        return abs(after - before)

    effect = flip_impacts(summary(*units), rules)["0-0"]
    assert effect == pytest.approx(max(change(label) for label in LABELS))

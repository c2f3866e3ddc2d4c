import pytest

from evaluation import ScoredClaim, ScoredComparison, ScoredSummary, ScoredUnit, bootstrap_interval, score

# For summaries with n content units, the numbers of summaries in 100 with k = 0, 1, 2, ... present units. The mean
# over summaries needs no other part of the published labels.
BART_LARGE_OF_CNN_DAILYMAIL = {
    5: [2, 0, 0, 1],
    6: [0, 0, 0, 0, 1],
    7: [1, 1, 4, 1],
    8: [0, 0, 0, 2, 0, 2],
    9: [0, 2, 0, 2, 2, 5, 5, 1, 0, 1],
    10: [1, 3, 1, 3, 2, 1, 3, 2, 3],
    11: [1, 0, 0, 1, 1, 0, 2, 4, 1, 2, 1],
    12: [1, 0, 0, 1, 1, 2, 1, 1, 2, 1, 1, 0, 1],
    13: [0, 0, 0, 0, 1, 1, 0, 5, 1, 2, 2],
    14: [0, 0, 1, 2, 1, 0, 0, 0, 0, 0, 3],
    15: [0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1],
    16: [0, 0, 0, 0, 1],
}
T5_LARGE_OF_XSUM = {
    2: [1, 0, 1],
    3: [7, 7, 4, 1],
    4: [8, 10, 6, 3],
    5: [5, 9, 7, 3],
    6: [2, 4, 4, 2],
    7: [2, 3, 3, 3, 3],
    8: [0, 0, 0, 0, 1],
    11: [0, 0, 1],
}


@pytest.mark.parametrize(
    ("counts", "units", "published"),
    [
        (BART_LARGE_OF_CNN_DAILYMAIL, 1_056, 0.48349483849483854),
        (T5_LARGE_OF_XSUM, 478, 0.29117532467532464),
    ],
)
def test_published_human_scores_of_whole_test_sets(
    counts: dict[int, list[int]], units: int, published: float
) -> None:
    # Lite2-3Pyramid's README has these values for REALSumm's abs_bart_out and for PyrXSum's t5-large.
    found: list[float | None] = []
    for size, summaries in counts.items():
        for present, repeats in enumerate(summaries):
            claims = [ScoredClaim(str(n), reviewer="yes" if n < present else "no") for n in range(size)]
            held = tuple(ScoredUnit(claim.claim_id, claims=(claim,)) for claim in claims)
            coverage = score(ScoredSummary("s", comparisons=(ScoredComparison("m", held),))).coverage
            found += [coverage] * repeats
    assert sum(size * sum(summaries) for size, summaries in counts.items()) == units
    assert len(found) == 100
    assert bootstrap_interval(found, draws=1).mean == pytest.approx(published, abs=1e-14)

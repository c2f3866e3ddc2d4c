"""Published human scores of real summaries, reproduced through the blend; some need the judged data."""

import json
import os
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from evaluation import ScoredClaim, ScoredComparison, ScoredSummary, ScoredUnit, bootstrap_interval, score


def records(name: str) -> list[dict[str, Any]]:
    folder = os.environ.get("COVERDICT_DATA")
    if folder is None:
        pytest.skip("COVERDICT_DATA does not name the folder of judged data")
    lines = (Path(folder) / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def reviewed_claims(record: dict[str, Any], system: str) -> list[ScoredClaim]:
    return [
        ScoredClaim(str(number), reviewer="yes" if claim["verdicts"][system] else "no")
        for number, claim in enumerate(record["claims"])
        if system in claim["verdicts"]
    ]


def test_macro_recalls_of_realsumm() -> None:
    coverages: dict[str, list[float | None]] = defaultdict(list)
    for record in records("realsumm_dev.jsonl"):
        for system in record["systems"]:
            claims = reviewed_claims(record, system["system"])
            units = tuple(ScoredUnit(claim.claim_id, claims=(claim,)) for claim in claims)
            result = score(ScoredSummary("s", comparisons=(ScoredComparison("m", units),)))
            assert result.coverage == result.coverage_human == result.claim_coverage
            coverages[system["system"]].append(result.coverage)
    means = {system: bootstrap_interval(values, draws=1).mean for system, values in coverages.items()}
    known = {
        "abs_semsim_out": 0.575355,
        "ext_bart_out": 0.567910,
        "ext_pnbert_out_bert_tf_pn": 0.562817,
        "ext_refresh_out": 0.555471,
        "abs_bart_out": 0.487101,
        "abs_bottom_up_out": 0.287240,
    }
    assert {system: means[system] for system in known} == pytest.approx(known, abs=5e-7)


def test_macro_sentence_support_of_qags() -> None:
    alignments: dict[str, list[float]] = defaultdict(list)
    for record in records("qags_factual_dev.jsonl"):
        for system in record["systems"]:
            claims = tuple(reviewed_claims(record, system["system"]))
            result = score(ScoredSummary("s", peer_claims=claims))
            if result.alignment is not None:
                alignments[system["system"]].append(result.alignment)
    means = {system: statistics.fmean(values) for system, values in alignments.items()}
    assert means["bottom_up"] == pytest.approx(0.754167, abs=5e-7)
    assert means["bart"] == pytest.approx(0.5, abs=5e-7)


# How many summaries of 100 have n content units of which k = 0, 1, 2, ... are present. The mean over summaries needs
# no more of the published labels than this.
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
    # Lite2-3Pyramid's README prints these for REALSumm's abs_bart_out and for PyrXSum's t5-large.
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

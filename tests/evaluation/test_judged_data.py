"""Published human scores of real summaries, reproduced through the blend; needs the judged data."""

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

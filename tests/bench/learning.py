"""What a judge gains by people's answers, on real judgments: recalibration, and a second opinion where it pays.

The judge is the lexical one; everything is measured on documents that taught nothing. COVERDICT_DATA names the folder
with the judged data. Without it, labels simulated from probabilities show how often a gain is seen where there is none.
"""

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.judging import Label, LexicalJudge, Text
from evaluation.statistics import Recalibration, cascade_frontier, recalibration
from tests.bench import Row

NAME = "learning"
FILES = {
    "realsumm_dev.jsonl": "covered",
    "frank_dev.jsonl": "supported",
    "qags_factual_dev.jsonl": "supported",
}
SAMPLE = 500
STUDIES = 100


@dataclass
class Judged:
    """Checks that people and the judge answered; `voters` is the first worker's vote, None where none is kept."""

    labels: list[Label | None] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)
    answers: list[bool] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)
    voters: list[Label | None] = field(default_factory=list)

    def some(self, places: Any) -> "Judged":
        columns = vars(self).items()
        return Judged(**{name: [column[place] for place in places] for name, column in columns})

    def recalibrated(self) -> Recalibration:
        return recalibration(self.chances, self.answers, self.documents, systems=self.systems)


def run() -> list[Row]:
    folder = Path(os.environ.get("COVERDICT_DATA", ""))
    rows = [_false_gains()]
    for name, side in FILES.items():
        if not (os.environ.get("COVERDICT_DATA") and (folder / name).is_file()):
            rows.append(
                Row(f"gain on {name}", 0, "", note=f"skipped: COVERDICT_DATA names no folder with {name}")
            )
            continue
        records = [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        judged = asyncio.run(_judged(records, side))
        rows += list(_rows(name.removesuffix("_dev.jsonl"), judged))
    return rows


def _false_gains() -> Row:
    random = np.random.default_rng(11)
    found = 0
    for _ in range(STUDIES):
        chances = random.beta(0.7, 0.7, SAMPLE)
        answers = (random.random(SAMPLE) < chances).tolist()
        documents = [str(place % 50) for place in range(SAMPLE)]
        systems = [str(place % 10) for place in range(SAMPLE)]
        found += recalibration(chances.tolist(), answers, documents, systems=systems).helps
    note = "labels drawn with the judge's own probabilities; 500 answers, 50 documents, 10 systems"
    return Row(f"gains seen where there is none, of {STUDIES}", found, "", at_most=5, note=note)


def _rows(name: str, judged: Judged) -> Iterator[Row]:
    few = judged.some(np.random.default_rng(5).permutation(len(judged.answers))[:SAMPLE])
    for what, some in (("all answers", judged), (f"{len(few.answers)} answers", few)):
        found = some.recalibrated()
        yield Row(
            f"Brier score lower by recalibration, {name}, {what}",
            found.gain.value or 0.0,
            "",
            note=_told(found),
        )
    if any(judged.voters):
        points = cascade_frontier(
            judged.labels,
            list(judged.chances),
            judged.voters,
            ["yes" if answer else "no" for answer in judged.answers],
            judged.documents,
            cheap_cost=0.0,
            dear_cost=1.0,
        )
        for point in points:
            yield Row(
                f"wrong where one worker is asked about {point.share:.0%}, {name}",
                point.error.value or 0.0,
                "",
            )


def _told(found: Recalibration) -> str:
    gain = found.gain
    verdict = "a gain" if found.helps else "no gain"
    return (
        f"{verdict} ({gain.low:.4f} to {gain.high:.4f}): Brier {found.brier.value:.4f} to "
        f"{found.brier_after.value:.4f}, kappa {found.kappa.value:.3f} to {found.kappa_after.value:.3f}"
    )


async def _judged(records: list[dict[str, Any]], side: Any) -> Judged:
    judge, found = LexicalJudge(), Judged()
    for record in records:
        for system in record["systems"]:
            name = system["system"]
            asked = [claim for claim in record["claims"] if name in claim["verdicts"]]
            text = Text.of(system["summary_text"] if side == "covered" else record["source_text"])
            verdicts = await judge.check([claim["claim_text"] for claim in asked], text, side=side)
            for claim, verdict in zip(asked, verdicts, strict=True):
                if verdict.probability is None:
                    continue
                votes = (claim.get("raw_votes") or {}).get(name) if side == "covered" else None
                found.labels.append(verdict.label)
                found.chances.append(verdict.probability)
                found.answers.append(bool(claim["verdicts"][name]))
                found.documents.append(record["doc_id"])
                found.systems.append(name)
                found.voters.append(("yes" if votes[0] else "no") if votes else None)
    return found

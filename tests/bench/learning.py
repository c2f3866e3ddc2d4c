"""What a judge gains by people's answers, on real judgments: recalibration, examples, a second opinion where it pays.

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
from tests.bench._taught import Asked, gained

NAME = "learning"
FILES = {
    "realsumm_dev.jsonl": "covered",
    "frank_dev.jsonl": "supported",
    "qags_factual_dev.jsonl": "supported",
}
SAMPLE = 500
STUDIES = 100
SIGNIFICANT = 0.05


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
        rows += _taught(name.removesuffix("_dev.jsonl"), records, side)
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


def _taught(name: str, records: list[dict[str, Any]], side: Any) -> Iterator[Row]:
    """What examples bring a scripted model that reads them, told people's answers and the same shuffled."""
    asked = _asked(records, side)
    random = np.random.default_rng(7)
    asked = [asked[place] for place in random.permutation(len(asked))[:SAMPLE]]
    own = [each.label for each in asked]
    for what, labels in (("people's answers", own), ("answers shuffled", random.permutation(own).tolist())):
        found = asyncio.run(gained(asked, labels, side))
        before, after, p = found.before, found.after, found.comparison.clustered_p
        # Chosen after a first look: with few documents kappa alone rises by chance, while probabilities get worse.
        is_better = (after.kappa.value or 0.0) > (before.kappa.value or 0.0)
        is_better &= (after.brier.value or 0.0) < (before.brier.value or 0.0)
        verdict = "a gain" if is_better and p is not None and p < SIGNIFICANT else "no gain"
        yield Row(
            f"kappa more by examples, {name}, {what}",
            (after.kappa.value or 0.0) - (before.kappa.value or 0.0),
            "",
            note=f"{verdict}: kappa {before.kappa.value:.3f} to {after.kappa.value:.3f}, Brier "
            f"{before.brier.value:.4f} to {after.brier.value:.4f}, clustered p {p}, {len(asked)} checks",
        )


def _asked(records: list[dict[str, Any]], side: Any) -> list[Asked]:
    return [
        Asked(
            record["doc_id"],
            claim["claim_text"],
            system["summary_text"] if side == "covered" else record["source_text"],
            "yes" if claim["verdicts"][system["system"]] else "no",
        )
        for record in records
        for system in record["systems"]
        for claim in record["claims"]
        if system["system"] in claim["verdicts"]
    ]


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

"""A run in the application: create rows, start a worker, and wait for the end. The benchmark starts it as a process.

The arguments are the number of document sets and the judge's address (`lexical` for the judge without a server). The
process writes a line of JSON: the seconds of the run, and the number of summaries with a score.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import django
from django.core.management import call_command

from tests.bench._texts import WORDS, sentence

if TYPE_CHECKING:
    from annotation.models import Project

AT_ONCE = 64
DOCUMENT_WORDS = 300
LONGEST_SECONDS = 580


def main(sets: int, address: str) -> None:
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    # These modules need a configured Django.
    from annotation.judging.services.start_run import start_run
    from annotation.models import Judge, Project, Run, Score, Worker
    from annotation.workers import worker_command

    is_lexical = address == "lexical"
    project = Project.objects.create(slug="runs", name="Runs")
    fill(project, sets, with_claims=is_lexical)
    profile: dict[str, Any] = {"kind": "lexical"}
    if not is_lexical:
        profile = {"kind": "openai", "model": "m", "base_url": address, "concurrency": AT_ONCE}
    judge = Judge.objects.create(name="judge", **profile)
    worker = subprocess.Popen(worker_command(), start_new_session=True)
    try:
        while not Worker.objects.exists():
            time.sleep(0.1)
        began = time.perf_counter()
        run = start_run(project=project, judge=judge, metrics=["coverage", "alignment"], by=None)
        while Run.objects.filter(pk=run.pk, state="active").exists():
            if time.perf_counter() - began > LONGEST_SECONDS:
                break
            time.sleep(0.1)
        seconds = time.perf_counter() - began
    finally:
        worker.kill()
        worker.wait()
    scores = Score.objects.filter(project=project, coverage__isnull=False).count()
    sys.stdout.write(json.dumps({"seconds": seconds, "scores": scores}) + "\n")


def fill(project: Project, sets: int, *, with_claims: bool) -> None:
    from annotation.models import Claim, ClaimSet, Document, DocumentSet, Summary, System, Unit

    system = System.objects.create(project=project, name="system")
    rows = DocumentSet.objects.bulk_create(
        [DocumentSet(project=project, external_id=str(number)) for number in range(sets)], batch_size=500
    )
    sources = [document_text(number) for number in range(sets)]
    documents = Document.objects.bulk_create(
        [
            Document(document_set=row, position=1, text=" ".join(sentences))
            for row, sentences in zip(rows, sources, strict=True)
        ],
        batch_size=500,
    )
    chosen = [[text[0], random.Random(number).choice(text[1:])] for number, text in enumerate(sources)]
    summaries = Summary.objects.bulk_create(
        [
            Summary(document_set=row, system=system, is_summary=True, text=" ".join(sentences))
            for row, sentences in zip(rows, chosen, strict=True)
        ],
        batch_size=500,
    )
    cut: list[tuple[dict[str, Any], list[str]]] = [
        *(({"document": row}, sentences) for row, sentences in zip(documents, sources, strict=True)),
        *(({"summary": row}, sentences) for row, sentences in zip(summaries, chosen, strict=True)),
    ]
    units = []
    for owner, sentences in cut:
        start = 0
        for position, content in enumerate(sentences, start=1):
            units.append(Unit(position=position, start=start, end=start + len(content), **owner))
            start += len(content) + 1
    Unit.objects.bulk_create(units, batch_size=1000)
    if with_claims:
        lists = [ClaimSet(document_set=row, origin="imported", origin_name="claims.jsonl") for row in rows]
        given = zip(ClaimSet.objects.bulk_create(lists, batch_size=500), sources, strict=True)
        Claim.objects.bulk_create(
            [Claim(claim_set=each, position=1, text=text[0], origin="imported") for each, text in given],
            batch_size=500,
        )


def document_text(number: int) -> list[str]:
    chosen = random.Random(number)
    fact = f"Dam {number} was finished in {1900 + number % 100} by crew {chosen.choice(WORDS)}."
    return [fact, *(sentence(chosen, 18, numbers=0) for _ in range(DOCUMENT_WORDS // 18))]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])

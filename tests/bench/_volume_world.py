"""A run in the application: rows, workers of their own, and a wait for the end. A process that the benchmark starts.

Arguments: document sets, systems, workers, the judge's address (`lexical` for the judge that needs none), and how many
workers are killed on the way, each replaced by a new one. Writes a line of JSON: seconds of the run, processor seconds
of its workers, the most messages that waited, and the outcome.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection

from tests.bench.call_plan import AT_ONCE, CREWS, FILLER

if TYPE_CHECKING:
    from annotation.models import Project, Run

WORDS, FACTS = 300, 5
LONGEST_SECONDS = 580
AMID_SECONDS = 1.0
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def main(sets: int, systems: int, workers: int, address: str, kills: int) -> None:
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    # All of it needs Django set up first.
    from annotation.judging.services.start_run import start_run
    from annotation.models import Judge, Project, Worker
    from annotation.workers import worker_command

    name = "lexical" if address == "lexical" else "scripted"
    project = Project.objects.create(slug=f"study-{random.SystemRandom().randrange(10**9)}", name="Study")
    fill(project, sets, systems, with_claims=name == "lexical")
    judge, _ = Judge.objects.update_or_create(
        name=name,
        defaults={"kind": "lexical"}
        if name == "lexical"
        else {"kind": "openai", "model": "m", "base_url": address, "concurrency": AT_ONCE},
    )
    alive = Worker.objects.count()
    processes = [subprocess.Popen(worker_command(), start_new_session=True) for _ in range(workers)]
    try:
        while Worker.objects.count() < alive + workers:
            time.sleep(0.1)
        before = [processor_seconds(process.pid) for process in processes]
        started = time.perf_counter()
        run = start_run(project=project, judge=judge, metrics=["coverage", "alignment"], by=None)
        export_waited = ask_for_a_file(project) if not kills else 0.0
        taken_up = [kill_one(run, processes) for _ in range(kills)]
        most_messages = wait(run)
        seconds = time.perf_counter() - started
        spent = sum(processor_seconds(process.pid) for process in processes) - sum(before)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    told: dict[str, object] = {
        "seconds": seconds,
        "processor": spent,
        "messages": most_messages,
        "taken_up": taken_up,
    }
    told |= {"export_waited": export_waited}
    sys.stdout.write(json.dumps({**told, **outcome(project, run)}) + "\n")


def fill(project: Project, sets: int, systems: int, *, with_claims: bool) -> None:
    """Documents of 300 words with a summary by each system, cut into sentences, and a claim for each if wanted."""
    from annotation.models import Claim, ClaimSet, Document, DocumentSet, Summary, System, Unit

    makers = [System.objects.create(project=project, name=f"system {number}") for number in range(systems)]
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
    peers = [
        (row, maker, [sources[number][0], random.Random(f"{number}/{place}").choice(sources[number][1:])])
        for number, row in enumerate(rows)
        for place, maker in enumerate(makers)
    ]
    summaries = Summary.objects.bulk_create(
        [
            Summary(document_set=row, system=maker, is_peer=True, text=" ".join(sentences))
            for row, maker, sentences in peers
        ],
        batch_size=500,
    )
    cut: list[tuple[dict[str, Any], list[str]]] = [
        *(({"document": row}, sentences) for row, sentences in zip(documents, sources, strict=True)),
        *(({"summary": row}, sentences) for row, (_, _, sentences) in zip(summaries, peers, strict=True)),
    ]
    units = []
    for owner, sentences in cut:
        start = 0
        for position, sentence in enumerate(sentences, start=1):
            units.append(Unit(position=position, start=start, end=start + len(sentence), **owner))
            start += len(sentence) + 1
    Unit.objects.bulk_create(units, batch_size=1000)
    if with_claims:
        lists = [ClaimSet(document_set=row, origin="imported", origin_name="claims.jsonl") for row in rows]
        given = zip(ClaimSet.objects.bulk_create(lists, batch_size=500), sources, strict=True)
        Claim.objects.bulk_create(
            [Claim(claim_set=each, position=1, text=text[0], origin="imported") for each, text in given],
            batch_size=500,
        )


def document_text(number: int) -> list[str]:
    """Sentences of about 300 words; the first one holds the fact that the scripted judge takes for a claim."""
    chosen = random.Random(number)
    fact = f"Dam {number} was finished in {1900 + number % 100} by crew {chosen.choice(CREWS)}."
    filler = [
        " ".join(chosen.choice(FILLER) for _ in range(18)).capitalize() + "." for _ in range(WORDS // 18)
    ]
    return [fact, *filler]


def wait(run: Run) -> int:
    """Returns when the run is over; the most messages that waited meanwhile."""
    from celery import current_app
    from kombu.exceptions import KombuError

    from annotation.models import Run

    most = 0
    end = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < end:
        broker = current_app.connection_for_read()
        try:
            with broker:
                queue = broker.default_channel
                while Run.objects.filter(pk=run.pk, state="active").exists() and time.monotonic() < end:
                    most = max(most, queue._size("celery"))
                    time.sleep(0.1)
            break
        except (DatabaseError, KombuError, *broker.connection_errors):
            # `faults` takes them away and brings them back.
            connection.close()
            time.sleep(0.1)
    return most


def ask_for_a_file(project: Project) -> float:
    """Ask for an export while the run is under way; the seconds until a worker began with it."""
    from annotation.exports.services import request_export
    from annotation.models import Job

    time.sleep(AMID_SECONDS)
    asked = time.monotonic()
    export = request_export(project=project, level="scores", format="csv", by=None)
    while Job.objects.filter(export=export, state="waiting").exists():
        if time.monotonic() - asked > LONGEST_SECONDS:
            break
        time.sleep(0.02)
    return time.monotonic() - asked


def kill_one(run: Run, processes: list[subprocess.Popen[bytes]]) -> float:
    """Kill a worker at a random moment, start another, and tell after how long all that it had was reopened."""
    from annotation.models import Job
    from annotation.workers import worker_command

    time.sleep(random.SystemRandom().uniform(0.2, 1.5))
    working = dict(Job.objects.filter(run=run, state="working").values_list("pk", "token"))
    victim = processes.pop(0)
    victim.kill()
    victim.wait()
    killed = time.monotonic()
    processes.append(subprocess.Popen(worker_command(), start_new_session=True))
    while time.monotonic() - killed < LONGEST_SECONDS:
        now = dict(Job.objects.filter(pk__in=working, state="working").values_list("pk", "token"))
        waits = Job.objects.filter(pk__in=working, state="waiting").exists()
        if not waits and not any(now.get(key) == token for key, token in working.items()):
            break
        time.sleep(0.1)
    return time.monotonic() - killed


def outcome(project: Project, run: Run) -> dict[str, object]:
    from annotation.core.refusals import Refusal
    from annotation.models import Check, JudgeCall, Score, Verdict

    run.refresh_from_db()
    try:
        call_command("verify_scores", project.slug, stdout=sys.stderr)
        is_exact = True
    except (CommandError, Refusal):
        is_exact = False
    return {
        "is_exact": is_exact,
        "doubled": Verdict.objects.filter(run=run).count()
        - Check.objects.filter(verdicts__run=run).distinct().count(),
        "state": run.state,
        "scores": Score.objects.filter(project=project, coverage__isnull=False).count(),
        "verdicts": Verdict.objects.filter(run=run).count(),
        "calls": JudgeCall.objects.filter(run=run).count(),
    }


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5]))

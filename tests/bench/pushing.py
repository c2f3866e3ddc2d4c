"""Summaries pushed over HTTP by 8 clients at once, in batches of 50: 10,000 of 1,000 documents by 10 systems.

Every tenth batch is sent twice, as by a client that heard no answer. On PostgreSQL, for a service that takes what a
pipeline produces runs on it.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tests import postgres
from tests.bench import Row
from tests.bench._pushing_world import PASSWORD, SLUG, USERNAME
from tests.bench._serving import Desk, filled, load, p95, served, timed
from tests.bench.spine import _sentence

NAME = "pushing"
DOCUMENTS, SYSTEMS, BATCH, CLIENTS, REPEATED = 1000, 10, 50, 8, 10
SOURCE_SENTENCES, SUMMARY_SENTENCES = 40, 5
MODULE = "tests.bench._pushing_world"
ADDRESS = f"/api/v1/projects/{SLUG}/push/"


def run() -> list[Row]:
    return measure(DOCUMENTS)


def measure(documents: int) -> list[Row]:
    server = postgres.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            environment, _ = filled(MODULE, server.url, Path(folder))
            with served(environment, Path(folder)) as site:
                seconds, times = _push(site.port, documents)
            told = subprocess.run(
                [sys.executable, "-m", MODULE, "counts"], env=environment, check=True, stdout=subprocess.PIPE
            )
    finally:
        server.stop()
    found, wanted = json.loads(told.stdout), documents * SYSTEMS
    whole = {"sets": documents, "references": documents, "uncut": 0} | dict.fromkeys(
        ("peers", "comparisons", "scores"), wanted
    )
    wrong = {name: found[name] for name, value in whole.items() if found[name] != value}
    return [
        Row("summaries taken a second", wanted / seconds, "a second", at_least=200, note=load()),
        Row("a batch of 50 (95 %)", p95(times), "ms", note=f"{CLIENTS} clients"),
        Row("lost or doubled", len(wrong), "kinds", at_most=0, note=str(wrong) if wrong else "none"),
    ]


def _push(port: int, documents: int) -> tuple[float, list[float]]:
    """Seconds for all, and milliseconds of each batch."""
    batches: SimpleQueue[dict[str, Any]] = SimpleQueue()
    for number, batch in enumerate(_batches(documents)):
        for _ in range(2 if number % REPEATED == 0 else 1):
            batches.put(batch)
    desks = [Desk.signed_in(port, USERNAME, PASSWORD) for _ in range(CLIENTS)]

    def client(desk: Desk) -> list[float]:
        times: list[float] = []
        while True:
            try:
                batch = batches.get_nowait()
            except Empty:
                return times
            times.append(timed(lambda: desk.post(ADDRESS, batch, 200)))  # noqa: B023 - called at once

    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        times = [each for some in pool.map(client, desks) for each in some]
    return time.perf_counter() - began, times


def _batches(documents: int) -> list[dict[str, Any]]:
    """System by system, as they run: the first brings the documents and references."""
    dice = random.Random(16)
    texts = [(_text(dice, SOURCE_SENTENCES), _text(dice, SUMMARY_SENTENCES)) for _ in range(documents)]
    rows = [
        {
            "document_id": f"doc-{number:04}",
            "document": source,
            "system": f"system-{system}",
            "summary": _text(dice, SUMMARY_SENTENCES),
            "target_words": 60,
            **({"reference": reference} if system == 0 else {}),
        }
        for system in range(SYSTEMS)
        for number, (source, reference) in enumerate(texts)
    ]
    return [{"rows": rows[first : first + BATCH]} for first in range(0, len(rows), BATCH)]


def _text(dice: random.Random, sentences: int) -> str:
    return " ".join(_sentence(dice, 12) for _ in range(sentences))

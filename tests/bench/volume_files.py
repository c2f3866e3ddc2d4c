"""Large files in and out, through the commands, on SQLite and PostgreSQL: one document of 300 words a set.

10,000 sets of one summary and one claim with a verdict, unless VOLUME_SETS, VOLUME_SYSTEMS and VOLUME_CLAIMS say
otherwise: 4000, 25 and 10 make a million checks.
Each command is a process of its own, its processor time and peak memory its own; a server's are not in it. While the
import goes on another process writes, and tells its longest wait.
Beside stand the same rows stored or written by nothing but COPY,
executemany or a csv.writer, and the start of the process, which every command pays.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests import postgres
from tests.bench import Row

NAME = "volume_files"
SETS, SYSTEMS, CLAIMS = (
    int(os.environ.get(f"VOLUME_{name}", size))
    for name, size in (("SETS", 10_000), ("SYSTEMS", 1), ("CLAIMS", 1))
)
MILLION = 1_000_000
WORDS = (
    "harbour wall council repair ferry winter budget crossing engineer storm market roof village bridge school "
    "patient dose clinic contract notice tenant payment server outage switch alarm meeting motion vote garden water"
)
FORMATS = ("csv", "jsonl", "parquet")
MAKE_PROJECT = (
    "from annotation.projects.services.change_project import create_project as c; c(slug='made', by=None)"
)


class Spent(NamedTuple):
    """What a process took: by the clock, of the processors, at its peak in MB; how long others waited to write."""

    clock: float
    processor: float
    peak: float
    longest_wait: float = 0.0


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sets.jsonl"
        with file.open("w") as stream:
            stream.writelines(sets_as_lines(SETS))
        rows = _measure("SQLite", f"sqlite:///{Path(folder) / 'volume.sqlite3'}", Path(folder))
        try:
            server = postgres.start()
        except postgres.NoPostgres as reason:
            print(f"volume_files: no PostgreSQL: {reason}", file=sys.stderr)
            return rows
        try:
            return rows + _measure("PostgreSQL", server.url, Path(folder))
        finally:
            server.stop()


def sets_as_lines(count: int) -> Iterator[str]:
    """So many document sets, each as a line of nested JSONL."""
    dice = random.Random(7)
    systems = [f"system-{number:02}" for number in range(SYSTEMS)]
    for number in range(count):
        claims = [_sentence(dice, 10) for _ in range(CLAIMS)]
        one = {
            "doc_id": f"made-{number:06}",
            "source_text": " ".join(_sentence(dice, 12) for _ in range(25)),
            "reference_text": " ".join(claims) if SYSTEMS > 1 else None,
            "systems": [
                {"system": system, "summary_text": " ".join([*claims[:3], _sentence(dice, 12)])}
                for system in systems
            ],
            "claims": [
                {"claim_text": claim, "verdicts": {system: dice.randint(0, 1) for system in systems}}
                for claim in claims
            ],
        }
        yield f"{json.dumps(one)}\n"


def _sentence(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(WORDS.split(), k=words)).capitalize() + "."


def _measure(database: str, url: str, folder: Path) -> list[Row]:
    environment = os.environ | {
        "DATABASE_URL": url,
        "COVERDICT_VAR": str(folder / "var"),
        "DJANGO_SETTINGS_MODULE": "annotation.config.settings.local",
    }
    checks = SETS * SYSTEMS * CLAIMS
    is_large = checks >= MILLION
    _manage(environment, "migrate", "--verbosity", "0")
    start = _manage(environment, "export_dataset", "--help")
    _manage(environment, "shell", "-c", MAKE_PROJECT)
    brought = _manage(environment, "import_dataset", "made", str(folder / "sets.jsonl"), waits=True)
    _manage(environment, "verify_scores", "made")
    what = f"{database}: import of {SETS:,} sets, {checks:,} checks"
    rows = [
        Row(f"{database}: start of a process", start.clock, "s"),
        Row(what, brought.clock, "s", at_most=60 if is_large else 9, note="the whole process"),
        Row(f"{what}: processor", brought.processor, "s", note=f"its start {start.processor:.2g} s"),
        Row(f"{what}: memory", brought.peak, "MB", at_most=300 if is_large else 200),
        Row(f"{what}: longest wait of another's write", brought.longest_wait, "s", at_most=0.25),
    ]
    for format_name in FORMATS:
        path = folder / f"claims.{format_name}"
        how = ("--level", "claims", "--format", format_name, "-o", str(path))
        made = _manage(environment, "export_dataset", "made", *how)
        what = f"{database}: export of {checks:,} claim rows, {format_name}"
        most = {"parquet": 20}.get(format_name, 15) if is_large else 1
        rows += [
            Row(what, made.clock - start.clock, "s", at_most=most, note="beyond the start"),
            Row(f"{what}: memory", made.peak, "MB", at_most=150),
        ]
    for part, words in {
        "the same rows, bare": ["rows"],
        "csv.writer": ["csv", str(folder / "claims.csv")],
    }.items():
        told = subprocess.run(
            [sys.executable, "-m", "tests.bench._volume_bare", *words],
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        rows.append(Row(f"{database}: {part}", float(told.stdout), "s"))
    return rows


def _manage(environment: dict[str, str], *words: str, waits: bool = False) -> Spent:
    """Carry out a command; with `waits` another process writes to the project again and again meanwhile."""
    writer = None
    if waits:
        asked = [sys.executable, "-m", "tests.bench._volume_writer"]
        writer = subprocess.Popen(
            asked, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        writer.stdout.readline()
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "manage.py", *words], env=environment, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    clock = time.perf_counter() - began
    longest = float(writer.communicate()[0]) if writer else 0.0
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return Spent(clock, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, longest)

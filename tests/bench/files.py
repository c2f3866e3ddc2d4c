"""Import and export of large files by commands, on PostgreSQL."""

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

from tests.bench import Row
from tests.bench._serving import load, on_postgres
from tests.bench._texts import sentence

SETS = int(os.environ.get("FILES_SETS", "10000"))
IMPORT_SECONDS, EXPORT_SECONDS = 12, 2
FORMATS = ("csv", "jsonl", "parquet")


def run() -> list[Row]:
    with on_postgres() as url, tempfile.TemporaryDirectory() as folder:
        if url is None:
            return []
        file = Path(folder) / "sets.jsonl"
        with file.open("w") as stream:
            stream.writelines(sets_as_lines(SETS))
        environment = os.environ | {
            "DATABASE_URL": url,
            "COVERDICT_VAR": f"{folder}/var",
            "DJANGO_SETTINGS_MODULE": "annotation.config.settings.local",
        }
        return _measure(environment, Path(folder))


def _measure(environment: dict[str, str], folder: Path) -> list[Row]:
    _manage(environment, "migrate", "--verbosity", "0")
    brought = _manage(environment, "import_dataset", "made", str(folder / "sets.jsonl"), "--create")
    rows = [Row(f"import of {SETS:,} sets", brought, "s", at_most=IMPORT_SECONDS, note=load())]
    _manage(environment, "verify_scores", "made")
    start = _manage(environment, "export_dataset", "--help")
    for name in FORMATS:
        how = ("--level", "claims", "--format", name, "-o", str(folder / f"claims.{name}"))
        took = _manage(environment, "export_dataset", "made", *how) - start
        what = f"export of {SETS:,} sets, {name}"
        rows.append(Row(what, took, "s", at_most=EXPORT_SECONDS, note="beyond the start of the process"))
    return rows


def _manage(environment: dict[str, str], *words: str) -> float:
    began = time.perf_counter()
    command = [sys.executable, "manage.py", *words]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def sets_as_lines(count: int) -> Iterator[str]:
    dice = random.Random(7)
    for number in range(count):
        claim = sentence(dice, 10)
        one = {
            "doc_id": f"made-{number:06}",
            "source_text": " ".join(sentence(dice, 12) for _ in range(25)),
            "systems": [{"system": "system", "summary_text": f"{claim} {sentence(dice, 12)}"}],
            "claims": [{"claim_text": claim, "verdicts": {"system": dice.randint(0, 1)}}],
        }
        yield f"{json.dumps(one)}\n"

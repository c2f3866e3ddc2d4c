"""From a file to scores, through the commands: 30 document sets, 25 systems, 10 claims each, 7,500 checks."""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench import Row

NAME = "spine"
SETS, SYSTEMS, CLAIMS = 30, 25, 10
SUMMARY_WORDS, SOURCE_WORDS = 60, 600
VOCABULARY = (
    "harbour wall council repair ferry winter budget crossing engineer storm market roof village bridge school "
    "patient dose clinic contract notice tenant payment server outage switch alarm meeting motion vote garden water"
)
LIMITS = {"import": 15.0, "evaluate": 60.0, "export": 5.0}


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made.jsonl"
        file.write_text("".join(f"{json.dumps(_document(number))}\n" for number in range(SETS)))
        steps = {
            "import": ["import_dataset", "made", str(file), "--create"],
            "evaluate": ["evaluate", "made", "--judge", "lexical", "--wait"],
            "export": ["export_dataset", "made", "--level", "scores", "--format", "jsonl"],
        }
        steps["export"] += ["-o", str(Path(folder) / "scores.jsonl")]
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "CELERY_BROKER_URL", "DJANGO_SETTINGS_MODULE")
        } | {"COVERDICT_VAR": str(Path(folder) / "var")}
        _manage(["migrate", "--verbosity", "0"], environment)
        return [row for step, words in steps.items() for row in _step(step, words, environment)]


def _step(step: str, words: list[str], environment: dict[str, str]) -> list[Row]:
    started = time.perf_counter()
    _manage(words, environment)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return [
        Row(step, seconds, "s", at_most=LIMITS[step], note="the whole process"),
        Row(f"{step}: memory", peak, "MB", note="largest process so far"),
    ]


def _manage(words: list[str], environment: dict[str, str]) -> None:
    subprocess.run([sys.executable, "manage.py", *words], env=environment, check=True, capture_output=True)


def _document(number: int) -> dict[str, object]:
    """A document of made-up sentences whose systems keep more or fewer of its claims."""
    dice = random.Random(number)
    claims = [_sentence(dice, 9) for _ in range(CLAIMS)]
    systems = []
    for system in range(SYSTEMS):
        kept = [claim for claim in claims if dice.random() < system / SYSTEMS]
        filler = [_sentence(dice, 9) for _ in range(SUMMARY_WORDS // 9 - len(kept))]
        systems.append({"system": f"system-{system:02}", "summary_text": " ".join([*kept, *filler])})
    return {
        "doc_id": f"made-{number:02}",
        "source_text": " ".join(_sentence(dice, 12) for _ in range(SOURCE_WORDS // 12)),
        "reference_text": " ".join(claims),
        "systems": systems,
        "claims": [
            {
                "claim_text": claim,
                "weight": 1,
                "verdicts": {each["system"]: int(claim in str(each["summary_text"])) for each in systems},
            }
            for claim in claims
        ],
    }


def _sentence(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(VOCABULARY.split(), k=words)).capitalize() + "."

"""Requests made up from the API's own description, as every role: what breaks the server or is not described."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

from tests.bench import Row

NAME = "made-up"
EXAMPLES = 20
TESTS = "tests/annotation/api/test_made_up_requests.py"


def run() -> list[Row]:
    """A test is a part of the routes, and fails with all that is wrong with them for anybody."""
    began = time.perf_counter()
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", TESTS],
        env=os.environ | {"MADE_UP_EXAMPLES": str(EXAMPLES)},
        check=False,
        capture_output=True,
        text=True,
    )
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error)", told.stdout)}
    if not counts:
        raise RuntimeError(told.stdout[-2000:] + told.stderr[-2000:])
    failed = counts.get("failed", 0) + counts.get("error", 0)
    if failed:
        # A count alone leads nobody to the fault.
        sys.stderr.write(told.stdout)
    seconds = time.perf_counter() - began
    return [
        Row("parts with a fault", failed, "parts", at_most=0, note=f"of {sum(counts.values())}"),
        Row(f"{EXAMPLES} requests to each operation", seconds, "s"),
    ]

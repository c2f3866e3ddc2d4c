"""How long a fresh interpreter needs before it can work, and how much memory it then holds."""

import os
import subprocess
import sys
import time

from tests.bench import Row

NAME = "startup"
REPEATS = 3
CASES = {
    "import evaluation": "import evaluation",
    "django.setup() with test settings": "import django; django.setup()",
    "web server": "import annotation.config.wsgi",
    "worker": "import django; django.setup(); import annotation.tasks",
}
# Printed by the child about itself: the largest resident set so far, in kilobytes on Linux.
PEAK = "; import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"


def run() -> list[Row]:
    return [row for what, code in CASES.items() for row in _case(what, code)]


def _case(what: str, code: str) -> list[Row]:
    runs = [_once(code + PEAK) for _ in range(REPEATS)]
    seconds = min(seconds for seconds, _ in runs)
    return [
        Row(what, seconds * 1000, "ms", note=f"fastest of {REPEATS} fresh interpreters"),
        Row(f"{what}: memory", max(kilobytes for _, kilobytes in runs) / 1024, "MB"),
    ]


def _once(code: str) -> tuple[float, int]:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "annotation.config.settings.test"}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    return time.perf_counter() - started, int(done.stdout.split()[-1])

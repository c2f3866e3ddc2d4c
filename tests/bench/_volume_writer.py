"""Somebody who writes to the project while an import goes on: print the longest time that one write took.

Says on the first line that it is ready, writes until its input ends, and then prints the seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress

import django
from django.db import OperationalError

PAUSE_SECONDS = 0.02


def main() -> None:
    django.setup()
    # Needs Django set up first.
    from annotation.models import Event, Project

    ended = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    longest = 0.0
    project = Project.objects.get(slug="made")
    print("ready", flush=True)
    while not ended.wait(PAUSE_SECONDS):
        began = time.perf_counter()
        # A write that is given up has waited as well.
        with suppress(OperationalError):
            Event.objects.create(project=project, verb="look")
        longest = max(longest, time.perf_counter() - began)
    print(longest)


if __name__ == "__main__":
    main()

"""Somebody who writes to the project while an import goes on: print the longest time that one write took.

Says on the first line that it is ready, writes until its input ends, and then prints the seconds.
"""

from __future__ import annotations

import sys
import threading
import time

import django

PAUSE_SECONDS = 0.02


def main() -> None:
    django.setup()
    # Needs Django set up first.
    from annotation.models import Project

    ended = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    longest, count = 0.0, 0
    write = Project.objects.filter(slug="made").update
    write(description="ready")
    print("ready", flush=True)
    while not ended.wait(PAUSE_SECONDS):
        began, count = time.perf_counter(), count + 1
        write(description=str(count))
        longest = max(longest, time.perf_counter() - began)
    print(longest)


if __name__ == "__main__":
    main()

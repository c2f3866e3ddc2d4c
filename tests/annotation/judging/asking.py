"""A process that asks a judge one question on demand: `python -m tests.annotation.judging.asking`.

Its arguments are the judge's name and the seconds after which a silent process loses its claim. The process writes
"ready", waits for a line, asks, and writes the label.
"""

from __future__ import annotations

import sys

import django

CLAIM = "The harbour wall was breached"
TEXT = "The harbour wall was breached."


def main(name: str, claim_seconds: float) -> None:
    django.setup()
    # Django must be set up before these imports.
    from annotation.judging.services.judges import at_work, judge_by_name
    from annotation.judging.services.running import calls as judge_calls
    from evaluation.judging.protocol import Text

    judge_calls.CLAIM_SECONDS = claim_seconds
    with at_work(judge_by_name(name)) as judge:
        say("ready")
        sys.stdin.readline()
        [verdict] = judge.begin(judge.judge.check_source([CLAIM], Text.of(TEXT))).result()
        say(str(verdict.label))


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))

"""Parts of the machine that a test may need: a port, and what a machine may lack, such as a browser or PostgreSQL.

A missing part skips its tests, and the end of the run says how many and why. Its variable of `REQUIREMENTS`, set to 1,
turns it into a failure.
"""

import os
import re
import socket
from collections import Counter
from collections.abc import Iterable
from typing import NoReturn

import pytest

REQUIREMENTS = {
    "browser": "REQUIRE_BROWSER",
    "redis": "REQUIRE_REDIS",
    "postgresql": "REQUIRE_PG",
    "packages": "REQUIRE_PACKAGES",
    "containers": "REQUIRE_CONTAINERS",
}
MARK = "missing part "
_SKIP = re.compile(rf"{MARK}(?P<part>[\w-]+): (?P<reason>.*)", re.DOTALL)


def is_required(part: str) -> bool:
    return os.environ.get(REQUIREMENTS[part], "0") not in {"", "0"}


def missing(part: str, reason: str) -> NoReturn:
    """End the test for want of a part: skipped, or failed where the part is required."""
    if is_required(part):
        pytest.fail(f"{MARK}{part}: {reason} ({REQUIREMENTS[part]} is set)", pytrace=False)
    pytest.skip(f"{MARK}{part}: {reason}")


def summary_lines(skip_reasons: Iterable[str]) -> list[str]:
    """One line per missing part and reason, with the number of tests it cost; none if nothing was missing."""
    found = [match for reason in skip_reasons if (match := _SKIP.search(reason))]
    counts = Counter((match["part"], match["reason"].strip()) for match in found)
    return [f"skipped parts: {part} ({count}): {reason}" for (part, reason), count in sorted(counts.items())]


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""A free port, and parts of the machine that may be missing, such as a browser or PostgreSQL."""

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
    """End the test because a part is missing: skip it, or fail it if the part is required."""
    if is_required(part):
        pytest.fail(f"{MARK}{part}: {reason} ({REQUIREMENTS[part]} is set)", pytrace=False)
    pytest.skip(f"{MARK}{part}: {reason}")


def summary_lines(skip_reasons: Iterable[str]) -> list[str]:
    found = [match for reason in skip_reasons if (match := _SKIP.search(reason))]
    counts = Counter((match["part"], match["reason"].strip()) for match in found)
    return [f"skipped parts: {part} ({count}): {reason}" for (part, reason), count in sorted(counts.items())]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

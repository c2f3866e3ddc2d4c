#!/usr/bin/env python
"""Coverdict's command line, with local settings unless the environment names others."""

import sys

from annotation.command_line.main import WRONG_CALL, usage
from annotation.command_line.main import main as coverdict
from annotation.operator_commands import execute
from annotation.settings_choice import name_settings


def main() -> None:
    if not sys.argv[1:]:
        sys.stdout.write(usage("manage.py"))
        sys.exit(WRONG_CALL)
    if sys.argv[1] == "gate":
        sys.exit(coverdict(sys.argv[1:]))
    name_settings(*sys.argv[1:2])
    try:
        import django  # noqa: F401, PLC0415 - says what to do
    except ImportError as missing:
        raise SystemExit(
            f"{missing}. Run `make setup` once, then call this file with .venv/bin/python."
        ) from missing
    sys.exit(execute(sys.argv))


if __name__ == "__main__":
    main()

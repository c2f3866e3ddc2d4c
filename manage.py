#!/usr/bin/env python
"""Coverdict's command line; local settings unless the environment names others."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation.config.settings.local")
    try:
        from django.core.management import execute_from_command_line  # noqa: PLC0415 - says what to do
    except ImportError as missing:
        raise SystemExit(
            f"{missing}. Run `make setup` once, then call this file with .venv/bin/python."
        ) from missing
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()

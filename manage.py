#!/usr/bin/env python
"""Coverdict's command line; local settings unless the environment says that others are served."""

import sys

from annotation.settings_choice import name_settings


def main() -> None:
    name_settings(*sys.argv[1:2])
    try:
        from django.conf import settings  # noqa: PLC0415 - says what to do
        from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415
        from django.core.management import execute_from_command_line  # noqa: PLC0415
    except ImportError as missing:
        raise SystemExit(
            f"{missing}. Run `make setup` once, then call this file with .venv/bin/python."
        ) from missing
    try:
        # Read here: Django itself would tell of a refusal with a trace.
        settings.INSTALLED_APPS  # noqa: B018
    except ImproperlyConfigured as refusal:
        raise SystemExit(str(refusal)) from refusal
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()

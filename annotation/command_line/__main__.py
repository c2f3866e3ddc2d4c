"""`python -m annotation.command_line` runs the program `coverdict` if it is not on the path."""

import sys

from annotation.command_line.main import main

sys.exit(main())

"""`python -m annotation.command_line` is the program `coverdict`, where it is not on the path."""

import sys

from annotation.command_line.main import main

sys.exit(main())

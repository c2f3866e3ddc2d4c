"""The signals that cause faults in the processes of `_struck`."""

import signal

DIE, AHEAD, BACK = signal.SIGRTMIN, signal.SIGRTMIN + 1, signal.SIGRTMIN + 2
HOUR = 3600
"""The number of seconds by which a clock jumps."""

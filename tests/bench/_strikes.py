"""The signals for faults in processes of `_struck`. gunicorn and Celery do not use these signals."""

import signal

DIE, AHEAD, BACK = signal.SIGRTMIN, signal.SIGRTMIN + 1, signal.SIGRTMIN + 2
HOUR = 3600
"""The number of seconds by which a clock jumps."""

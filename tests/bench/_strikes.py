"""The signals by which processes of `_struck` are struck. gunicorn and Celery leave these to anyone who wants them."""

import signal

DIE, AHEAD, BACK = signal.SIGRTMIN, signal.SIGRTMIN + 1, signal.SIGRTMIN + 2
HOUR = 3600
"""How far a clock jumps, in seconds."""

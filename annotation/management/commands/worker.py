from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from annotation.management.earlier_database import refuse_earlier_database
from annotation.workers import worker_command, worker_environment


class Command(BaseCommand):
    requires_system_checks = ()
    help = (
        "Process runs, imports, exports and statistics until stopped. It finishes started work first; a "
        "second signal stops it immediately, and another worker continues."
    )

    def handle(self, *_: Any, **__: Any) -> None:
        refuse_earlier_database(connection)
        # Let Celery replace this process, so that it receives the signals.
        os.environ.update(worker_environment())
        os.execv(sys.executable, worker_command())

"""The Celery app of workers and of processes that queue work."""

import gc
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, setup_logging, worker_ready
from django.conf import settings
from kombu.transport import filesystem
from kombu.utils.json import dumps

from annotation.settings_choice import PRODUCTION, name_settings

name_settings(otherwise=PRODUCTION)

app = Celery("coverdict")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["annotation"])


class WholeMessages(filesystem.Channel):
    """A channel of `FileTransport` on which workers see only complete messages.

    kombu writes into a file that workers see already. A worker that reads it too early ends with an error.
    """

    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]
        name = f"{time.monotonic_ns() // 10**6}_{uuid.uuid4()}"
        # Workers ignore files whose names do not end with ".msg".
        part = Path(self.data_folder_out, f"{name}.part")
        part.write_text(dumps(payload), encoding="utf-8")  # type: ignore[no-untyped-call]
        part.rename(part.with_name(f"{name}.{queue}.msg"))


class FileTransport(filesystem.Transport):
    """The filesystem broker, which CELERY_BROKER_TRANSPORT names, with channels of `WholeMessages`."""

    Channel = WholeMessages


@setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Keep the logging of the settings. If this signal has a receiver, Celery does not set up its own logging."""


@celeryd_init.connect
def receive_on_the_queues_file_system(conf: Any = None, **_: Any) -> None:
    """Make a worker on the filesystem broker take messages by an atomic rename.

    kombu moves each message to the temporary directory before reading it. If this directory is on another file
    system, the move is a copy, and a worker that is killed meanwhile loses the message.
    """
    if conf is None or not str(conf.broker_url).startswith("filesystem:"):
        return
    beside_the_queue = settings.VAR_DIR / "tmp"
    beside_the_queue.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(beside_the_queue)


@worker_ready.connect
def collect_seldom(**_: Any) -> None:
    """Exclude the loaded program from garbage collection, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@celeryd_init.connect
def outlive_the_broker(conf: Any = None, **_: Any) -> None:
    """Keep a worker alive if Redis becomes unavailable.

    Otherwise its attempt to return messages to the queue would end the worker.
    """
    if conf is not None and str(conf.broker_url).startswith("redis"):
        from kombu.transport.redis import Channel  # noqa: PLC0415 - it imports the client of Redis

        Channel.do_restore = False

"""The Celery app of workers, beat and all queueing processes."""

import gc
import tempfile
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, setup_logging, worker_ready
from django.conf import settings

from annotation.settings_choice import PRODUCTION, name_settings

name_settings(otherwise=PRODUCTION)

app = Celery("coverdict")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["annotation"])


@setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Keep the logging of the settings: a receiver of this signal prevents Celery's own set-up."""


@celeryd_init.connect
def receive_on_the_queues_file_system(conf: Any = None, **_: Any) -> None:
    """Make a worker on the filesystem broker take messages by an atomic rename.

    kombu moves each message to the temporary directory before reading it. On another file system this is a copy,
    and a worker that is killed during it loses the message.
    """
    if conf is None or not str(conf.broker_url).startswith("filesystem:"):
        return
    beside_the_queue = settings.VAR_DIR / "tmp"
    beside_the_queue.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(beside_the_queue)


@worker_ready.connect
def collect_seldom(**_: Any) -> None:
    """Exclude the loaded program from garbage collection, and collect garbage less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@celeryd_init.connect
def outlive_the_broker(conf: Any = None, **_: Any) -> None:
    """Keep a worker alive if Redis becomes unavailable: an attempt to return its messages to the queue would
    end it.

    Nothing is lost, because workers also look for jobs in the database.
    """
    if conf is not None and str(conf.broker_url).startswith("redis"):
        from kombu.transport.redis import Channel  # noqa: PLC0415 - it imports the client of Redis

        Channel.do_restore = False

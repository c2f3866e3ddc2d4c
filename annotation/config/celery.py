"""The Celery app that workers, beat and every queueing process share."""

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
    """Leave logging as the settings made it: a receiver on this signal is what stops Celery's own set-up."""


@celeryd_init.connect
def receive_on_the_queues_file_system(conf: Any = None, **_: Any) -> None:
    """Make a worker on the filesystem broker take messages by one atomic rename.

    kombu moves each message into the temporary directory before it reads it. Where that directory lies on
    another file system the move is a copy, and a worker that is killed meanwhile loses the message.
    """
    if conf is None or not str(conf.broker_url).startswith("filesystem:"):
        return
    beside_the_queue = settings.VAR_DIR / "tmp"
    beside_the_queue.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(beside_the_queue)


@worker_ready.connect
def collect_seldom(**_: Any) -> None:
    """Leave what the process is made of out of garbage collection, and look through the rest less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@celeryd_init.connect
def outlive_the_broker(conf: Any = None, **_: Any) -> None:
    """Keep a worker from giving messages back to a Redis that has gone away: kombu breaks at that and ends the worker.

    Nothing is lost: messages are hints, and workers look by themselves.
    """
    if conf is not None and str(conf.broker_url).startswith("redis"):
        from kombu.transport.redis import Channel  # noqa: PLC0415 - it imports the client of Redis

        Channel.do_restore = False

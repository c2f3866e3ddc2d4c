"""Test settings for workers, whose deaths are noticed soon."""

from annotation.config.settings.test import *  # noqa: F403

JOB_LEASE_SECONDS = 3.0
WORKER_SILENT_SECONDS = 3

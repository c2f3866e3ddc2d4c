"""The settings of the tests for workers that are to be missed soon after they were killed."""

from annotation.config.settings.test import *  # noqa: F403

JOB_LEASE_SECONDS = 3.0
WORKER_SILENT_SECONDS = 3

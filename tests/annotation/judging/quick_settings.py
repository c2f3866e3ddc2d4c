"""Test settings with short leases, so that other processes soon notice a worker's death."""

from annotation.config.settings.test import *  # noqa: F403

JOB_LEASE_SECONDS = 3.0
WORKER_SILENT_SECONDS = 3

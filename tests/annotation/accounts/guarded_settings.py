"""The settings of the tests with wrong passwords counted, as everywhere else."""

from annotation.config.settings.test import *  # noqa: F403

AXES_ENABLED = True

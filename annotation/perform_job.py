"""A worker does a job, whatever kind it is, and says how it ended."""

from __future__ import annotations

import logging

from annotation.core import jobs
from annotation.core.refusals import Refusal
from annotation.exports import services as export_dataset
from annotation.judging.services import judge_document_set
from annotation.models import Job
from evaluation.judging.errors import BudgetSpent, JudgeRefused, JudgeSettings, JudgeUnavailable

logger = logging.getLogger(__name__)


def perform(public_id: str) -> None:
    """Do the job of that public id if it is waiting; leave it alone if it is not.

    Afterwards it is done, failed with a plain reason, waiting for another attempt, cancelled with
    its run, or, where its lease ran out meanwhile, somebody else's.
    """
    claimed = jobs.claim(public_id)
    if claimed is None:
        return
    with jobs.Lease(claimed) as lease:
        _work(claimed, lease)


def _work(claimed: jobs.Claimed, lease: jobs.Lease) -> None:
    try:
        if claimed.job.export is not None:
            export_dataset.perform(claimed.job.export)
        else:
            judge_document_set.perform(claimed, lease)
    except jobs.LostJob:
        logger.warning("Job %s was given to another worker; this one stops", claimed.job.public_id)
    except jobs.StoppedJob:
        jobs.finish(claimed, state=Job.State.CANCELLED)
    except BudgetSpent as end:
        jobs.stop_run(claimed, reason=str(end), state=Job.State.CANCELLED)
    except (JudgeRefused, JudgeSettings) as failure:
        jobs.stop_run(claimed, reason=str(failure))
    except (jobs.HopelessJob, Refusal) as failure:
        jobs.finish(claimed, state=Job.State.FAILED, error=str(failure))
    except JudgeUnavailable as failure:
        jobs.try_later(claimed, error=str(failure))
    except Exception as failure:
        # The boundary of a job: one that breaks must not take the worker with it.
        logger.exception("Job %s failed at attempt %s", claimed.job.public_id, claimed.job.attempt)
        jobs.try_later(claimed, error=f"{type(failure).__name__}: {failure}")
    else:
        jobs.finish(claimed, state=Job.State.DONE)

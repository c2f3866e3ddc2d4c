"""Extending a finished sample for the systems that may still be best."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.models import Check, Project, Sample
from annotation.sampling.queries.extension import extension
from annotation.sampling.services.sample_checks import need_blind_answers, sample_checks


@transaction.atomic
def extend_sample(*, project: Project, by: User | None, side: Check.Side) -> Sample:
    """Create the sample that `extension` proposes.

    Raises Conflict (code `nothing_to_extend`) if there is no proposal, and the errors of `sample_checks`.
    """
    require(by, project, Verb.ASSIGN)
    # This call locks the project, so that a second request waits and then finds the unfinished sample of the first.
    need_blind_answers(project)
    proposed = extension(project, side)
    if proposed is None:
        raise Conflict(
            "There is no finished random sample to extend, or it leaves no system out.",
            code="nothing_to_extend",
        )
    return sample_checks(
        project=project,
        by=by,
        method=proposed.sample.method,
        share=proposed.share,
        side=side,
        among=proposed.summaries,
        extends=proposed.sample,
    )

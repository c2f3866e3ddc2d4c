"""Showing a dispute, and recording that the adjudicator saw its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.adjudicating.queries.dispute_view import DisputeView, dispute_view
from annotation.models import Check
from annotation.reviewing.services.look_at_check import see_checks, see_ratings

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Dispute


def see_dispute(*, dispute: Dispute, by: User) -> DisputeView:
    """Return a dispute for display, and record that the person sees the answers to its check or about its summary."""
    if dispute.summary is not None:
        see_ratings(project=dispute.project, summary=dispute.summary, by=by)
    if dispute.check_row_id is not None:
        checks = Check.objects.filter(pk=dispute.check_row_id)
        see_checks(project=dispute.project, checks=checks, by=by)
    return dispute_view(dispute, by)

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.fields import WordChoice
from annotation.api.schema import operation
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.models import SCORE_SIDES
from annotation.trials.report import Trial, trials
from annotation.trials.services import FEWEST, start_trial

MOST = 2**31 - 1


class NewTrial(serializers.Serializer[Any]):
    old_version = serializers.IntegerField(min_value=1, max_value=MOST, help_text="An older version.")
    score = WordChoice(choices=list(SCORE_SIDES), default="coverage")
    size = serializers.IntegerField(min_value=FEWEST, max_value=MOST, help_text="The number of claims.")
    by_others = serializers.BooleanField(
        default=False, help_text="True: people answer again who do not know the claim's answers."
    )


class GuidelineTrials(ApiView):
    tag = "guidelines"
    pagination_class = None

    @operation("list_guideline_trials", responses=list[Trial])
    def get(self, request: Request, slug: str) -> Response:
        """List the latest trials of guidelines, newest first.

        Needs the verb "view scores".
        """
        return Response(plain(trials(self.enter(Verb.VIEW_SCORES))))

    @operation("start_guideline_trial", request=NewTrial, responses={201: Trial})
    def post(self, request: Request, slug: str) -> Response:
        """Start a trial: people answer claims again under the current guidelines, and a third of them under the old
        ones.

        Needs the verb "assign".
        """
        project = self.enter(Verb.ASSIGN)
        trial = start_trial(project=project, by=self.person, **self.body(NewTrial))
        (made,) = trials(project, only=trial.public_id)
        return Response(plain(made), status=status.HTTP_201_CREATED)

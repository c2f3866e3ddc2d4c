from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.fields import ShareField, WordChoice
from annotation.api.schema import operation
from annotation.core.criteria import asked_of_reviewers
from annotation.core.facts import plain
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid
from annotation.models import Check, Sample
from annotation.sampling.queries.check_samples import CheckSample, check_samples
from annotation.sampling.queries.rating_samples import RatingSample, rating_samples
from annotation.sampling.services.sample_checks import sample_checks
from annotation.sampling.services.sample_ratings import sample_ratings
from evaluation.statistics import Design

LARGEST_SEED = 2**63 - 1


class NewSample(serializers.Serializer[Any]):
    method = WordChoice(choices=list(get_args(Design)), default=Sample.Method.ACTIVE)
    share = ShareField(help_text="Above 0 and up to 1.")
    side = WordChoice(
        choices=Check.Side.choices,
        default="",
        allow_blank=True,
        help_text="reference or summary; empty: both.",
    )
    seed = serializers.IntegerField(default=None, allow_null=True, min_value=0, max_value=LARGEST_SEED)


class CheckSamples(ApiView):
    tag = "checks"
    pagination_class = None

    @operation("list_samples", responses=list[CheckSample])
    def get(self, request: Request, slug: str) -> Response:
        """List the latest random samples of checks, newest first.

        Needs the verb "assign".
        """
        project = self.enter(Verb.ASSIGN)
        return Response(plain(check_samples(project)))

    @operation("sample_checks", request=NewSample, responses={201: CheckSample})
    def post(self, request: Request, slug: str) -> Response:
        """Create a random sample of checks for review.

        Needs the verb "assign". Refused (422) if the project shows the judge's verdict at once.
        """
        project = self.enter(Verb.ASSIGN)
        sampled = sample_checks(project=project, by=self.person, **self.body(NewSample))
        (row,) = check_samples(project, only=sampled.public_id)
        return Response(plain(row), status=status.HTTP_201_CREATED)


class NewRatingSample(serializers.Serializer[Any]):
    criterion = serializers.CharField(help_text="The name of a criterion that people answer.")
    size = serializers.IntegerField(min_value=1, help_text="The number of summaries.")
    seed = serializers.IntegerField(default=None, allow_null=True, min_value=0, max_value=LARGEST_SEED)


class RatingSamples(ApiView):
    tag = "checks"
    pagination_class = None

    @operation("list_rating_samples", responses=list[RatingSample])
    def get(self, request: Request, slug: str) -> Response:
        """List the random samples of ratings, newest first.

        Needs the verb "assign".
        """
        return Response(plain(rating_samples(self.enter(Verb.ASSIGN))))

    @operation("sample_ratings", request=NewRatingSample, responses={201: RatingSample})
    def post(self, request: Request, slug: str) -> Response:
        """Create a random sample of summaries for reviewers to rate by a criterion.

        Needs the verb "assign".
        """
        project, body = self.enter(Verb.ASSIGN), self.body(NewRatingSample)
        criterion = asked_of_reviewers(project).filter(name=body.pop("criterion")).first()
        if criterion is None:
            raise Invalid("Reviewers are not asked this question.", field="criterion")
        made = sample_ratings(project=project, by=self.person, criterion=criterion, **body)
        (row,) = rating_samples(project, public_id=made.public_id)
        return Response(plain(row), status=status.HTTP_201_CREATED)

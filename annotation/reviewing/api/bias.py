"""The bias watch: how far reviewers follow the judge."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import AnyContent, ApiView
from annotation.api.fields import WordChoice
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.tables.answer import file_answer
from annotation.core.tables.write import CONTENT_TYPES
from annotation.reviewing.bias_table import as_bytes
from annotation.reviewing.queries.bias import (
    FEWEST,
    Agreement,
    Bias,
    BiasWatch,
    Rate,
    TimeAtClaim,
    bias_watch,
)


class RateRow(serializers.Serializer[Rate]):
    count = serializers.IntegerField()
    n = serializers.IntegerField(help_text="Cases.")
    share = serializers.FloatField(
        source="value",
        allow_null=True,
        help_text=f"count / n; null where n is below {FEWEST}: too few to say.",
    )


class MedianTimeRow(serializers.Serializer[TimeAtClaim]):
    median_ms = serializers.FloatField(allow_null=True, help_text=f"Null where n is below {FEWEST}.")
    n = serializers.IntegerField(help_text="Checks with a recorded time.")


class ReviewerAgreementRow(serializers.Serializer[Agreement]):
    """Of first answers given before the judge's verdict was revealed, with other people's to the same checks.

    Those that were set aside, since somebody else had answered otherwise first, count with the others.
    """

    agreed = serializers.IntegerField()
    pairs = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True, help_text=f"Null where pairs are below {FEWEST}.")
    kappa = serializers.FloatField(
        allow_null=True, help_text="Cohen's kappa; null as above, and if all answers are the same."
    )


class BiasRow(serializers.Serializer[Bias]):
    answers = serializers.IntegerField(help_text="Checks with an answer.")
    in_lists = RateRow(help_text="The judge's verdicts, accepted in a list.")
    overridden_unseen = RateRow(help_text="Differing final answers given before seeing the judge's verdict.")
    overridden_seen = RateRow(
        help_text="Differing final answers given after seeing the judge's verdict, without lists."
    )
    switched = RateRow(
        help_text="Checks answered differently before the reveal whose final answer is the judge's."
    )
    withstood = RateRow(
        help_text="Rejected control items, among those that differed from or preceded the first answer."
    )
    planted_already = serializers.IntegerField(
        help_text="Control items left out because the same wrong answer had already been given."
    )
    time = MedianTimeRow()
    agreement = ReviewerAgreementRow()


class ReviewerBiasRow(BiasRow):
    person = serializers.CharField()


class BiasWatchRow(serializers.Serializer[BiasWatch]):
    project = BiasRow(help_text="All reviewers together.")
    people = ReviewerBiasRow(many=True)


class BiasFileQuery(serializers.Serializer[Any]):
    format = WordChoice(choices=tuple(CONTENT_TYPES), default="csv")


class BiasView(ApiView):
    tag = "bias"

    @operation("watch_bias", responses=BiasWatchRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show how far a project's reviewers follow the judge.

        Needs the verb "view bias". Of answers given here; imported ones do not tell what their authors had seen.
        """
        return Response(BiasWatchRow(bias_watch(self.enter(Verb.VIEW_BIAS))).data)


class BiasFile(ApiView):
    tag = "bias"
    content_negotiation_class = AnyContent

    @operation(
        "download_bias",
        parameters=[BiasFileQuery],
        responses={
            (200, content_type.partition(";")[0]): OpenApiResponse(OpenApiTypes.BINARY, "The file.")
            for content_type in CONTENT_TYPES.values()
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Fetch the bias watch as a file.

        Needs the verb "view bias". No cell of the CSV acts as a formula.
        """
        project = self.enter(Verb.VIEW_BIAS)
        name = self.query(BiasFileQuery)["format"]
        body = as_bytes(bias_watch(project), name)
        return file_answer(body, content_type=CONTENT_TYPES[name], name=f"{project.slug}-bias.{name}")

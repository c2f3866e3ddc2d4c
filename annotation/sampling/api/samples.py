"""The recorded random choices of work: method, seed, frame, chances, and how far they are judged."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery, only
from annotation.api.fields import NamedChoice
from annotation.api.schema import operation
from annotation.core.permissions import Verb, is_blind
from annotation.models import Draw
from annotation.sampling.queries.set_samples import Chance, SetSample, set_sample_rows, set_samples


class ChanceRow(serializers.Serializer[Chance]):
    probability = serializers.FloatField(help_text="Inclusion probability, above 0 and up to 1.")
    items = serializers.IntegerField(help_text="Assigned sampled items with this probability.")


class DrawShape(serializers.Serializer[SetSample]):
    """One random sample. The same seed on the same frame gives the same items again."""

    id = serializers.CharField(source="draw_id")
    method = NamedChoice("DrawMethod", Draw.Method.choices)
    item = NamedChoice("DrawItem", Draw.Item.choices)
    share = serializers.FloatField(help_text="Asked for, above 0 and up to 1.")
    seed = serializers.IntegerField()
    frame = serializers.IntegerField(help_text="Items that could have been sampled.")
    drawn = serializers.IntegerField(help_text="Sampled items.")
    chances = ChanceRow(many=True, help_text="The least first.")
    given = serializers.IntegerField(
        help_text="Comparisons assigned or in the queue, counted once per assessor."
    )
    answered = serializers.IntegerField(help_text="Of these, submitted.")
    withdrawn = serializers.IntegerField(
        help_text="Withdrawn, unassigned comparisons, for which inclusion probabilities do not hold."
    )
    made_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()


class DrawDetail(DrawShape):
    frame_ids = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Ids in the frame; null while you are blind.",
    )


class SetSamples(ApiView):
    tag = "assignment"

    @operation("list_draws", parameters=[PageQuery], responses=DrawShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the random samples of a project, newest first.

        Needs the verb "assign". Every plan and every filling of the queue is one, that of everything too.
        """
        project = self.enter(Verb.ASSIGN)
        return self.page(
            set_samples(project),
            DrawShape,
            query=self.query(PageQuery),
            order=("-pk",),
            looked_up=set_sample_rows,
        )


class OneSetSample(ApiView):
    tag = "assignment"

    @operation("get_draw", responses=DrawDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a random sample with its frame.

        Needs the verb "assign".
        """
        project = self.enter(Verb.ASSIGN)
        draw = only(set_samples(project), public_id, "draw")
        (row,) = set_sample_rows([draw])
        frame = None if is_blind(self.person, project) else draw.frame
        told: Any = {**DrawShape(row).data, "frame_ids": frame}
        return Response(told)

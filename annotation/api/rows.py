"""Shapes of rows that the API of several subjects shows."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.api.fields import LabelField, NamedChoice
from annotation.models import Adjudication, Draw


class AdjudicationRow(serializers.Serializer[Adjudication]):
    """A decision on a check (a label) or on a unit of a comparison (a percent)."""

    id = serializers.CharField(source="public_id")
    label: Any = LabelField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    error_type = serializers.CharField(help_text="Empty if none was given.")
    by = serializers.CharField(source="decided_by.username")
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class ChoiceRow(serializers.Serializer[Any]):
    value = serializers.IntegerField()
    text = serializers.CharField()


class HeldShape(serializers.Serializer[Any]):
    """Checks on somebody's screen, which nobody else is handed."""

    count = serializers.IntegerField()
    since = serializers.DateTimeField(allow_null=True, help_text="When the first of them was opened.")
    until = serializers.DateTimeField(
        help_text="When the first is released if inactive; activity extends it by five minutes."
    )


class CheckDrawRow(serializers.Serializer[Any]):
    """A random sample of checks. Answered are those that somebody answered who knew nothing of the judge's verdict."""

    id = serializers.CharField(source="draw_id")
    scores = serializers.ListField(
        child=serializers.CharField(), help_text="What it tells of: coverage, alignment or both."
    )
    method = NamedChoice("DrawMethod", Draw.Method.choices)
    share = serializers.FloatField()
    seed = serializers.IntegerField()
    frame = serializers.IntegerField(help_text="Checks that could have been sampled.")
    drawn = serializers.IntegerField()
    answered = serializers.IntegerField()
    held = HeldShape(allow_null=True, help_text="Unanswered ones that someone has open now.")
    created_at = serializers.DateTimeField()
    cancelled_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was cancelled; no estimate uses it since."
    )

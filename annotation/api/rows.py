"""Shapes of rows that the API of several subjects shows."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.api.fields import LabelField
from annotation.models import Adjudication


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

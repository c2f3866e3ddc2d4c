"""Shapes of rows that the API of several subjects shows."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ChoiceRow(serializers.Serializer[Any]):
    value = serializers.IntegerField()
    text = serializers.CharField()

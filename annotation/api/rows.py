"""Serializers of rows that several subjects use."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ChoiceRow(serializers.Serializer[Any]):
    value = serializers.IntegerField()
    text = serializers.CharField()

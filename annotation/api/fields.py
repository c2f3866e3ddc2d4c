"""Fields that several resources share."""

from __future__ import annotations

import math
from typing import Any

from rest_framework import serializers

from annotation.models import Label


class ShareField(serializers.FloatField):
    """A number from 0 to 1. "nan" passes a plain float field and every comparison after it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=1, **kwargs)

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


class NamedChoice(serializers.ChoiceField):
    """One of some words that the schema calls by one name, wherever they are used."""

    def __init__(self, schema_name: str, choices: Any, **kwargs: Any) -> None:
        self.schema_name = schema_name
        super().__init__(choices=choices, **kwargs)


class LabelField(NamedChoice):
    """Yes, no or unsure."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("Label", Label.choices, **kwargs)

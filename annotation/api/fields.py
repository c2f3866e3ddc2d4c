"""Serializer fields that several resources share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rest_framework import serializers

from annotation.core.facts import plain
from annotation.models import Label


class ShareField(serializers.FloatField):
    """A number from 0 to 1. A plain float field would accept "nan" too."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=1, **kwargs)

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


class WordChoice(serializers.ChoiceField):
    """A choice whose error message names the allowed words."""

    def __init__(self, choices: Any, **kwargs: Any) -> None:
        super().__init__(choices=choices, **kwargs)
        words = ", ".join(map(str, self.choices))
        self.error_messages["invalid_choice"] = f'"{{input}}" is none of {words}.'


class NamedChoice(WordChoice):
    """A choice that is a named component of the schema wherever it is used."""

    def __init__(self, schema_name: str, choices: Any, **kwargs: Any) -> None:
        self.schema_name = schema_name
        super().__init__(choices=choices, **kwargs)


class SliceKey(serializers.CharField):
    """A metadata key of document sets, or `group`; "" if none is given."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=200, default="", allow_blank=True, **kwargs)


class FactsField(serializers.Field[Any, Any, Any, Any]):
    """A read-only field with the dataclass that `facts_of` returns for a row; null if it returns None."""

    def __init__(self, shape: Any, facts_of: Callable[[Any], Any], **kwargs: Any) -> None:
        super().__init__(source="*", read_only=True, **kwargs)
        self.shape, self.facts_of = shape, facts_of

    def to_representation(self, row: Any) -> Any:
        found = self.facts_of(row)
        return None if found is None else plain(found)


class RowsField(serializers.JSONField):
    """A list of objects, which are not validated further."""

    def __init__(self, most: int, **kwargs: Any) -> None:
        super().__init__(help_text=f"1 to {most:,} rows.", **kwargs)
        self.most = most

    def to_internal_value(self, data: Any) -> list[dict[str, Any]]:
        if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
            raise serializers.ValidationError("Send a list of objects, one for each row.")
        if not 1 <= len(data) <= self.most:
            raise serializers.ValidationError(f"Send 1 to {self.most:,} rows at once.")
        return data


class LabelField(NamedChoice):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__("Label", Label.choices, **kwargs)


MOST_WORDS = 2_147_483_647

"""Checks of numbers that a caller passes."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from evaluation.errors import EvaluationError, InvalidPercent, InvalidWeight, LengthMismatch


def checked_share(name: str, value: float) -> float:
    """Return the value. Raises InvalidPercent unless it is a number in [0, 1]."""
    if not (_is_number(value) and 0 <= value <= 1):
        raise InvalidPercent(f"{name} must lie in 0 to 1, got {value!r}.")
    return value


def checked_scale(name: str, value: float) -> float:
    """Return the value. Raises InvalidWeight unless it is a finite number above 0."""
    if not (_is_number(value) and 0 < value < math.inf):
        raise InvalidWeight(f"{name} must be a finite number above 0, got {value!r}.")
    return value


def check_confidence(confidence: float) -> None:
    """Raise InvalidPercent unless the confidence is between 0 and 1."""
    if not 0 < confidence < 1:
        raise InvalidPercent(f"The confidence must lie between 0 and 1, got {confidence!r}.")


def checked_percent(value: float) -> float:
    """Return the value. Raises InvalidPercent unless it is in [0, 100]."""
    if not 0 <= value <= 100:
        raise InvalidPercent(f"A percent must lie in 0 to 100, got {value!r}.")
    return value


def checked_weight(name: str, value: float) -> float:
    """Return the value. Raises InvalidWeight unless it is finite and at least 0."""
    if not (math.isfinite(value) and value >= 0):
        raise InvalidWeight(f"{name} must be a finite number of at least 0, got {value!r}.")
    return value


def check_same_length(first: str, one: Sequence[Any], second: str, other: Sequence[Any]) -> None:
    """Raise LengthMismatch unless both sequences have the same length."""
    if len(one) != len(other):
        raise LengthMismatch(
            f"{first} and {second} belong together item by item, but there are {len(one)} and {len(other)}."
        )


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise EvaluationError unless the value is one of the choices."""
    if value not in choices:
        raise EvaluationError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)

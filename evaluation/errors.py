"""Errors of the library, each with a stable machine-readable `code`.

A missing answer of a judge is not an error: the item is *unscored* (None).
"""

from typing import ClassVar


class EvaluationError(ValueError):
    """The base class of the library's errors."""

    code: ClassVar[str] = "evaluation_error"


class InvalidBudget(EvaluationError):
    """A length below 0 or a target length below 1."""

    code: ClassVar[str] = "invalid_budget"


class InvalidPercent(EvaluationError):
    """A percent outside 0 to 100, or a share outside 0 to 1."""

    code: ClassVar[str] = "invalid_percent"


class InvalidWeight(EvaluationError):
    """A weight, scale or share outside its range, such as a negative, infinite or NaN weight."""

    code: ClassVar[str] = "invalid_weight"


class InvalidLabel(EvaluationError):
    """A label that is not a possible answer."""

    code: ClassVar[str] = "invalid_label"


class InvalidMark(EvaluationError):
    """A mark on a unit that does not exist."""

    code: ClassVar[str] = "invalid_mark"


class LengthMismatch(EvaluationError):
    """Two sequences that correspond item by item differ in length."""

    code: ClassVar[str] = "length_mismatch"


class JudgeError(EvaluationError):
    """The base class of errors of a judge. A single unusable answer raises no error."""

    code: ClassVar[str] = "judge_error"

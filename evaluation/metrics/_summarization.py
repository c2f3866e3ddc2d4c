"""The summarization score: the lower of alignment and coverage."""

from dataclasses import dataclass

from evaluation._guards import checked_scale, checked_share


@dataclass(frozen=True, slots=True)
class SummarizationResult:
    """The score in [0, scale], its reason, and `passed`, which is True if the summary passes.

    Score and `passed` are None if alignment or coverage is missing.
    """

    score: float | None
    passed: bool | None
    reason: str


def summarization(
    alignment: float | None,
    coverage: float | None,
    *,
    threshold: float = 0.5,
    strict: bool = False,
    scale: float = 1.0,
) -> SummarizationResult:
    """Compute the lower of alignment and coverage: a summary must be both correct and complete.

    The score is in [0, scale], higher is better. `passed` is True if the unscaled minimum is at least the threshold.
    `strict` ignores the threshold: if both parts are 1, the score is `scale` and the summary passes; otherwise the
    score is 0 and the summary fails. Score and `passed` are None if a part is None. Raises InvalidPercent if a part or
    the threshold is outside 0 to 1, InvalidWeight unless scale is above 0. Source: the summarization metrics of
    DeepEval and Mastra. `scale` multiplies only the result. Example: alignment 0.5 with coverage 0.75 scores 0.5 and
    passes the default threshold.
    """
    checked_share("The threshold", threshold)
    checked_scale("The scale", scale)
    parts = {"alignment": alignment, "coverage": coverage}
    known = {name: checked_share(name.capitalize(), part) for name, part in parts.items() if part is not None}
    if len(known) < len(parts):
        missing = " and ".join(name for name in parts if name not in known)
        return SummarizationResult(None, None, f"No score: {missing} could not be scored.")
    lowest = min(known.values())
    score = scale * (float(lowest == 1) if strict else lowest)
    return SummarizationResult(score, lowest >= (1 if strict else threshold), _reason(known, score, strict))


def _reason(parts: dict[str, float], score: float, strict: bool) -> str:
    figures = ", ".join(f"{name} {part:.2f}" for name, part in parts.items())
    if strict:
        return f"The score is {score:.2f} because strict scoring asks for 1 in both parts: {figures}."
    if len(set(parts.values())) == 1:
        return f"The score is {score:.2f} because both parts are equal: {figures}."
    lower = min(parts, key=parts.__getitem__)
    return f"The score is {score:.2f} because {lower} is the lower part: {figures}."

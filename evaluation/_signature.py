"""The signature of a score: which rules and options made it."""

VERSION = 4
"""Version of the scoring rules; raised whenever the same rows could give another number."""


def signature(**options: str | float | bool | None) -> str:
    """A short, stable text that tells how a score was made, for tables and papers.

    Options stand in alphabetical order, so that equal options give equal texts; numbers keep six significant
    digits.
    Source: the habit of sacreBLEU.
    Example: `signature(blend="human_first", threshold=0.5)` is
    "coverdict|v:4|blend:human_first|threshold:0.5".
    """
    parts = [f"{name}:{_text(value)}" for name, value in sorted(options.items())]
    return "|".join(["coverdict", f"v:{VERSION}", *parts])


def _text(value: str | float | bool | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    # The bar separates options and must not occur inside one.
    return " ".join(str(value).split()).replace("|", "%7C")

"""The signature of a score: its rules and options."""

VERSION = 4
"""Version of the scoring rules."""


def signature(**options: str | float | bool | None) -> str:
    """Return a text with the version of the rules and the options of a score.

    Options are in alphabetical order; floats have six significant digits. Source: the convention of sacreBLEU. Example:
    `signature(blend="human_first", threshold=0.5)` is "coverdict|v:4|blend:human_first|threshold:0.5".
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
    # The bar separates options, so an option must not contain it.
    return " ".join(str(value).split()).replace("|", "%7C")

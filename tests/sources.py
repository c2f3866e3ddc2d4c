"""Reading the modules of the project."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def modules(*rooms: str, holding: str) -> Iterator[tuple[str, ast.Module]]:
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if re.search(holding, text):
                yield path.relative_to(ROOT).as_posix(), ast.parse(text)


def named_by(call: ast.Call) -> str:
    """Return the name that a call uses, without its module: "hint" for `x.hint(...)`."""
    return str(getattr(call.func, "attr", "") or getattr(call.func, "id", ""))

from __future__ import annotations

import pytest

from annotation.templatetags.code import in_code


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Not read: `a<b`, `c`.", "Not read: <code>a&lt;b</code>, <code>c</code>."),
        ("5 < 6", "5 &lt; 6"),
        ("A `lone sign <b>", "A `lone sign <b>"),
    ],
)
def test_names_between_backticks_are_code(message: str, expected: str) -> None:
    assert in_code(message) == expected

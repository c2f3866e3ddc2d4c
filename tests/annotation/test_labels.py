from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from annotation.models import Label
from annotation.models.claim import SIGNS
from evaluation.judging import LABEL_VALUES, LABELS


def test_the_database_takes_the_labels_of_evaluation() -> None:
    assert tuple(Label.values) == LABELS
    assert set(LABEL_VALUES) == set(LABELS)


@pytest.mark.parametrize("label", LABELS)
def test_a_label_has_a_sign_and_a_colour(label: str) -> None:
    css = (Path(settings.BASE_DIR) / "static" / "css" / "base.css").read_text(encoding="utf-8")
    assert label in SIGNS
    assert re.search(rf"^\.{label} \{{ --own:", css, re.MULTILINE)

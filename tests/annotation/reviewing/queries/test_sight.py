from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.models import Check, Look, Verdict
from annotation.reviewing.queries.known_checks import answered, knows
from annotation.reviewing.queries.sight import may_see, with_known

if TYPE_CHECKING:
    from tests.annotation.cast import World


def say(world: World, check: Check, who: str, *, withdrawn: bool = False, role: str = "reviewer") -> None:
    withdrawn_at = timezone.now() if withdrawn else None
    Verdict.objects.create(
        check_row=check, role=role, person=getattr(world, who), label="no", withdrawn_at=withdrawn_at
    )


def look(world: World, check: Check, who: str, *, revealed: bool) -> None:
    revealed_at = timezone.now() if revealed else None
    Look.objects.create(check_row=check, person=getattr(world, who), revealed_at=revealed_at)


STORIES = {
    "nothing": (lambda w, c: None, False),
    "looked": (lambda w, c: look(w, c, "rex", revealed=False), False),
    # The person saw the answers elsewhere or for an earlier wording: later answers are not blind, but the desk hides
    # them.
    "was shown it": (lambda w, c: look(w, c, "rex", revealed=True), False),
    "answered": (lambda w, c: say(w, c, "rex"), True),
    "answered and withdrew": (lambda w, c: say(w, c, "rex", withdrawn=True), True),
    "decided": (lambda w, c: say(w, c, "rex", role="adjudicator"), False),
    "another answered": (lambda w, c: say(w, c, "cleo"), False),
    "another was shown it": (lambda w, c: look(w, c, "cleo", revealed=True), False),
}


@pytest.mark.parametrize("story", STORIES)
def test_lists_and_rows_agree_on_what_is_known(world: World, story: str) -> None:
    act, is_known = STORIES[story]
    check = world.check("alder", 1)
    act(world, check)
    assert may_see(check, world.rex, said=check.verdicts.all()) is is_known
    checks = Check.objects.filter(pk=check.pk)
    assert with_known(checks, world.rex, is_kept_back=True).get().is_known is is_known
    assert checks.filter(answered(world.rex)).exists() is is_known
    assert checks.filter(knows(world.rex)).exists() is (is_known or story == "was shown it")
    assert with_known(checks, world.rex, is_kept_back=False).get().is_known is True

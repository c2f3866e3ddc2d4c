"""What a person is shown of a check, as a function and as lists ask the database: always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.core.known_checks import knows
from annotation.models import Check, CheckLook, Label, Verdict
from annotation.reviewing.queries.sight import COLUMNS_SEEN, CheckAsSeen, as_seen, seen_by, told_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World

LABELS = st.sampled_from(Label.values)
MAYBE = st.none() | LABELS
CHECKS = st.fixed_dictionaries(
    {
        "judge_label": MAYBE,
        "human_label": MAYBE,
        "stands": st.just((None, None)) | st.tuples(LABELS, st.sampled_from(Check.Decider.values)),
        "is_disputed": st.booleans(),
    }
)
LOOKS = st.none() | st.booleans()
"""No look, or whether the verdict was revealed."""
ANSWERS = st.lists(
    st.tuples(st.sampled_from(["rex", "cleo", "judge"]), LABELS, st.sampled_from(["", "taken back"])),
    max_size=4,
)


def add_look(check: Check, person: User, is_revealed: bool | None) -> CheckLook | None:
    if is_revealed is None:
        return None
    revealed_at = timezone.now() if is_revealed else None
    return CheckLook.objects.create(check_row=check, person=person, revealed_at=revealed_at)


def say(world: World, check: Check, who: str, label: str, fate: str) -> None:
    by: dict[str, Any] = {"source": "judge", "judge": world.judge}
    if who != "judge":
        by = {"source": "reviewer", "person": getattr(world, who)}
    withdrawn = timezone.now() if fate else None
    Verdict.objects.create(check_row=check, label=label, withdrawn_at=withdrawn, **by)


def of_list(row: Any) -> CheckAsSeen:
    columns = {name.removeprefix("seen_"): getattr(row, name) for name in COLUMNS_SEEN.values()}
    return CheckAsSeen(is_known=row.is_known, **columns)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(worlds=st.lists(st.tuples(CHECKS, LOOKS, ANSWERS), min_size=1, max_size=6))
def test_lists_see_what_the_function_says(world: World, worlds: list[tuple[Any, Any, Any]]) -> None:
    person, checks = world.rex, Check.objects.filter(project=world.project)
    with transaction.atomic():
        looks: dict[int, CheckLook | None] = {}
        for check, (facts, look, answers) in zip(checks.order_by("pk"), worlds, strict=False):
            columns = dict(facts)
            final, source = columns.pop("stands")
            checks.filter(pk=check.pk).update(**columns, final_label=final, final_source=source)
            looks[check.pk] = add_look(check, person, look)
            for answer in answers:
                say(world, check, *answer)
        expected = {
            check.pk: seen_by(person, check, looks.get(check.pk), check.verdicts.order_by("pk"))
            for check in checks
        }
        listed = {row.pk: of_list(row) for row in as_seen(checks, person, is_kept_back=True)}
        known = set(checks.filter(knows(person)).values_list("pk", flat=True))
        transaction.set_rollback(True)
    assert listed == expected
    assert known == {key for key, seen in expected.items() if seen.is_known}


def test_where_nothing_is_kept_back_all_is_as_it_is(world: World) -> None:
    checks = Check.objects.filter(project=world.project)
    for row in as_seen(checks, world.rex, is_kept_back=False):
        assert of_list(row) == CheckAsSeen(
            is_known=True,
            judge=row.judge_label,
            human=row.human_label,
            final=row.final_label,
            source=row.final_source,
            disputed=row.is_disputed,
        )


def test_of_answers_that_are_hidden_a_person_is_shown_their_own(world: World) -> None:
    check = world.check("alder", 1)
    for who in ("cleo", "rex"):
        say(world, check, who, "yes", "")
    said = list(check.verdicts.order_by("pk"))
    assert [each.person for each in told_of(said, world.rex, is_known=False)] == [world.rex]
    assert told_of(said, world.rex, is_known=True) == said

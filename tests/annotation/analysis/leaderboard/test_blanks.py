"""Why scores of a table are blank, and what brings them."""

from __future__ import annotations

from annotation.analysis.leaderboard.blanks import (
    MOSTLY_UNSCORED,
    NO_ALIGNMENT,
    NO_JUDGE,
    NO_PEOPLE,
    NO_REFERENCE,
    NO_RUN,
    NO_TARGET,
    NO_WORD_BREAKS,
    Blank,
    blanks_of,
)
from annotation.analysis.leaderboard.leaderboard import Average, SystemRow, TargetTable
from annotation.models import Project

SCORES = ("coverage", "coverage_judge", "coverage_human", "brevity", "composite_2_3", "alignment")


def table(
    *held: str, target: int | None = 20, sets: int = 5, flags: dict[str, int] | None = None
) -> TargetTable:
    row = SystemRow(
        rank=1,
        system="alder",
        system_id="alder",
        kind="summariser",
        n=sets,
        summaries=sets,
        document_sets=sets,
        claims=9,
        claims_unscored=0,
        flags=flags or {},
        scores={
            name: Average(0.5 if name in held else None, None, None, n=sets, left_out=0) for name in SCORES
        },
    )
    return TargetTable(target_words=target, rows=(row,))


def found(given: TargetTable, *, has_judge: bool = True) -> list[Blank]:
    return list(blanks_of(Project(deciding_judge_id=1 if has_judge else None), given, SCORES))


def test_a_full_table_has_nothing_to_say() -> None:
    assert found(table(*SCORES)) == []


def test_without_a_target_length_there_is_neither_brevity_nor_composite() -> None:
    held = [name for name in SCORES if name not in ("brevity", "composite_2_3")]
    assert found(table(*held, target=None)) == [Blank(("brevity", "composite_2_3"), NO_TARGET)]
    uncounted = table(*held, flags={"no_word_breaks": 5})
    assert found(uncounted) == [Blank(("brevity", "composite_2_3"), NO_WORD_BREAKS)]


def test_without_a_run_each_blank_says_what_brings_it() -> None:
    told = [
        Blank(("coverage", "coverage_judge", "composite_2_3"), NO_RUN),
        Blank(("coverage_human",), NO_PEOPLE),
        Blank(("alignment",), NO_ALIGNMENT),
    ]
    assert found(table("brevity")) == told
    assert found(table("brevity"), has_judge=False)[0].reason == NO_JUDGE


def test_a_blank_says_that_too_few_answers_are_usable() -> None:
    told = found(table("brevity", flags={"mostly_unscored": 5}))
    assert told[0] == Blank(("coverage", "coverage_judge", "composite_2_3", "alignment"), MOSTLY_UNSCORED)


def test_a_missing_reference_and_too_few_sets_are_told_of_the_whole_table() -> None:
    alone = found(table(*SCORES, sets=4, flags={"no_model_summary": 4}))
    assert [blank.scores for blank in alone] == [(), ()]
    assert alone[0].reason == NO_REFERENCE
    assert alone[1].reason.why == "There are no intervals: they need 5 document sets, and there are 4."
    assert found(table(*SCORES, flags={"no_model_summary": 4})) == []

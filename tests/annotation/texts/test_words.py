"""What changing a claim does, in words."""

from annotation.texts.queries.claims import ClaimLoss
from annotation.texts.words import answers_stay, if_deleted


def words(
    *,
    kind: str = "model",
    unit: int | None = None,
    left_in_unit: int = 0,
    left_in_text: int = 4,
    loose: bool = False,
) -> str:
    return if_deleted(ClaimLoss(kind, unit, left_in_unit, left_in_text, stands_for_unit=loose))


def test_nothing_is_said_where_nobody_has_answered() -> None:
    assert answers_stay(0, 5) == ""


def test_how_many_checks_people_have_answered() -> None:
    kept = "Their answers stay with this wording and no longer count."
    assert answers_stay(2, 5) == f"People have answered 2 of its 5 checks. {kept}"
    assert answers_stay(1, 1) == f"People have answered its only check. {kept}"


def test_a_unit_loses_its_only_claim() -> None:
    assert words(unit=3).startswith("This is the only claim of unit 3. Without it and without a percent")


def test_a_unit_keeps_others() -> None:
    assert words(unit=3, left_in_unit=1) == "The share of yes of unit 3 will use 1 claim."


def test_claims_in_the_place_of_units() -> None:
    assert words(loose=True).endswith("the mean over 4 claims instead of 5.")


def test_claims_of_a_peer_summary_and_of_documents() -> None:
    assert words(kind="peer") == "Alignment will be the share of yes over 4 claims instead of 5."
    assert words(kind="documents") == "Coverage will be the share of yes over 4 claims instead of 5."


def test_the_last_claim_of_a_text() -> None:
    assert words(kind="peer", left_in_text=0).endswith("the summary has no alignment.")
    assert "This is the text's only claim." in words(unit=1, left_in_text=0)

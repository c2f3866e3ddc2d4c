from evaluation._signature import VERSION, signature
from evaluation.blend._score import ScoreRules


def test_options_stand_in_alphabetical_order() -> None:
    assert (
        signature(threshold=0.5, blend="human_first")
        == f"coverdict|v:{VERSION}|blend:human_first|threshold:0.5"
    )


def test_equal_rules_have_equal_signatures() -> None:
    assert ScoreRules().signature == ScoreRules(composite_weight=2 / 3, scale=1).signature


def test_an_option_that_changes_scores_changes_the_signature() -> None:
    changed = [
        ScoreRules(blend="weighted"),
        ScoreRules(blend="weighted", human_weight=0.7),
        ScoreRules(assessor_average="median"),
        ScoreRules(composite_weight=0.5),
        ScoreRules(length_unit="bytes"),
        ScoreRules(over_length="truncate"),
        ScoreRules(threshold=0.6),
        ScoreRules(strict=True),
        ScoreRules(scale=10),
    ]
    assert len({rules.signature for rules in [ScoreRules(), *changed]}) == 1 + len(changed)


def test_the_human_weight_is_no_option_where_it_decides_nothing() -> None:
    assert ScoreRules(human_weight=0.7).signature == ScoreRules().signature

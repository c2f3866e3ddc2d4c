"""What other rules would move, said before they are saved; and the default target length, which moves the most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.refusals import Conflict, Invalid
from annotation.models import SCORES, Event, Project, Score, Summary, Verdict
from annotation.projects.queries import preview as previewing
from annotation.projects.services.change_project import change_project, preview_change
from annotation.reviewing.services.review import override
from annotation.scoring.records import RECORDS_AT_ONCE, judged_text, summary_records
from annotation.scoring.rescore import rescore
from tests.annotation.statements import statements_of

if TYPE_CHECKING:
    from tests.annotation.cast import World


def scores() -> list[dict[str, float | None]]:
    return list(Score.objects.order_by("summary").values(*SCORES))


def without_targets(world: World) -> None:
    Summary.objects.filter(document_set__project=world.project).update(target_words=None)
    rescore(project=world.project)


def test_a_preview_says_which_scores_move_and_by_how_much_and_stores_nothing(world: World) -> None:
    before = scores()
    preview = preview_change(project=world.project, by=world.mona, composite_weight=0.5)
    assert preview is not None
    # On port alder has c = .75 and b = 7/20, birch c = 0 and b = 9/20; bridge has no coverage.
    # At ⅔: .61667 and .15, on average .38333; at ½: .55 and .225, on average .3875.
    (move,) = preview.scores
    assert (preview.summaries, preview.seen, preview.changed) == (4, 4, 2)
    assert (move.name, move.summaries) == ("composite_custom", 2)
    assert (move.before, move.after) == (pytest.approx(0.383333, abs=1e-6), pytest.approx(0.3875))
    assert scores() == before
    assert not Event.objects.filter(verb="change project").exists()
    assert Project.objects.get(pk=world.project.pk).composite_weight == pytest.approx(2 / 3)


def test_a_larger_least_share_of_scored_claims_blanks_scores(world: World) -> None:
    Verdict.objects.filter(check_row=world.check("alder", 3)).delete()
    rescore(project=world.project)
    row = Score.objects.get(summary=world.peers["port", "alder"])
    # 2 of 3 claims are scored: enough by default.
    assert (row.coverage is None, row.flags) == (False, ["unscored:1", "partial:1"])
    preview = preview_change(project=world.project, by=world.mona, least_scored=0.7)
    assert preview is not None
    assert {move.name for move in preview.scores} >= {"coverage", "claim_coverage"}
    change_project(project=world.project, by=world.mona, least_scored=0.7)
    row.refresh_from_db()
    assert (row.coverage, row.claim_coverage) == (None, None)
    assert "mostly_unscored" in row.flags


def test_what_a_preview_says_is_what_saving_does(world: World) -> None:
    rules = {"deciding_judge": None, "target_length": 40, "summarization_strict": True}
    preview = preview_change(project=world.project, by=world.mona, **rules)
    before = scores()
    change_project(project=world.project, by=world.mona, **rules)
    assert preview is not None
    assert preview.changed == sum(old != new for old, new in zip(before, scores(), strict=True)) == 2


def test_a_preview_counts_the_disputes_that_a_rule_opens(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    # The judge said yes: once it is heard too, the two answers are 1 apart.
    preview = preview_change(project=world.project, by=world.mona, dispute_voices="judge", audit_share=0.0)
    assert preview is not None
    assert (preview.changed, preview.disputes) == (0, (0, 1))


def test_a_rule_that_moves_nothing_is_not_computed(world: World) -> None:
    assert preview_change(project=world.project, by=world.mona, reveal="shown") is None


def test_a_preview_refuses_what_saving_refuses(world: World) -> None:
    with pytest.raises(Conflict):
        preview_change(project=world.project, by=world.mona, over_length="truncate")
    with pytest.raises(Invalid):
        preview_change(project=world.project, by=world.mona, composite_weight=2.0)


def test_of_many_summaries_the_same_random_sample_is_scored_in_a_bounded_number_of_statements(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked() -> int:
        return len(
            statements_of(lambda: preview_change(project=world.project, by=world.mona, blend="weighted"))
        )

    few = asked()
    alder = world.peers["bridge", "alder"]
    Summary.objects.bulk_create(
        Summary(
            document_set=alder.document_set,
            system=alder.system,
            is_peer=True,
            target_words=target,
            text="Word.",
        )
        for target in range(100, 100 + previewing.MOST_PREVIEWED)
    )
    # Peers, facts and checks twice for the second batch; peers are read once for both.
    assert asked() - few <= 5 * (previewing.MOST_PREVIEWED // RECORDS_AT_ONCE - 1)
    found = [preview_change(project=world.project, by=world.mona, composite_weight=0.5) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] is not None
    assert (found[0].summaries, found[0].seen) == (previewing.MOST_PREVIEWED + 4, previewing.MOST_PREVIEWED)
    assert found[0].is_sample


def test_the_default_target_length_counts_where_a_summary_has_none(world: World) -> None:
    without_targets(world)
    assert Score.objects.filter(brevity=None, composite_2_3=None).count() == 4
    change_project(project=world.project, by=world.mona, target_length=26)
    score = Score.objects.get(summary=world.peers["port", "alder"])
    # 13 of 26 words: b = .5; c = .75; X = (2 * .75 + .5) / 3 = .66667.
    assert (score.brevity, score.composite_2_3) == (pytest.approx(0.5), pytest.approx(2 / 3))
    Summary.objects.filter(pk=world.peers["port", "alder"].pk).update(target_words=20)
    (record,) = summary_records(Project.objects.get(pk=world.project.pk), [world.peers["port", "alder"].pk])
    assert record.value.target == 20


def test_scores_under_a_default_target_length_come_out_the_same_again(world: World) -> None:
    without_targets(world)
    project = change_project(project=world.project, by=world.mona, target_length=26)
    before = scores()
    Score.objects.all().delete()
    rescore(project=project)
    assert scores() == before


def test_a_default_target_length_that_cuts_what_was_judged_is_refused(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(over_length="truncate")
    with pytest.raises(Conflict, match="default target length") as refused:
        change_project(project=world.project, by=world.mona, target_length=5)
    assert refused.value.code == "judged"
    Verdict.objects.all().delete()
    project = change_project(project=world.project, by=world.mona, target_length=5)
    peer = Summary(is_peer=True, text=world.peers["port", "alder"].text)
    assert judged_text(peer, project) == "The harbour of Lund closes"


@pytest.mark.parametrize(
    "rules", [{"target_length": 0}, {"summarization_scale": 0.0}, {"summarization_threshold": 1.5}]
)
def test_a_value_out_of_range_is_refused(world: World, rules: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        change_project(project=world.project, by=world.mona, **rules)

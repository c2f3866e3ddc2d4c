import pytest

from annotation.models import SCORES, Check, Project, Score
from annotation.reviewing.services.review import override
from annotation.scoring import rescore as rescoring
from annotation.scoring.records import score_rules, summary_records
from annotation.scoring.rescore import DERIVED, rescore, rescore_now
from evaluation.blend import ScoredSummary, ScoreRules, SummaryScore, _impacts, score
from tests.annotation.cast import World
from tests.annotation.statements import statements_of


def derived() -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    scores = Score.objects.order_by("summary_id").values("summary_id", "flags", "claims", *SCORES)
    return list(Check.objects.order_by("pk").values("pk", *DERIVED)), list(scores)


def test_rebuilding_from_nothing_gives_the_same(world: World) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="unsure")
    before = derived()
    Score.objects.all().delete()
    Check.objects.update(
        judge_label=None, human_label=None, final_label=None, final_source=None, uncertainty=1, impact=0
    )
    assert rescore(project=world.project) == 4
    assert derived() == before


def test_uncertainty_is_low_where_the_judge_is_sure(world: World) -> None:
    # p = .9 gives 1 - |2 * .9 - 1| = .2, and p = .2 gives 1 - |.4 - 1| = .4.
    assert round(world.check("alder", 1).uncertainty, 6) == 0.2
    assert round(world.check("alder", 2).uncertainty, 6) == 0.4


def test_effect_is_the_share_of_coverage_that_hangs_on_the_answer(world: World) -> None:
    # Each of two units has half of the coverage. The first has two claims, with 1/4 each, and the second has one claim.
    assert [round(check.impact, 6) for check in world.checks("alder")] == [0.25, 0.25, 0.5]


def test_rules_that_changed_since_the_project_was_read_count(world: World) -> None:
    Project.objects.update(composite_weight=1.0)
    summary = world.summaries["port", "alder"]
    assert world.project.composite_weight != 1.0
    rescore_now(project=world.project, summary_ids=[summary.pk])
    score = Score.objects.get(summary=summary)
    assert score.composite_custom == score.coverage


def test_each_batch_is_scored_by_the_rules_of_its_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed_by_another(project: Project) -> ScoreRules:
        Project.objects.update(composite_weight=1.0)
        return score_rules(project)

    monkeypatch.setattr(rescoring, "RESCORED_AT_ONCE", 1)
    monkeypatch.setattr(rescoring, "score_rules", changed_by_another)
    rescore(project=world.project)
    scores = Score.objects.filter(coverage__isnull=False).order_by("summary__document_set", "summary")
    first, *others = [score.composite_custom == score.coverage for score in scores]
    assert (first, all(others), len(others)) == (False, True, 1)


def test_a_summary_is_scored_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[ScoredSummary] = []

    def counted(summary: ScoredSummary, rules: ScoreRules) -> SummaryScore:
        scored.append(summary)
        return score(summary, rules)

    for module in (rescoring, _impacts):
        monkeypatch.setattr(module, "score", counted)
    assert rescore(project=world.project) == len(scored)


def test_what_scores_a_summary_is_read_in_three_statements(world: World) -> None:
    keys = [summary.pk for summary in world.summaries.values()]
    for some in (keys[:1], keys):
        asked = statements_of(lambda: list(summary_records(world.project, some)))  # noqa: B023 - asked at once
        assert len(asked) == 3, asked


def test_a_set_without_claims_says_nothing_of_coverage(world: World) -> None:
    score = Score.objects.get(summary=world.summaries["bridge", "alder"])
    assert (score.coverage, score.claim_coverage, score.flags) == (None, None, [])

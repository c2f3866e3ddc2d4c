from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User

from annotation.analysis.judge.judge_quality import judge_quality
from annotation.core.refusals import Invalid
from annotation.judging.services.start_run import start_run
from annotation.models import Check, Membership, Project, Role, Verdict
from tests.annotation.exports.reading import exported
from tests.annotation.judging.doing import add_document_set, judge_all, judge_to_end
from tests.llm_server import faults

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from django.test import Client

    from annotation.models import Judge
    from tests.llm_server import Call, Fault, LLMServer

SETS, CLAIMS = 5, 10


@pytest.fixture
def project(db: None, llm_judge: Judge, llm_server: LLMServer) -> Project:
    made = Project.objects.create(slug="mill", name="Mill study")
    for number in range(SETS):
        sentences = [f"The mill {number} has room {room}." for room in range(CLAIMS)]
        add_document_set(
            made,
            " ".join(sentences),
            external_id=str(number),
            reference=" ".join(sentences),
            elm=" ".join(sentences[: CLAIMS // 2]),
        )
    judge_to_end(made, llm_judge)
    return made


def flips_one_in_ten(call: Call) -> Fault | None:
    def changed(answer: dict[str, Any]) -> dict[str, Any]:
        first, *others = answer["answers"]
        return {"answers": [{**first, "label": "no" if first["label"] == "yes" else "yes"}, *others]}

    return faults.changed(changed) if "claims" in call.question else None


def repeated(project: Project, judge: Judge, share: float) -> None:
    run = start_run(project=project, judge=judge, metrics=["coverage"], repeat_share=share, by=None)
    judge_all(run)
    assert run.state == "finished"


def test_a_server_that_flips_one_in_ten_is_measured_as_a_tenth(
    project: Project,
    llm_judge: Judge,
    llm_server: LLMServer,
    signed_in: Callable[[User], Client],
    tmp_path: Path,
) -> None:
    paid = len(llm_server.calls)
    before = list(Verdict.objects.order_by("pk").values_list("pk", "label"))
    llm_server.where(flips_one_in_ten)
    repeated(project, llm_judge, 1.0)
    # The first answers come from stored calls, and the second answers cost one call per summary.
    assert len(llm_server.calls) - paid == SETS
    assert list(Verdict.objects.order_by("pk").values_list("pk", "label")) == before
    [found] = judge_quality(project).repeats
    agreement = found.agreement
    assert (found.judge, agreement.checks, agreement.flips.value) == ("scripted", SETS * CLAIMS, 0.1)
    # Only the first claim of each set changed, and each was a yes: 5 of 25.
    assert {name: part.value for name, part in agreement.by_label.items()} == {"no": 0.0, "yes": 0.2}
    assert {name: part.value for name, part in agreement.by_length.items()} == {"up to 8 words": 0.1}
    # The judge says yes to 25 of 50, and then to 20. It agrees with itself on .9, and by chance on .5 x .4 + .5 x .6 =
    # .5, so kappa is (.9 - .5) / (1 - .5) = .8. The ceiling is the square root of kappa.
    assert agreement.kappa_ceiling == pytest.approx(0.8**0.5)
    rows = exported(project, "answers", tmp_path / "answers.jsonl")
    assert [row["kind"] for row in rows].count("repeat") == SETS * CLAIMS
    olga = User.objects.create_user("olga")
    Membership.objects.create(project=project, user=olga, roles=[Role.OWNER])
    page = signed_in(olga).get("/p/mill/scores/judge/").content.decode()
    assert "agree with itself?" in page
    assert "a kappa with people above 0.89" in page
    changed = Check.objects.filter(uncertainty=1.0)
    assert set(changed.values_list("claim__position", flat=True)) == {1}
    assert changed.count() == SETS


def test_a_run_that_is_resumed_pays_for_no_repetition_twice(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.where(flips_one_in_ten)
    run = start_run(project=project, judge=llm_judge, metrics=["coverage"], repeat_share=1.0, by=None)
    judge_all(run)
    paid = len(llm_server.calls)
    run.jobs.update(state="waiting", attempt=0)
    type(run).objects.filter(pk=run.pk).update(state="active")
    judge_all(run)
    assert len(llm_server.calls) == paid


def test_a_share_is_chosen_at_random_and_kept(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    repeated(project, llm_judge, 0.5)
    asked = Verdict.objects.exclude(repeated="").values("check_row__summary").distinct().count()
    # Whole summaries are repeated.
    assert Verdict.objects.exclude(repeated="").count() == CLAIMS * asked
    assert asked <= SETS


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5, float("nan")])
def test_a_share_that_cannot_be_is_refused(project: Project, llm_judge: Judge, share: float) -> None:
    with pytest.raises(Invalid, match="above 0 and at most 1") as refused:
        start_run(project=project, judge=llm_judge, repeat_share=share, by=None)
    assert (refused.value.field, refused.value.code) == ("repeat_share", "invalid_share")

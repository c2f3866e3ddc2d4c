from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.estimates.estimates import estimates
from annotation.analysis.estimates.samples import samples
from annotation.analysis.fingerprint import fingerprint_of
from annotation.core.lists import Viewer
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Check, Event, Project, Sample, SampledCheck
from annotation.projects.services.change_project import change_project
from annotation.reviewing.queries.review_queue import sampled as queue_of
from annotation.reviewing.services.review import override, withdraw_answer
from annotation.sampling.queries.check_samples import check_samples, open_samples
from annotation.sampling.services.cancel_sample import cancel_sample
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.answering import look

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World


def sample(world: World, method: str = "uniform", share: float = 0.5, **more: object) -> Sample:
    return sample_checks(project=world.project, by=world.mona, method=method, share=share, seed=7, **more)  # type: ignore[arg-type]


def chances(sampled: Sample) -> list[float]:
    return [row.inclusion_probability for row in sampled.sampled_checks.all()]


def waiting(world: World, sampled: Sample, person: User) -> list[str]:
    look = queue_of(sampled.public_id).look(Viewer.now(person, world.project), {"sample": sampled.public_id})
    return [row.public_id for row in look.found]


def test_every_system_gets_its_share(world: World) -> None:
    # Four of six checks are sampled, with three checks for each of two systems.
    sampled = sample(world, share=0.67)
    assert chances(sampled) == pytest.approx([2 / 3] * 4)
    systems = sorted(row.check_row.summary.system.name for row in sampled.sampled_checks.all())
    assert systems == ["alder"] * 2 + ["birch"] * 2


def test_checks_that_the_judge_is_unsure_of_have_a_higher_chance(world: World) -> None:
    # Three of six checks are sampled, 1.5 for each system. Half of 1.5 is spread evenly, .25 for each of three checks.
    # The other half is spread in proportion to sqrt(p (1 - p)), where p is the judge's probability; it is .3 for .9 and
    # .4 for .2.
    sampled = sample(world, "active")
    assert len(chances(sampled)) == 3
    for name in ("alder", "birch"):
        spreads = {check.pk: 0.3 if check.judge_probability == 0.9 else 0.4 for check in world.checks(name)}
        for row in sampled.sampled_checks.filter(check_row__summary__system__name=name):
            part = spreads[row.check_row_id] / sum(spreads.values())
            assert row.inclusion_probability == pytest.approx(0.25 + 0.75 * part)


def test_the_frame_holds_every_check_with_the_judges_probability_then(world: World) -> None:
    sampled = sample(world)
    assert dict(sampled.frame) == dict(Check.objects.values_list("public_id", "judge_probability"))
    assert (sampled.share, sampled.seed) == (0.5, 7)


def test_the_same_seed_samples_the_same(world: World) -> None:
    first, second = sample(world), sample(world)
    assert [row.check_row_id for row in first.sampled_checks.all()] == [
        row.check_row_id for row in second.sampled_checks.all()
    ]


def test_what_a_rule_decides_is_never_sampled(world: World) -> None:
    Check.objects.filter(summary=world.summaries["port", "birch"]).update(final_source="rule")
    assert len(sample(world, share=1.0).frame) == 3


def test_the_first_answer_of_somebody_who_knew_nothing_is_that_of_the_sample(world: World) -> None:
    sampled = sample(world, share=1.0)
    check = world.check("alder", 1)
    verdict = override(check=check, by=world.rex, label="no").verdict
    override(check=check, by=world.rex, label="yes")
    row = SampledCheck.objects.get(sample=sampled, check_row=check)
    assert row.verdict == verdict
    assert check.public_id not in waiting(world, sampled, world.rex)


def test_an_answer_that_knew_is_not_and_the_check_waits_for_somebody_else(world: World) -> None:
    sampled = sample(world, share=1.0)
    check = world.check("alder", 1)
    look(check, world.rex)
    override(check=check, by=world.rex, label="yes")
    assert SampledCheck.objects.get(sample=sampled, check_row=check).verdict is None
    assert check.public_id not in waiting(world, sampled, world.rex)
    assert check.public_id in waiting(world, sampled, world.cleo)


def test_the_samples_answer_stays_when_it_is_taken_back(world: World) -> None:
    sampled = sample(world, share=1.0)
    verdict = override(check=world.check("alder", 1), by=world.rex, label="no").verdict
    withdraw_answer(answer=verdict, by=world.rex)
    assert sampled.sampled_checks.get(check_row=verdict.check_row).verdict == verdict


def test_what_somebody_answered_before_knowing_nothing_is_not_asked_again(world: World) -> None:
    first = override(check=world.check("alder", 1), by=world.cleo, label="no").verdict
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    sampled = sample(world, share=1.0)
    assert world.check("alder", 1).public_id not in waiting(world, sampled, world.rex)
    assert sampled.sampled_checks.get(check_row=first.check_row).verdict == first


def test_an_answer_that_was_taken_back_or_given_knowing_the_judges_is_asked_anew(world: World) -> None:
    back = override(check=world.check("alder", 1), by=world.cleo, label="no").verdict
    withdraw_answer(answer=back, by=world.cleo)
    look(world.check("alder", 2), world.cleo)
    override(check=world.check("alder", 2), by=world.cleo, label="no")
    sampled = sample(world, share=1.0)
    assert {world.check("alder", n).public_id for n in (1, 2)} <= set(waiting(world, sampled, world.rex))


def test_where_the_judges_verdict_is_shown_at_once_nothing_is_sampled(world: World) -> None:
    # The project is locked and read again, in case it has changed since the caller read it.
    Project.objects.update(reveal="shown")
    with pytest.raises(Invalid, match="“after own answer” first") as refused:
        sample(world)
    assert refused.value.code == "shown"
    assert not Sample.objects.exists()


@pytest.mark.parametrize(
    ("order", "field"),
    [
        ({"method": "stratified"}, "method"),
        ({"share": 0.0}, "share"),
        ({"share": 1.5}, "share"),
        ({"side": "back"}, "side"),
        ({"side": "summary"}, "side"),
    ],
)
def test_a_sample_that_makes_no_sense_is_refused(world: World, order: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        sample(world, **{"method": "uniform", "share": 0.5, **order})  # type: ignore[arg-type]
    assert refused.value.field == field


def test_a_cancelled_sample_asks_nobody_and_enters_no_estimate(world: World) -> None:
    earlier, sampled = sample(world), sample(world, share=1.0)
    for row in earlier.sampled_checks.all():
        override(check=row.check_row, by=world.rex, label="yes")
    assert estimates(world.project).otherwise.sample is not None
    before = fingerprint_of(world.project)
    cancel_sample(sample=sampled, by=world.mona)
    assert fingerprint_of(world.project) != before
    assert open_samples(world.project) == []
    with pytest.raises(Invalid, match="cancelled"):
        waiting(world, sampled, world.rex)
    assert [each.sample_id for each in samples(world.project)] == [earlier.public_id]
    # A later answer by another way does not count in the cancelled sample.
    for row in sampled.sampled_checks.filter(verdict=None):
        override(check=row.check_row, by=world.rex, label="no")
    assert estimates(world.project).at(None).newer is None
    assert [each.sample_id for each in samples(world.project)] == [earlier.public_id]
    # A cancelled sample no longer prevents showing the judge's verdicts.
    change_project(project=world.project, by=world.olga, reveal="shown")


def test_cancelling_is_logged_once_and_keeps_the_sample_in_lists(world: World) -> None:
    sampled = sample(world)
    override(check=sampled.sampled_checks.all()[0].check_row, by=world.rex, label="yes")
    for _ in range(2):
        cancel_sample(sample=sampled, by=world.mona)
    event = Event.objects.get(verb="cancel sample")
    assert (event.actor, event.target_id, event.data) == (
        world.mona,
        sampled.public_id,
        {"sampled": 3, "answered": 1},
    )
    [listed] = check_samples(world.project)
    assert listed.cancelled_at is not None
    assert not listed.is_open


def test_an_answered_sample_stays_and_only_who_assigns_cancels(world: World) -> None:
    sampled = sample(world)
    with pytest.raises(NotAllowed):
        cancel_sample(sample=sampled, by=world.rex)
    for row in sampled.sampled_checks.all():
        override(check=row.check_row, by=world.rex, label="yes")
    with pytest.raises(Conflict) as refused:
        cancel_sample(sample=sampled, by=world.mona)
    assert refused.value.code == "sample_complete"


def test_the_last_answer_ends_the_sample_in_the_log(world: World) -> None:
    sampled = sample(world)
    last, *others = sampled.sampled_checks.all()
    for row in others:
        override(check=row.check_row, by=world.rex, label="yes")
    assert not Event.objects.filter(verb="finish sample").exists()
    override(check=last.check_row, by=world.rex, label="yes")
    assert Event.objects.get(verb="finish sample").target_id == sampled.public_id

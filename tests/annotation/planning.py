"""Many small document sets with judged claims, for forecasts and samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import Check, Claim, SampledCheck, Summary, System, Verdict
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from tests.annotation.cast import SUMMARIES, add_claims, add_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from annotation.models import Sample
    from tests.annotation.cast import World

PROBABILITIES = (0.95, 0.6, 0.05, 0.3)
"""The judge's probabilities for the four claims of a set, shifted by set and system."""


def lay_sets(world: World, count: int, *, first: int = 0, summaries: Mapping[str, str] = SUMMARIES) -> None:
    for number in range(first, first + count):
        name = f"set-{number:02}"
        add_set(world, name, summaries=summaries)
        claims = add_claims(world, name, ((f"Claim {place}", 1) for place in range(1, 5)))
        for shift, system in enumerate(summaries, start=1):
            _judge(world, claims, world.summaries[name, system], start=number * shift)
    rescore(project=world.project)


def _judge(world: World, claims: list[Claim], summary: Summary, *, start: int) -> None:
    checks = Check.objects.bulk_create(
        Check(
            project=world.project,
            claim=claim,
            summary=summary,
            document_set_id=summary.document_set_id,
            side=Check.Side.REFERENCE,
        )
        for claim in claims
    )
    chances = [PROBABILITIES[(start + place) % 4] for place in range(len(claims))]
    Verdict.objects.bulk_create(
        Verdict(
            check_row=check,
            role=Verdict.Role.JUDGE,
            judge=world.judge,
            origin_name="lexical|v:1",
            label="yes" if chance > 0.5 else "no",
            probability=chance,
        )
        for check, chance in zip(checks, chances, strict=True)
    )


def answer_sample(world: World, sample: Sample, *, ms: int = 0, label: str = "") -> None:
    # Count within the project, so that rows of other tests do not change the result.
    checks = Check.objects.filter(project=world.project).order_by("pk").values_list("pk", flat=True)
    places = {check: place for place, check in enumerate(checks, start=1)}
    waiting = (
        SampledCheck.objects.filter(sample=sample, verdict=None).select_related("check_row").order_by("pk")
    )
    for row in waiting:
        is_yes = (row.check_row.judge_probability or 0.0) > 0.25 and places[row.check_row_id] % 3 > 0
        row.verdict = Verdict.objects.create(
            check_row=row.check_row,
            role=Verdict.Role.REVIEWER,
            person=world.rex,
            label=label or ("yes" if is_yes else "no"),
            active_ms=ms,
        )
        row.save(update_fields=["verdict"])
    rescore(project=world.project)


def leave_cedar_behind(world: World, *, first: int = 0) -> Sample:
    world.systems["cedar"] = System.objects.create(project=world.project, name="cedar")
    lay_sets(world, 24, first=first, summaries={**SUMMARIES, "cedar": "The mayor has resigned."})
    ruled = Check.objects.filter(summary=world.summaries[f"set-{first:02}", "cedar"])[:1]
    Check.objects.filter(pk__in=[check.pk for check in ruled]).update(final_source="rule", final_label="no")
    sample = sample_checks(
        project=world.project, by=world.mona, method="uniform", share=0.4, side="reference", seed=3
    )
    answer_sample(world, sample, label="no")
    ahead = Verdict.objects.filter(role="reviewer", check_row__claim__position__lte=2)
    ahead.exclude(check_row__summary__system__name="cedar").update(label="yes")
    return sample

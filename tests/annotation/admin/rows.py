"""Rows for the pages of the admin."""

from __future__ import annotations

from django.db.models import Model
from django.utils import timezone

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.models import (
    AccountEvent,
    Analysis,
    CachedValue,
    Import,
    Job,
    Judge,
    JudgeCall,
    JudgeExamples,
    PromptVersion,
    Run,
    Sample,
    SampledCheck,
    SetupLink,
    WatchPeriod,
    Worker,
)
from annotation.projects.services.invite import invite
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.review import override
from annotation.watches.make_watch import make_watch
from tests.annotation.asking import answer, make_question
from tests.annotation.cast import World, add_imported_verdict
from tests.annotation.exports.doing import export_with_job
from tests.annotation.rated import judge_rates


def address(model: type[Model], rest: str = "") -> str:
    return f"/admin/annotation/{model._meta.model_name}/{rest}"


def fill(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    decide_check(check=world.check("alder", 2), by=world.cleo, label="no", reason="Not there.")
    assignment = assign(document_set=world.sets["bridge"], assessor=world.ana, by=world.mona, seed=1)
    reading = assignment.readings.order_by("position")[0]
    judge_unit(reading=reading, by=world.ana, unit_id=world.units("bridge")[0].public_id, percent=40)
    add_imported_verdict(world.check("alder", 1), "no")
    sample = Sample.objects.create(project=world.project, method="uniform", seed=1, frame=[])
    SampledCheck.objects.create(sample=sample, check_row=world.check("birch", 1), inclusion_probability=0.5)
    Analysis.objects.create(
        project=world.project, kind="judge", key="k", inputs="", seed=1, payload={}, seconds=0
    )
    invite(project=world.project, roles=["viewer"], by=world.olga)
    write_guidelines(project=world.project, text="One at a time.", by=world.mona)
    claim = world.check("alder", 1).claim
    comment_on_claim(project=world.project, claim=claim, by=world.rex, text="Hm.")
    _fill_what_is_worked_on(world)
    _fill_what_is_kept(world)


def _fill_what_is_worked_on(world: World) -> None:
    run = Run.objects.create(project=world.project, judge=world.judge, metrics=["coverage"])
    Job.objects.create(
        kind="run", project=run.project, run=run, document_set=world.sets["port"], token="secret-token"
    )
    export_with_job(world.project)
    Import.objects.create(project=world.project, files=["a.csv"])
    watch = make_watch(project=world.project, by=None, name="live")
    now = timezone.now()
    WatchPeriod.objects.create(watch=watch, start=now)
    JudgeCall.objects.create(judge=world.judge, key="k", step="check", prompt_version="1", request="{}")
    PromptVersion.objects.create(
        project=world.project, step="cover_summary", number=1, text="Words.", version="1+0"
    )
    question = make_question(world.sets["port"], "Did it rain?", position=1, origin="judge")
    alder = world.summaries["port", "alder"]
    answer(question, "yes", judge=world.judge, summary=alder)
    judge_rates(alder, world.judge, 0.5)


def _fill_what_is_kept(world: World) -> None:
    _fill_accounts(world)
    CachedValue.objects.create(cache_key="counted", value="", expires=timezone.now())
    own = Judge.objects.create(project=world.project, name="own", kind="openai", model="m")
    JudgeExamples.objects.create(judge=own, base=world.judge)
    Worker.objects.create(name="worker-1", started_at=timezone.now(), seen_at=timezone.now())


def _fill_accounts(world: World) -> None:
    AccountEvent.objects.create(kind="sign in", person=world.mona)
    SetupLink.objects.create(secret_hash="h", expires_at=timezone.now())

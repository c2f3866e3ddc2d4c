"""Addresses of a project, with ids of existing rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import URLPattern, reverse

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.assessing.services.assign import assign
from annotation.config.web_urls import project_urls
from annotation.judging.services.ask_questions import ask_questions
from annotation.judging.services.start_run import start_run
from annotation.models import AnswerAgain, Dispute, GuidelineTrial, Sample, Verdict
from annotation.projects.services.invite import invite
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.review import override
from annotation.watches.make_watch import make_watch
from tests.annotation.api.routes import own_panel
from tests.annotation.cast import add_imported_verdict
from tests.annotation.exports.doing import export_with_job
from tests.annotation.imports.refused import refused_import

if TYPE_CHECKING:
    from tests.annotation.cast import World


@dataclass(frozen=True)
class Ids:
    kwargs: dict[str, str]

    @classmethod
    def of(cls, world: World) -> Ids:
        assignment = assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)
        reading = assignment.readings.order_by("position").first()
        assert reading is not None
        check = world.check("alder", 1)
        override(check=check, by=world.rex, label="yes")
        add_imported_verdict(check, "no")
        decision = decide_check(check=world.check("alder", 2), by=world.cleo, label="no", reason="Not said.")
        run = start_run(project=world.project, judge=world.judge, by=None)
        asked = refused_import(world.project)
        export = export_with_job(world.project)
        [question] = ask_questions(document_set=world.sets["port"], texts=["Did it rain?"], by=None)
        sample = Sample.objects.create(project=world.project, method="uniform", share=0.5, seed=7, frame=[])
        member = world.project.memberships.get(user=world.vic)
        invitation = invite(project=world.project, roles=["viewer"], by=world.olga, note="Dan").invitation
        guideline = write_guidelines(project=world.project, text="# Units\n\nOne at a time.", by=world.mona)
        said = comment_on_claim(project=world.project, claim=check.claim, by=world.rex, text="Hm.")
        trial = GuidelineTrial.objects.create(
            project=world.project, old=guideline, new=guideline, side="reference", by_others=True, seed=7
        )
        before = Verdict.objects.create(
            check_row=world.check("birch", 2),
            role="reviewer",
            person=world.ben,
            label="no",
            reason="Not said.",
        )
        again = AnswerAgain.objects.create(
            trial=trial, check_row=before.check_row, verdict=before, is_control=True
        )
        return cls(
            {
                "trial_id": trial.public_id,
                "answer_id": again.public_id,
                "member_id": member.public_id,
                "invitation_id": invitation.public_id,
                "version": str(guideline.version),
                "comment_id": said.public_id,
                "claim_id": check.claim.public_id,
                "reading_id": reading.public_id,
                "assignment_id": assignment.public_id,
                "unit_id": world.units("port")[0].public_id,
                "check_id": check.public_id,
                "sample_id": sample.public_id,
                "dispute_id": Dispute.objects.get(check_row=check).public_id,
                "decision_id": decision.public_id,
                "system_id": world.systems["alder"].public_id,
                "summary_id": world.summaries["port", "alder"].public_id,
                "run_id": run.public_id,
                "watch_id": make_watch(project=world.project, by=None, name="live").public_id,
                "judge_id": own_panel(world).public_id,
                "step": "read_document",
                "export_id": export.public_id,
                "import_id": asked.public_id,
                "set_id": world.sets["port"].public_id,
                "text_id": world.references["port"].public_id,
                "question_id": question.public_id,
                "picture": "ranking",
            }
        )

    def address(self, route: URLPattern, slug: str = "harbour") -> str:
        assert route.name is not None
        wanted = set(route.pattern.converters)
        return reverse(
            route.name, kwargs={"slug": slug, **{k: v for k, v in self.kwargs.items() if k in wanted}}
        )


def addresses(world: World, slug: str = "harbour") -> dict[str, str]:
    ids = Ids.of(world)
    return {str(route.name): ids.address(route, slug) for route in project_urls}

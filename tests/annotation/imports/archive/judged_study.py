"""REALSumm's judged summaries as a study with everything in it: raw votes, a finished sample, percents, decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User

from annotation.adjudicating.services.adjudicate import decide_check, decide_unit
from annotation.analysis.estimates.sample_planned import sample_planned
from annotation.assessing.services.acts import UnitAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import save_at_once
from annotation.imports.packages import NamedFile
from annotation.imports.services import import_new_project
from annotation.judging.services.judge_many import judge_run
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.start_run import start_run
from annotation.models import Check, Claim, DocumentSet, DrawnCheck, Membership, Project, Role, Verdict
from annotation.reviewing.services.review import override
from tests.annotation.cast import finish

if TYPE_CHECKING:
    from pathlib import Path

NAME = "realsumm"
SAMPLED, ASSESSED, DECIDED = 150, 2, 5
ROLES = {"olga": Role.OWNER, "rex": Role.REVIEWER, "ana": Role.ASSESSOR, "cleo": Role.ADJUDICATOR}


def judged_study(folder: Path) -> Project:
    """Reviewers say in the sample what the file's raters said; percents and decisions are made up."""
    path = folder / "realsumm_dev.jsonl"
    import_new_project(slug=NAME, files=[NamedFile(path.name, path)], by=None)
    project = Project.objects.get(slug=NAME)
    people = {name: User.objects.create(username=f"{NAME}-{name}") for name in ROLES}
    for name, role in ROLES.items():
        Membership.objects.create(project=project, user=people[name], roles=[role])
    judge_run(start_run(project=project, judge=judge_by_name("lexical"), metrics=["coverage"], by=None))
    project.refresh_from_db()
    _answer_sample(project, people)
    _give_percents(project, people["ana"])
    _decide(project, people["cleo"])
    return project


def _answer_sample(project: Project, people: dict[str, User]) -> None:
    draw = sample_planned(project=project, by=people["olga"], size=SAMPLED, design="uniform", seed=16)
    rows = DrawnCheck.objects.filter(draw=draw).order_by("pk").values_list("check_row_id", flat=True)
    checks = Check.objects.select_related("project", "peer", "claim").in_bulk(rows)
    said = dict(
        Verdict.objects.filter(check_row__in=rows, person=None, source=Verdict.Source.REVIEWER).values_list(
            "check_row_id", "label"
        )
    )
    for key in rows:
        override(check=checks[key], by=people["rex"], label=said[key])


def _give_percents(project: Project, assessor: User) -> None:
    """On the claims, which stand in for units."""
    for document_set in DocumentSet.objects.filter(project=project).order_by("pk")[:ASSESSED]:
        sitting = assign(document_set=document_set, assessor=assessor, by=None, seed=16)
        claims = Claim.objects.filter(claim_set__summary__document_set=document_set).order_by("position")
        for place, assignment in enumerate(sitting.assignments.order_by("position")):
            acts = [
                UnitAct(seq, assignment.public_id, claim.public_id, 20 * ((seq + place) % 6), note="Seen.")
                for seq, claim in enumerate(claims, start=1)
            ]
            save_at_once(sitting=sitting, by=assessor, acts=acts)
        finish(sitting)


def _decide(project: Project, by: User) -> None:
    checks = Check.objects.filter(project=project).select_related("project", "peer", "claim").order_by("-pk")
    for check in checks[:DECIDED]:
        decide_check(check=check, by=by, label="unsure", reason="It may be meant.")
    assessed = DocumentSet.objects.filter(project=project).order_by("pk")[0]
    for peer in assessed.summaries.filter(is_peer=True).order_by("pk")[:DECIDED]:
        comparison = peer.comparisons_as_peer.get()
        claim = Claim.objects.filter(claim_set__summary=comparison.model).order_by("position")[0]
        decide_unit(comparison=comparison, unit=claim, by=by, percent=40, reason="Two of five.")

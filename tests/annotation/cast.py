"""The cast and the small project that the tests of `annotation` share.

In the project "harbour", Olga owns, Mona manages, Rex reviews, Cleo adjudicates and views, Ana and Ben assess, and Vic
is a viewer. Dan is an outsider: he owns "quarry", which has no other member.

The set "port" has one document of three sentences and a reference of two units. Two claims are linked to the first
unit, one to the second. Two systems, "alder" and "birch", have summaries of two sentences with a target of 20 words.
The judge says yes, no, yes for alder and no, no, no for birch. The set "bridge" has a reference without claims, one
summary of each system, and no checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import User

from annotation.assessing.queries.progress import AssessingProgress
from annotation.assessing.services.acts import Act, RatingAct
from annotation.assessing.services.close_assignment import close_assignment
from annotation.assessing.services.save_acts import save_acts
from annotation.core.criteria import criterion_of
from annotation.models import (
    Assignment,
    Check,
    Claim,
    ClaimSet,
    Comparison,
    Document,
    DocumentSet,
    Judge,
    Membership,
    Project,
    Role,
    Summary,
    System,
    Unit,
    Verdict,
)
from annotation.scoring.rescore import rescore
from evaluation.metrics import UNMARKED
from evaluation.text import sentence_spans

SOURCE = (
    "The harbour of Lund closes in April because its wall is weak. "
    "The repair costs 40 million crowns and takes two years. "
    "Ferries will use the southern quay."
)
REFERENCE = "The harbour closes in April because its wall is weak. Ferries move to the southern quay."
CLAIMS = (
    ("The harbour closes in April", 1),
    ("its wall is weak", 1),
    ("Ferries move to the southern quay", 2),
)
SUMMARIES = {
    "alder": "The harbour of Lund closes in April. Ferries will use the southern quay.",
    "birch": "A repair is planned in Lund. It costs 40 million crowns.",
}
JUDGED = {"alder": ("yes", "no", "yes"), "birch": ("no", "no", "no")}


def add_imported_verdict(check: Check, label: str, *, origin_name: str = "gold.jsonl") -> Verdict:
    verdict = Verdict.objects.create(
        check_row=check, role=Verdict.Role.REVIEWER, origin_name=origin_name, label=label
    )
    rescore(project=check.project, summary_ids=[check.summary_id])
    return verdict


def add_units(text: str, **place: Summary | Document) -> list[Unit]:
    return Unit.objects.bulk_create(
        Unit(position=number, start=span.start, end=span.end, **place)
        for number, span in enumerate(sentence_spans(text), start=1)
    )


@dataclass
class World:
    project: Project
    other_project: Project
    judge: Judge
    users: dict[str, User]
    sets: dict[str, DocumentSet] = field(default_factory=dict)
    references: dict[str, Summary] = field(default_factory=dict)
    systems: dict[str, System] = field(default_factory=dict)
    summaries: dict[tuple[str, str], Summary] = field(default_factory=dict)

    def __getattr__(self, name: str) -> User:
        try:
            return self.__dict__["users"][name]
        except KeyError:
            raise AttributeError(name) from None

    def comparison(self, document_set: str, system: str) -> Comparison:
        return Comparison.objects.get(summary=self.summaries[document_set, system])

    def check(self, system: str, position: int) -> Check:
        return Check.objects.select_related("project", "summary", "claim").get(
            summary=self.summaries["port", system], claim__position=position, side=Check.Side.REFERENCE
        )

    def checks(self, system: str) -> list[Check]:
        return [self.check(system, position) for position in (1, 2, 3)]

    def units(self, document_set: str) -> list[Unit]:
        return list(self.references[document_set].units.order_by("position"))


MEMBERS = {
    "olga": [Role.OWNER],
    "mona": [Role.MANAGER],
    "rex": [Role.REVIEWER],
    "cleo": [Role.ADJUDICATOR, Role.VIEWER],
    "ana": [Role.ASSESSOR],
    "ben": [Role.ASSESSOR],
    "vic": [Role.VIEWER],
}


def make_world() -> World:
    judge = Judge.objects.create(name="lexical", kind=Judge.Kind.LEXICAL)
    project = Project.objects.create(slug="harbour", name="Harbour study", deciding_judge=judge)
    other = Project.objects.create(slug="quarry", name="Quarry study")
    criterion_of(project, UNMARKED)
    users = {name: User.objects.create_user(name, password=f"{name}-secret") for name in [*MEMBERS, "dan"]}
    Membership.objects.bulk_create(
        Membership(project=project, user=users[name], roles=roles) for name, roles in MEMBERS.items()
    )
    Membership.objects.create(project=other, user=users["dan"], roles=[Role.OWNER])
    made = World(project=project, other_project=other, judge=judge, users=users)
    for name, kind in (("alder", System.Kind.SUMMARISER), ("birch", System.Kind.SUMMARISER)):
        made.systems[name] = System.objects.create(project=project, name=name, kind=kind)
    for external_id in ("port", "bridge"):
        add_set(made, external_id)
    judge_claims(made, "port", add_claims(made, "port", CLAIMS), JUDGED)
    rescore(project=project)
    return made


def answer_rest(assignment: Assignment) -> None:
    progress = AssessingProgress.load(assignment.document_set.project, [assignment.pk]).of(assignment.pk)
    acts: list[Act] = []
    for summary in progress.summaries.values():
        asked = [*summary.unanswered("before"), *(summary.unanswered("after") if summary.is_judged else ())]
        last = summary.pieces[-1].reading_id
        acts += [RatingAct(last, each.public_id, each.fact.values[0]) for each in asked]
    if acts:
        save_acts(assignment=assignment, by=assignment.assessor, acts=acts, all_or_none=True)


def finish(assignment: Assignment) -> Assignment:
    answer_rest(assignment)
    return close_assignment(assignment=assignment, by=assignment.assessor)


def add_set(
    world: World,
    external_id: str,
    *,
    source: str = SOURCE,
    reference: str = REFERENCE,
    summaries: Mapping[str, str] = SUMMARIES,
    target_words: int = 20,
) -> None:
    document_set = DocumentSet.objects.create(project=world.project, external_id=external_id)
    document = Document.objects.create(document_set=document_set, position=1, text=source)
    add_units(source, document=document)
    row = Summary.objects.create(document_set=document_set, is_reference=True, text=reference)
    add_units(reference, summary=row)
    world.sets[external_id], world.references[external_id] = document_set, row
    for name, text in summaries.items():
        summary = Summary.objects.create(
            document_set=document_set,
            system=world.systems[name],
            is_summary=True,
            target_words=target_words,
            text=text,
        )
        add_units(text, summary=summary)
        Comparison.objects.create(summary=summary, reference=row)
        world.summaries[external_id, name] = summary


def add_claims(world: World, external_id: str, claims: Iterable[tuple[str, int]]) -> list[Claim]:
    reference = world.references[external_id]
    units = {unit.position: unit for unit in reference.units.all()}
    claim_set = ClaimSet.objects.create(summary=reference, origin="judge", origin_name="lexical")
    return Claim.objects.bulk_create(
        Claim(claim_set=claim_set, unit=units[unit], position=position, text=text, origin="judge")
        for position, (text, unit) in enumerate(claims, start=1)
    )


def judge_claims(
    world: World, external_id: str, claims: Sequence[Claim], judged: Mapping[str, Sequence[str]]
) -> None:
    for place, (name, labels) in enumerate(judged.items()):
        for claim, label in zip(claims, labels, strict=True):
            check = Check.objects.create(
                project=world.project,
                claim=claim,
                summary=world.summaries[external_id, name],
                document_set=world.sets[external_id],
                side=Check.Side.REFERENCE,
                queue_key=len(judged) * claim.position + place,
            )
            Verdict.objects.create(
                check_row=check,
                role=Verdict.Role.JUDGE,
                judge=world.judge,
                origin_name="lexical|v:1",
                label=label,
                probability=0.9 if label == "yes" else 0.2,
                evidence=[1] if label == "yes" else [],
                reason="" if label == "yes" else "no mention of: wall",
            )

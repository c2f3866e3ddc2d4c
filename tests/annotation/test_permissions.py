from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser, User

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.assessing.services.assign import assign, assign_sets
from annotation.assessing.services.queue import pull
from annotation.assessing.services.unassign import unassign
from annotation.core.permissions import (
    BLIND_VERBS,
    ROLE_VERBS,
    Verb,
    require,
    verbs_in,
    visible_projects,
)
from annotation.core.refusals import NotAllowed, NotFound
from annotation.models import Role
from annotation.projects.services.change_members import set_roles
from annotation.projects.services.change_project import change_project
from annotation.projects.services.invite import invite
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.look_at_check import look_at
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from annotation.texts.services.change_claims import add_claim, remove_claim
from annotation.texts.services.change_units import join_units
from tests.annotation.cast import MEMBERS, World


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_may_do_exactly_what_the_table_says(world: World, name: str) -> None:
    verbs = frozenset().union(*(ROLE_VERBS[role] for role in MEMBERS[name]))
    assert verbs_in(getattr(world, name), world.project) == verbs


def test_the_anonymous_are_outside_of_everything(world: World) -> None:
    assert not visible_projects(AnonymousUser()).exists()
    assert verbs_in(AnonymousUser(), world.project) == frozenset()


def test_people_see_their_own_projects_only(world: World) -> None:
    assert [project.slug for project in visible_projects(world.dan)] == ["quarry"]


def test_a_superuser_sees_all(world: World) -> None:
    root = User.objects.create_superuser("root")
    assert visible_projects(root).count() == 2
    assert verbs_in(root, world.project) == frozenset(Verb)


@pytest.mark.parametrize("verb", sorted(set(Verb) - BLIND_VERBS))
def test_open_assessor_work_closes_every_verb_that_would_tell(world: World, verb: Verb) -> None:
    membership = world.olga.memberships.get()
    membership.roles = [Role.OWNER, Role.ASSESSOR]
    membership.save(update_fields=["roles"])
    assign(document_set=world.sets["port"], assessor=world.olga, by=world.mona)
    with pytest.raises(NotAllowed) as refused:
        require(world.olga, world.project, verb)
    assert refused.value.code == "blind"
    assert verbs_in(world.olga, world.project) == BLIND_VERBS


SERVICES: dict[str, Callable[[World, User], object]] = {
    "assign": lambda w, by: assign(document_set=w.sets["port"], assessor=w.ben, by=by),
    "assign sets": lambda w, by: assign_sets(project=w.project, people=[w.ben], per_set=1, by=by),
    "pull": lambda w, by: pull(project=w.project, by=by),
    "unassign": lambda w, by: unassign(
        assignment=assign(document_set=w.sets["port"], assessor=w.ana, by=None), by=by
    ),
    "decide": lambda w, by: decide_check(check=w.check("alder", 1), by=by, label="no"),
    "review": lambda w, by: override(check=w.check("alder", 1), by=by, label="no"),
    "look": lambda w, by: look_at(check=w.check("alder", 1), by=by),
    "comment": lambda w, by: comment_on_claim(
        project=w.project, claim=w.check("alder", 1).claim, by=by, text="So."
    ),
    "remove claim": lambda w, by: remove_claim(claim=w.check("alder", 1).claim, by=by),
    "add claim": lambda w, by: add_claim(owner=w.references["port"], by=by, text="It shuts", unit=1),
    "join units": lambda w, by: join_units(
        summary=w.references["bridge"], by=by, unit_id=w.units("bridge")[0].public_id
    ),
    "sample": lambda w, by: sample_checks(project=w.project, by=by, method="uniform", share=0.5),
    "set roles": lambda w, by: set_roles(project=w.project, person=w.ben, roles=["viewer"], by=by),
    "change project": lambda w, by: change_project(project=w.project, by=by, blend="weighted"),
    "invite": lambda w, by: invite(project=w.project, roles=["viewer"], by=by),
    "write guidelines": lambda w, by: write_guidelines(project=w.project, text="One.", by=by),
}


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_asks_whichever_door_it_is_called_by(world: World, service: str) -> None:
    for person, refusal in ((world.vic, NotAllowed), (world.dan, NotFound)):
        with pytest.raises(refusal):
            SERVICES[service](world, person)


def test_the_architecture_page_samples_the_same_table() -> None:
    page = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text()
    sampled = page.split("<!-- roles: begin -->")[1].split("<!-- roles: end -->")[0].strip().splitlines()
    header = [cell.strip() for cell in sampled[0].strip("|").split("|")]
    assert header == ["verb", *(role.value for role in Role), "while blind"]
    for line, verb in zip(sampled[2:], Verb, strict=True):
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        holders = [*(verb in ROLE_VERBS[role] for role in Role), verb in BLIND_VERBS]
        assert name == verb.value
        assert [cell == "yes" for cell in cells] == holders, verb

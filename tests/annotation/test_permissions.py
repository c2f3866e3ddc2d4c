"""The table of role x verb, blindness, and who sees which project."""

from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser, User

from annotation.assessing.services.assign import assign
from annotation.core.permissions import (
    BLIND_VERBS,
    ROLE_VERBS,
    Verb,
    project_for,
    require,
    verbs_in,
    visible_projects,
)
from annotation.core.refusals import NotAllowed, NotFound
from annotation.models import Role
from tests.annotation.cast import MEMBERS, World


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_may_do_exactly_what_the_table_says(world: World, name: str) -> None:
    (role,) = MEMBERS[name]
    assert verbs_in(getattr(world, name), world.project) == ROLE_VERBS[role]


@pytest.mark.parametrize("verb", Verb)
def test_an_outsider_finds_no_project_whatever_the_verb(world: World, verb: Verb) -> None:
    with pytest.raises(NotFound):
        project_for(world.dan, "harbour", verb)


def test_a_missing_project_answers_an_outsider_with_the_same_words(world: World) -> None:
    said = []
    for slug in ("harbour", "nowhere"):
        with pytest.raises(NotFound) as refused:
            project_for(world.dan, slug, Verb.VIEW_PROJECT)
        said.append((refused.value.message, refused.value.code))
    assert said[0] == said[1]


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

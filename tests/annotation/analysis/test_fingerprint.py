from __future__ import annotations

import pytest

from annotation.analysis.fingerprint import fingerprint_of
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def test_nothing_changed_is_nothing_changed(world: World) -> None:
    assert fingerprint_of(world.project) == fingerprint_of(world.project)


def test_an_answer_changes_it(world: World) -> None:
    before = fingerprint_of(world.project)
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    assert fingerprint_of(world.project) != before


def test_rescoring_changes_it(world: World) -> None:
    before = fingerprint_of(world.project)
    rescore(project=world.project)
    assert fingerprint_of(world.project) != before


def test_a_rule_of_the_project_changes_it(world: World) -> None:
    before = fingerprint_of(world.project)
    world.project.composite_weight = 0.5
    assert fingerprint_of(world.project) != before


def test_a_sample_changes_it_and_so_does_its_first_answer(world: World) -> None:
    before = fingerprint_of(world.project)
    sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0)
    sampled = fingerprint_of(world.project)
    assert sampled != before


def test_another_project_has_another(world: World) -> None:
    before = fingerprint_of(world.other_project)
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    assert fingerprint_of(world.other_project) == before


def test_what_else_is_named_counts(world: World) -> None:
    assert fingerprint_of(world.project, "a") != fingerprint_of(world.project, "b")

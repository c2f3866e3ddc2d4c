from collections import defaultdict
from pathlib import Path

import pytest

from annotation.adjudicating.services.adjudicate import decide_check, decide_unit
from annotation.assessing.services.acts import Act, UnitAct
from annotation.assessing.services.close_assignment import close_assignment
from annotation.assessing.services.save_acts import save_acts
from annotation.core.current_checks import put_in_force
from annotation.core.tables.pseudonyms import pseudonym
from annotation.exports.answers import LEVEL
from annotation.models import Assignment, Check, ClaimSet, Rating, Reading, SampledCheck, Verdict
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.reviewing.services.review import override, withdraw_answer
from annotation.sampling.services.sample_checks import sample_checks
from evaluation.metrics import Criterion
from tests.annotation.cast import World
from tests.annotation.exports.acts import LONG_AGO, assess, assess_and_close, long_ago
from tests.annotation.exports.reading import Rows, exported
from tests.annotation.laying import assign_part
from tests.annotation.rated import ask, on

pytestmark = pytest.mark.django_db

PERCENTS = {("alder", 1): 60, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 20}


def judgments(world: World, folder: Path, *kinds: str) -> Rows:
    rows = exported(world.project, "answers", folder / "answers.jsonl", named=True)
    return [row for row in rows if not kinds or row["kind"] in kinds]


def percents_of_people(world: World, folder: Path) -> Rows:
    return [row for row in judgments(world, folder, "unit") if row["rater_kind"] == "assessor"]


def test_a_judge_is_one_more_assessor(world: World, tmp_path: Path) -> None:
    rows = [row for row in judgments(world, tmp_path, "unit") if row["system"] == "alder"]
    # Unit 1 has claims 1 (yes, evidence 1) and 2 (no); unit 2 has claim 3 (yes, evidence 1).
    names = ("rater", "rater_kind", "unit", "value", "evidence")
    told = [tuple(row[name] for name in names) for row in rows]
    assert told == [("lexical", "judge", 1, "50", [1]), ("lexical", "judge", 2, "100", [1])]


def test_a_judges_verdict(world: World, tmp_path: Path) -> None:
    long_ago()
    row = judgments(world, tmp_path, "check")[1]
    claim, at = world.check("alder", 2).claim.public_id, LONG_AGO.isoformat()
    assert list(row) == [column.name for column in LEVEL.columns]
    assert list(row.values()) == [
        *("harbour", "port", "alder", 20, "check", None, 1, claim, "lexical", "judge", "no"),
        *("no mention of: wall", [], at, None, None, False, None, None, None),
    ]


def test_an_assessors_percents(world: World, tmp_path: Path) -> None:
    assess_and_close(world, world.ana, PERCENTS)
    Reading.objects.update(submitted_at=LONG_AGO)
    rows = percents_of_people(world, tmp_path)
    percents = {(row["system"], row["unit"]): int(row["value"]) for row in rows}
    assert (percents, len(rows)) == (PERCENTS, 4)
    assert (rows[0]["rater"], rows[0]["rater_kind"], rows[0]["evidence"]) == ("ana", "assessor", [1])
    assert (rows[0]["submitted_at"], rows[0]["superseded"]) == (LONG_AGO.isoformat(), False)


def test_nothing_of_an_open_assignment_is_there(world: World, tmp_path: Path) -> None:
    assignment = assess(world, world.ana, PERCENTS)
    Rating.objects.create(
        criterion=world.project.criteria.get(),
        summary=world.summaries["port", "alder"],
        role="assessor",
        person=world.ana,
        assignment=assignment,
        value=40,
    )
    assert percents_of_people(world, tmp_path) == judgments(world, tmp_path, "rating") == []


def test_a_percent_changed_before_the_set_was_closed_is_superseded(world: World, tmp_path: Path) -> None:
    assess(world, world.ana, {("alder", 1): 20})
    assess_and_close(world, world.ana, PERCENTS)
    rows = percents_of_people(world, tmp_path)
    rows = [row for row in rows if (row["system"], row["unit"]) == ("alder", 1)]
    assert [(row["value"], row["superseded"]) for row in rows] == [("20", True), ("60", False)]


def test_ratings_are_answers_one_by_one(world: World, tmp_path: Path) -> None:
    ask(
        world.project,
        Criterion("focus", "How clear?", points=((1, "poor"), (2, "good"))),
        Criterion("new", "Is it?", "yes_no"),
    )
    assignment = assign_part(world, "port", world.ana, "birch")
    assignment = Assignment.objects.get(pk=assignment.pk)
    here = assignment.readings.get().public_id
    acts: list[Act] = [on(here, "focus", 1), on(here, "new", 1)]
    acts += [UnitAct(here, unit.public_id, 20, [1]) for unit in world.units("port")]
    acts += [on(here, "unmarked", 60), on(here, "focus", 2), on(here, "unmarked", 40)]
    save_acts(assignment=assignment, by=world.ana, acts=acts, all_or_none=True)
    close_assignment(assignment=assignment, by=world.ana)
    # The question has changed, so answers to the old question no longer count.
    ask(
        world.project,
        Criterion("focus", "How clear?", points=((1, "poor"), (2, "good"))),
        Criterion("new", "Is it so?", "yes_no"),
    )
    rows = judgments(world, tmp_path, "rating")
    assert {(row["system"], row["rater"], row["rater_kind"], row["blind"]) for row in rows} == {
        ("birch", "ana", "assessor", True)
    }
    assert [(row["claim_id"], row["value"], row["superseded"]) for row in rows] == [
        ("focus", "1", True),
        ("new", "1", True),
        ("unmarked", "60", True),
        ("focus", "2", False),
        ("unmarked", "40", False),
    ]


def test_a_reviewers_second_answer_supersedes_the_first(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    override(check=world.check("alder", 1), by=world.rex, label="unsure")
    rows = [row for row in judgments(world, tmp_path) if row["rater_kind"] == "reviewer"]
    assert [(row["value"], row["superseded"]) for row in rows] == [("no", True), ("unsure", False)]


def test_a_verdict_taken_back_is_superseded_and_the_one_before_stands(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    second = override(check=world.check("alder", 1), by=world.rex, label="unsure").verdict
    withdraw_answer(answer=second, by=world.rex)
    rows = [row for row in judgments(world, tmp_path) if row["rater_kind"] == "reviewer"]
    assert [(row["value"], row["superseded"]) for row in rows] == [("no", False), ("unsure", True)]


def test_a_judge_that_fails_later_does_not_take_its_answer_back(world: World, tmp_path: Path) -> None:
    Verdict.objects.create(
        check_row=world.check("alder", 1), role="judge", judge=world.judge, origin_name="lexical|v:1"
    )
    claim_id = world.check("alder", 1).claim.public_id
    rows = [
        row for row in judgments(world, tmp_path) if (row["system"], row["claim_id"]) == ("alder", claim_id)
    ]
    assert [(row["value"], row["superseded"]) for row in rows] == [("yes", False), (None, True)]


def test_an_answer_given_in_a_sample_of_checks(world: World, tmp_path: Path) -> None:
    sample_checks(project=world.project, by=world.mona, share=1.0, method="uniform")
    sampled = SampledCheck.objects.get(check_row=world.check("alder", 1))
    sampled.inclusion_probability = 0.5
    sampled.save()
    first = override(check=world.check("alder", 1), by=world.rex, label="no").verdict
    assert SampledCheck.objects.get(pk=sampled.pk).verdict == first
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    rows = [row for row in judgments(world, tmp_path) if row["rater_kind"] == "reviewer"]
    # Only the first answer belongs to the sample.
    assert [(row["value"], row["selected_by"], row["inclusion_probability"]) for row in rows] == [
        ("no", "uniform", 0.5),
        ("yes", None, None),
    ]


def test_the_guidelines_that_a_person_had(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    write_guidelines(project=world.project, by=world.olga, text="Say yes where it is said.")
    override(check=world.check("alder", 1), by=world.rex, label="unsure")
    decide_check(check=world.check("alder", 1), by=world.cleo, label="yes", reason="It is.")
    decide_unit(
        comparison=world.comparison("port", "alder"),
        unit=world.units("port")[0],
        by=world.cleo,
        percent=40,
        reason="So.",
    )
    assess_and_close(world, world.ana, PERCENTS)
    rows = judgments(world, tmp_path)
    versions: defaultdict[tuple[object, object], list[object]] = defaultdict(list)
    for row in rows:
        versions[row["kind"], row["rater"]].append(row["guideline_version"])
    assert versions["check", "rex"] == [None, 1]
    assert versions["check", "cleo"] == versions["unit", "cleo"] == [1]
    assert versions["unit", "ana"] == [1, 1, 1, 1]
    assert set(versions["check", "lexical"]) == {None}


def test_decisions_and_those_taken_back(world: World, tmp_path: Path) -> None:
    withdraw_answer(
        answer=decide_check(check=world.check("alder", 2), by=world.cleo, label="yes", reason="It does."),
        by=world.cleo,
    )
    decide_unit(
        comparison=world.comparison("port", "birch"),
        unit=world.units("port")[1],
        by=world.cleo,
        percent=20,
        reason="A trace.",
    )
    rows = [row for row in judgments(world, tmp_path) if row["rater_kind"] == "adjudicator"]
    assert [(row["system"], row["kind"], row["unit"], row["value"], row["superseded"]) for row in rows] == [
        ("alder", "check", 1, "yes", True),
        ("birch", "unit", 2, "20", False),
    ]


def test_answers_on_a_replaced_claim_set_are_superseded(world: World, tmp_path: Path) -> None:
    ClaimSet.objects.update(is_active=False)
    put_in_force(Check.objects.all())
    assert {row["superseded"] for row in judgments(world, tmp_path)} == {True}


def test_people_are_pseudonyms_by_default(world: World, tmp_path: Path) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    rows = exported(world.project, "answers", tmp_path / "answers.jsonl")
    raters = {row["rater"] for row in rows if row["rater_kind"] == "reviewer"}
    assert raters == {pseudonym(world.project, world.rex.pk)}

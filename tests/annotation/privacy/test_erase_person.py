from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import models, transaction
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken

from annotation.accounts.tokens import make_token
from annotation.analysis.agreement.ratings import check_answers, percent_ratings
from annotation.analysis.estimates.estimates import estimates
from annotation.assessing.services.assign import assign
from annotation.assessing.services.unassign import unassign
from annotation.core import jobs
from annotation.exports.services import request_export
from annotation.exports.write import write_file
from annotation.management.commands.verify_scores import differences
from annotation.models import (
    SCORES,
    Comment,
    CoverageJudgment,
    Event,
    Invitation,
    Job,
    Membership,
    Role,
    Score,
    Verdict,
)
from annotation.privacy.erase_person import erase_person
from annotation.privacy.project_rows import unlock_log
from annotation.projects.services.accept_invitation import accept_invitation
from annotation.projects.services.change_members import set_roles
from annotation.projects.services.invite import hash_of, invite
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.admin.rows import fill
from tests.annotation.exports.doing import perform, perform_claimed
from tests.annotation.laying import judge_and_close

if TYPE_CHECKING:
    from tests.annotation.cast import World

ANSWERS = {"alder": ("yes", "no", "yes"), "birch": ("no", "yes", "no")}
NAMED = "quillmaster"
"""A name that no other text of the tests contains."""


@pytest.fixture
def quill(world: World) -> User:
    fill(world)
    person = User.objects.create_user(
        NAMED,
        email="a.quillmaster@example.org",
        password="a-long-secret",
        first_name="Ada",
        last_name="Quillmaster",
        is_staff=True,
        last_login=timezone.now(),
    )
    invited = invite(project=world.project, roles=list(Role.values), by=world.olga, note="Ada Quillmaster")
    accept_invitation(secret=invited.secret, by=person)
    set_roles(project=world.project, person=person, roles=list(Role.values), by=world.olga)
    # One invitation has an earlier address of the person, the other the current one.
    Invitation.objects.filter(accepted_by=person).update(email="old.quillmaster@example.org")
    again = invite(project=world.project, roles=[Role.VIEWER], by=world.olga)
    Invitation.objects.filter(secret_hash=hash_of(again.secret)).update(email=person.email.upper())
    override(check=world.check("birch", 1), by=person, label="yes", reason="Because I, Ada, say so.")
    override(check=world.check("birch", 1), by=world.rex, label="no", reason="It does not.")
    claim = world.check("alder", 1).claim
    comment_on_claim(project=world.project, claim=claim, by=person, text="Mine.")
    judge_and_close(assign(document_set=world.sets["port"], assessor=person, by=world.mona))
    other = assign(document_set=world.sets["bridge"], assessor=person, by=person)
    unassign(assignment=other, by=world.mona)
    perform(
        request_export(project=world.project, level="answers", format="csv", by=person, named_people=True)
    )
    make_token(person=person)
    client = Client()
    client.post("/accounts/login/", {"login": NAMED, "password": "a-long-secret"})
    Client().post("/accounts/login/", {"login": NAMED, "password": "wrong"})
    kind = ContentType.objects.get_for_model(User)
    LogEntry.objects.create(
        user=User.objects.create_superuser("root"),
        content_type=kind,
        object_id=str(person.pk),
        object_repr=NAMED,
        action_flag=CHANGE,
    )
    member = Membership.objects.get(user=person)
    for key in (member.pk, 0):  # an existing membership and a deleted one
        LogEntry.objects.create(
            user=world.olga,
            content_type=ContentType.objects.get_for_model(Membership),
            object_id=str(key),
            object_repr=str(member),
            action_flag=CHANGE,
        )
    return person


STAYS_UNDER_THE_PSEUDONYM = {
    "AnswerAgain.person",
    "CoverageJudgment.person",
    "Check.leased_to",
    "Look.person",
    "Comment.author",
    "Dispute.leased_to",
    "Event.actor",
    "Export.requested_by",
    "Guideline.by",
    "Import.requested_by",
    "Invitation.accepted_by",
    "Invitation.by",
    "PromptVersion.created_by",
    "Rating.person",
    "Run.started_by",
    "Assignment.assessor",
    "Verdict.person",
}
FREE_TEXTS_OF_PEOPLE = {
    # These are removed with `remove_texts`.
    "CoverageJudgment.reason",
    "Comment.text",
    "Rating.reason",
    "Verdict.reason",
    # These are removed with the account, or emptied.
    "AccountEvent.note",
    "Invitation.note",
    # These belong to the project: docs/privacy.md leaves them to the operator.
    "Guideline.note",
    "Guideline.text",
    "PromptVersion.text",
}


def test_every_reference_to_a_person_goes_or_is_known_to_stay() -> None:
    """A new reference without a cascade, or a new text beside a reference, must be listed in one of two sets."""
    stays, texts = set(), set()
    for model in apps.get_models():
        of_people = [field for field in model._meta.concrete_fields if field.related_model is User]
        stays |= {
            f"{model.__name__}.{field.name}"
            for field in of_people
            if field.remote_field.on_delete is not models.CASCADE
        }
        texts |= {
            f"{model.__name__}.{field.name}"
            for field in model._meta.concrete_fields
            if of_people and field.name in {"reason", "note", "text", "comment", "fault"}
        }
    assert stays == STAYS_UNDER_THE_PSEUDONYM
    assert texts == FREE_TEXTS_OF_PEOPLE


def traces(*names: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for model in apps.get_models(include_auto_created=True):
        columns = [
            field.attname
            for field in model._meta.concrete_fields
            if isinstance(field, models.CharField | models.TextField | models.JSONField)
        ]
        for row in model._base_manager.values(*columns) if columns else ():
            for column, value in row.items():
                said = json.dumps(value, default=str, ensure_ascii=False).casefold()
                if any(name in said for name in names):
                    found.setdefault(f"{model.__name__}.{column}", []).append(value)
    return found


def test_nothing_leads_to_them_any_more(world: World, quill: User) -> None:
    before = traces("quillmaster")
    assert {"User.username", "Event.data", "Invitation.note"} <= before.keys()
    gone = erase_person(person=quill)
    assert traces("quillmaster") == {}
    assert (
        gone["django_session"]
        == gone["usersessions_usersession"]
        == gone["knox_authtoken"]
        == gone["exported files"]
        == 1
    )
    quill.refresh_from_db()
    assert not quill.has_usable_password()
    assert (quill.is_active, quill.is_staff, quill.email, quill.last_login) == (False, False, "", None)
    assert quill.username.startswith("erased-")
    assert not Membership.objects.filter(user=quill).exists()
    assert not AuthToken.objects.filter(user=quill).exists()
    assert not Client().login(username=NAMED, password="a-long-secret")


def test_files_go_where_their_answers_alone_are_left(world: World) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    perform(
        request_export(project=world.project, level="answers", format="csv", by=world.olga, named_people=True)
    )
    Membership.objects.filter(user=world.rex).delete()
    with transaction.atomic():
        unlock_log(world.project)
        Event.objects.all()._raw_delete(using="default")
    assert erase_person(person=world.rex)["exported files"] == 1


def test_a_file_that_is_being_written_with_their_name_comes_to_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = request_export(
        project=world.project, level="answers", format="csv", by=world.olga, named_people=True
    )
    [claimed] = jobs.take(jobs.due(Job.Kind.EXPORT))

    def written_meanwhile(**given: Any) -> Any:
        manifest = write_file(**given)
        erase_person(person=world.rex)
        return manifest

    monkeypatch.setattr("annotation.exports.services.write_file", written_meanwhile)
    with pytest.raises(jobs.StoppedJob):
        perform_claimed(claimed)
    export.refresh_from_db()
    assert (export.path, export.manifest) == ("", {})
    assert not (settings.VAR_DIR / "exports" / export.public_id).exists()


def test_their_answers_count_as_before(world: World, quill: User) -> None:
    def counted() -> list[Any]:
        scores = Score.objects.order_by("pk").values_list("summary", *SCORES)
        said = Verdict.objects.order_by("pk").values_list("check_row", "label", "person", "withdrawn_at")
        people = {each.username: each.pk for each in User.objects.all()}
        told = [
            sorted(
                (each.item, str(each.value), str(people.get(each.rater, each.rater)))
                for each in percent_ratings(world.project)
            ),
            sorted(
                (each.check, each.label, str(people.get(each.rater, each.rater)))
                for each in check_answers(world.project)
            ),
        ]
        found = estimates(world.project).at(20)
        estimated = [found.answers, *(found.average(system) for system in ("alder", "birch"))]
        return [list(scores), list(said), *told, estimated]

    sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=1)
    for system, labels in ANSWERS.items():
        for check, label in zip(world.checks(system), labels, strict=True):
            override(check=check, by=quill, label=label)
    before = counted()
    assert before[-1][0] == 6
    assert any(quill.pk in row for row in before[1])
    erase_person(person=quill)
    assert counted() == before
    assert list(differences(world.project)) == []


@pytest.mark.parametrize("remove_texts", [False, True])
def test_what_they_wrote_freely_stays_or_goes(world: World, quill: User, remove_texts: bool) -> None:
    erase_person(person=quill, remove_texts=remove_texts)
    verdict = Verdict.objects.get(person=quill)
    comment = Comment.objects.get(author=quill)
    assert (verdict.label, verdict.reason) == ("yes", "" if remove_texts else "Because I, Ada, say so.")
    assert (comment.text, comment.withdrawn_at is not None) == (
        "(erased)" if remove_texts else "Mine.",
        remove_texts,
    )
    assert (traces("because i, ada") == {}) == remove_texts
    # Other people's texts stay, without the name.
    assert Verdict.objects.filter(person=world.rex, reason="It does not.").exists()


def test_a_dry_run_changes_nothing(world: World, quill: User) -> None:
    before = traces("quillmaster")
    told = io.StringIO()
    call_command("erase_person", NAMED, dry_run=True, stdout=told)
    assert "knox_authtoken: 1" in told.getvalue()
    assert traces("quillmaster") == before


def test_the_last_administrator_is_not_erased(world: World, quill: User) -> None:
    with pytest.raises(CommandError, match="last administrator"):
        call_command("erase_person", "root")


def test_the_log_says_that_it_was_done_and_is_closed_again(world: World, quill: User) -> None:
    erase_person(person=quill)
    entry = Event.objects.get(verb="erase person")
    assert (entry.actor, entry.data) == (None, {"person": quill.username, "texts_removed": False})
    with pytest.raises(TypeError):
        Event.objects.update(verb="x")


def test_notes_of_assessors_go_with_the_texts(world: World, quill: User) -> None:
    CoverageJudgment.objects.filter(person=quill).update(reason="In my own words.")
    erase_person(person=quill, remove_texts=True)
    said = CoverageJudgment.objects.filter(person=quill)
    assert said.count() > 0
    assert not said.exclude(reason="").exists()

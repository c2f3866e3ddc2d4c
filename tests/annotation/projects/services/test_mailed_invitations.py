from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from annotation import tasks
from annotation.core.refusals import Invalid
from annotation.models import Invitation
from annotation.projects.services.invite import (
    MAILS_AN_HOUR,
    TRIED_EVERY,
    TRIED_FOR,
    ask_again_to_mail,
    invite,
    mail_invitation,
    revoke_invitation,
)

if TYPE_CHECKING:
    from pytest_django import DjangoCaptureOnCommitCallbacks
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

pytestmark = pytest.mark.usefixtures("world", "mailing")

PAGE = "/p/harbour/settings/invitations/invite/"
DAN = "dan@example.org"


def mailed_path() -> str:
    [path] = re.findall(r"http://testserver(/invitations/\S+)", str(mail.outbox[-1].body))
    return str(path)


def test_the_mailed_link_lets_in_and_the_page_shows_none(
    world: World, signed_in: SignIn, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    olga = signed_in(world.olga)
    with django_capture_on_commit_callbacks(execute=True):
        said = olga.post(PAGE, {"email": DAN, "roles": "reviewer"}, follow=True).content.decode()
    assert f"on its way to {DAN}" in said
    assert "/invitations/" not in said.replace(PAGE, "").replace("settings/invitations/", "")
    [sent] = mail.outbox
    assert (sent.to, sent.subject) == ([DAN], f"Invitation to {world.project.name}")
    path = mailed_path()
    answer = Client().post(
        path, {"username": "newcomer", "password": "a-longer-secret-41", "again": "a-longer-secret-41"}
    )
    assert answer.status_code == 302
    came = world.project.memberships.get(user__username="newcomer")
    assert (came.roles, came.user.email) == (["reviewer"], DAN)


def test_the_mailed_secret_replaces_that_of_the_caller(world: World) -> None:
    issued = invite(project=world.project, roles=["viewer"], by=world.olga, email=DAN)
    assert mail_invitation(invitation_id=issued.invitation.public_id, address="http://testserver/")
    assert Client().get(f"/invitations/{issued.secret}/").status_code == 404
    assert Client().get(mailed_path()).status_code == 200


def test_it_is_mailed_once_and_never_after_it_was_taken_back(world: World) -> None:
    first, second = (
        invite(project=world.project, roles=["viewer"], by=world.olga, email=DAN) for _ in range(2)
    )
    assert mail_invitation(invitation_id=first.invitation.public_id, address="http://testserver/")
    assert not mail_invitation(invitation_id=first.invitation.public_id, address="http://testserver/")
    revoke_invitation(invitation=second.invitation, by=world.olga)
    assert not mail_invitation(invitation_id=second.invitation.public_id, address="http://testserver/")
    assert len(mail.outbox) == 1


def test_one_address_gets_few_an_hour(world: World) -> None:
    for _ in range(MAILS_AN_HOUR + 1):
        made = invite(project=world.project, roles=["viewer"], by=world.olga, email=DAN).invitation
        mail_invitation(invitation_id=made.public_id, address="http://testserver/")
    assert len(mail.outbox) == MAILS_AN_HOUR
    assert Invitation.objects.filter(mailed_at=None).count() == 1


def test_a_mail_server_that_is_away_leaves_it_unmailed(world: World, settings: SettingsWrapper) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    # Nothing listens on this port.
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", 1, 2
    made = invite(project=world.project, roles=["viewer"], by=world.olga, email=DAN).invitation
    with pytest.raises(OSError, match="refused"):
        mail_invitation(invitation_id=made.public_id, address="http://testserver/")
    made.refresh_from_db()
    assert made.mailed_at is None


def test_what_the_broker_or_the_mail_server_missed_is_asked_for_again(world: World) -> None:
    # The message to a worker is sent after the commit, which does not happen in a test.
    made = invite(
        project=world.project, roles=["viewer"], by=world.olga, email=DAN, address="http://testserver/"
    ).invitation
    written = Invitation.objects.filter(pk=made.pk)
    for age, mails in ((timedelta(), 0), (2 * TRIED_FOR, 0), (2 * TRIED_EVERY, 1), (2 * TRIED_EVERY, 1)):
        written.update(created_at=timezone.now() - age)
        ask_again_to_mail()
        assert len(mail.outbox) == mails
    assert Client().get(mailed_path()).status_code == 200


def test_a_mail_server_that_is_away_is_asked_again_for_links(monkeypatch: pytest.MonkeyPatch) -> None:
    failures = iter([ConnectionRefusedError()])

    def send(*_: object) -> None:
        if failure := next(failures, None):
            raise failure
        mail.outbox.append(mail.EmailMessage())

    monkeypatch.setattr(tasks, "send_mail", send)
    tasks.mail.apply(kwargs={"to": DAN, "subject": "S", "body": "B"})
    assert len(mail.outbox) == 1


@pytest.mark.parametrize(("email", "url"), [("no address", "memorymail://"), (DAN, "")])
def test_what_cannot_be_mailed_to_is_refused(
    world: World, settings: SettingsWrapper, email: str, url: str
) -> None:
    settings.EMAIL_URL = url
    with pytest.raises(Invalid):
        invite(project=world.project, roles=["viewer"], by=world.olga, email=email)
    assert not Invitation.objects.exists()

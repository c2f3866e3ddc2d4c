"""Messages to webhooks: what is told, signed how, sent again when, and where they may not go."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from annotation import perform_job
from annotation.core import jobs
from annotation.core.jobs import Lane
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.exports.services import request_export
from annotation.judging.services.start_run import cancel_run, start_run
from annotation.models import Draw, DrawnCheck, Event, Job, Webhook, WebhookDelivery
from annotation.reviewing.services.review import override
from annotation.webhooks.services import deliver as sending
from annotation.webhooks.services.change_webhooks import add_webhook, end_webhook, send_test
from annotation.webhooks.services.reach import checked_url, reach
from tests.annotation.webhooks.receiver import Receiver, receiver

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db
EVERYTHING = ("run.finished", "export.ready", "sample.finished")


@pytest.fixture(autouse=True)
def _loopback(settings: SettingsWrapper) -> None:
    settings.COVERDICT_WEBHOOK_HOSTS = ["127.0.0.0/8", "hooks.test"]


@pytest.fixture
def there() -> Iterator[Receiver]:
    with receiver() as kept:
        yield kept


def hook_at(world: World, url: str, kinds: tuple[str, ...] = EVERYTHING) -> Webhook:
    return add_webhook(project=world.project, url=url, events=kinds, by=world.mona)


def send() -> None:
    perform_job.pull(Lane.WEBHOOKS)


def told(receiver: Receiver) -> list[dict[str, Any]]:
    return [json.loads(body) for _, _, body in receiver.got]


def test_a_run_that_ends_is_told_with_its_state(world: World, there: Receiver) -> None:
    hook_at(world, there.url)
    run = start_run(project=world.project, judge=world.judge, by=world.mona)
    cancel_run(run=run, by=world.mona)
    send()
    [message] = told(there)
    assert message["type"] == "run.finished"
    assert message["data"]["project"] == "harbour"
    assert (message["data"]["id"], message["data"]["state"]) == (run.public_id, "cancelled")
    delivery = WebhookDelivery.objects.get()
    assert (delivery.status, delivery.error) == (204, "")
    assert delivery.delivered_at is not None
    assert delivery.jobs.get().state == Job.State.DONE


def test_an_export_is_told_when_it_can_be_downloaded_and_not_when_it_is_asked_for(
    world: World, there: Receiver
) -> None:
    hook_at(world, there.url)
    export = request_export(project=world.project, level="scores", format="csv", by=world.mona)
    send()
    assert not there.got
    perform_job.pull(Lane.EXPORTS)
    send()
    [message] = told(there)
    assert (message["type"], message["data"]["id"]) == ("export.ready", export.public_id)


def test_the_last_answer_to_a_sample_is_told_once(world: World, there: Receiver) -> None:
    hook_at(world, there.url)
    draw = Draw.objects.create(
        project=world.project, method="uniform", item="check", share=1, seed=7, frame=[]
    )
    checks = [world.check("alder", 1), world.check("birch", 1)]
    for check in checks:
        DrawnCheck.objects.create(draw=draw, check_row=check, inclusion_probability=1)
    override(check=checks[0], by=world.rex, label="yes")
    assert not WebhookDelivery.objects.exists()
    override(check=checks[1], by=world.rex, label="no")
    override(check=checks[1], by=world.rex, label="yes")
    send()
    [message] = told(there)
    assert (message["type"], message["data"]["id"]) == ("sample.finished", draw.public_id)


def test_a_message_is_signed_over_its_id_its_time_and_its_body(world: World, there: Receiver) -> None:
    hook = hook_at(world, there.url)
    send_test(webhook=hook, by=world.mona)
    send()
    [(path, headers, body)] = there.got
    assert path == "/"
    assert headers["webhook-id"] == WebhookDelivery.objects.get().public_id
    assert abs(int(headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60
    key = base64.b64decode(hook.secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"


def test_the_signature_of_the_specification_s_example() -> None:
    # Published with Standard Webhooks for testing libraries.
    assert (
        sending.signed(
            secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp=1614265330,
            body=b'{"test": 2432232314}',
        )
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )


def test_what_is_not_taken_waits_longer_each_time_and_keeps_its_id(world: World, there: Receiver) -> None:
    there.answers = [500, 503]
    send_test(webhook=hook_at(world, there.url), by=world.mona)
    for pause in (5, 60):
        send()
        job = Job.objects.get(delivery__isnull=False)
        assert job.state == Job.State.WAITING
        assert timedelta(seconds=pause - 5) < job.queued_at - timezone.now() <= timedelta(seconds=pause)
        send()  # not due yet
        Job.objects.update(queued_at=timezone.now())
    send()
    assert len(there.got) == 3
    assert len({headers["webhook-id"] for _, headers, _ in there.got}) == 1
    assert WebhookDelivery.objects.get().delivered_at is not None


def test_after_the_last_attempt_it_is_given_up_with_its_reason(world: World, there: Receiver) -> None:
    there.answers = [500]
    send_test(webhook=hook_at(world, there.url), by=world.mona)
    Job.objects.update(attempt=len(jobs.WEBHOOK_PAUSES_SECONDS))
    send()
    job = Job.objects.get()
    assert job.state == Job.State.FAILED
    assert job.error == "The receiver answered 500. (Given up after 8 attempts.)"


def test_a_receiver_that_is_gone_ends_its_webhook_and_what_waits_for_it(
    world: World, there: Receiver
) -> None:
    there.answers = [410]
    hook = hook_at(world, there.url)
    first, second = (send_test(webhook=hook, by=world.mona) for _ in range(2))
    sending.deliver(jobs.take(lane=Lane.WEBHOOKS))
    hook.refresh_from_db()
    assert hook.ended_at is not None
    assert hook.end_reason == "The receiver answered 410 Gone."
    assert (first.jobs.get().state, second.jobs.get().state) == ("failed", "cancelled")
    assert Event.objects.filter(verb="end webhook").count() == 1


def test_what_fails_while_its_webhook_ends_is_not_sent_again(world: World, there: Receiver) -> None:
    there.answers = [500]
    hook = hook_at(world, there.url)
    send_test(webhook=hook, by=world.mona)
    taken = jobs.take(lane=Lane.WEBHOOKS)
    end_webhook(webhook=hook, by=world.mona)
    sending.deliver(taken)
    assert Job.objects.get().state == Job.State.CANCELLED
    assert WebhookDelivery.objects.get().error == "The receiver answered 500."


def test_one_that_breaks_leaves_the_outcome_of_the_others(
    world: World, there: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = hook_at(world, there.url)
    broken, other = (send_test(webhook=hook, by=world.mona) for _ in range(2))
    post = sending._post

    async def breaking(delivery: WebhookDelivery) -> sending.Attempted:
        if delivery.pk == broken.pk:
            raise RuntimeError("no such thing")
        return await post(delivery)

    monkeypatch.setattr(sending, "_post", breaking)
    send()
    assert (broken.jobs.get().state, other.jobs.get().state) == ("waiting", "done")
    assert broken.jobs.get().error == "RuntimeError: no such thing"


def test_a_redirect_is_not_followed(world: World, there: Receiver) -> None:
    there.answers = [302]
    send_test(webhook=hook_at(world, there.url), by=world.mona)
    send()
    assert [path for path, _, _ in there.got] == ["/"]
    assert WebhookDelivery.objects.get().error == "The receiver answered 302."


def test_one_that_hangs_keeps_no_other_from_its_message(
    world: World, there: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SECONDS_FOR_ONE", 1)
    with receiver() as hanging:
        hanging.answers = [0]
        send_test(webhook=hook_at(world, hanging.url), by=world.mona)
        send_test(webhook=hook_at(world, there.url), by=world.mona)
        send()
    assert len(there.got) == 1
    assert "No answer within 1 seconds" in WebhookDelivery.objects.get(delivered_at=None).error


def test_one_that_nobody_listens_at_is_not_reached(world: World) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    send_test(webhook=hook_at(world, url), by=world.mona)
    send()
    assert "Not reached" in WebhookDelivery.objects.get().error


def test_only_those_who_asked_for_a_kind_are_told(world: World, there: Receiver) -> None:
    hook_at(world, there.url, ("export.ready",))
    cancel_run(run=start_run(project=world.project, judge=world.judge, by=world.mona), by=world.mona)
    assert not WebhookDelivery.objects.exists()


def test_an_ended_webhook_is_told_nothing(world: World, there: Receiver) -> None:
    hook = end_webhook(webhook=hook_at(world, there.url), by=world.mona)
    cancel_run(run=start_run(project=world.project, judge=world.judge, by=world.mona), by=world.mona)
    assert not WebhookDelivery.objects.exists()
    with pytest.raises(Conflict):
        send_test(webhook=hook, by=world.mona)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.test/",
        "https://hooks.test.evil.test/",
        "https://user:key@hooks.test/",
        "https://hooks.test/#part",
        "ftp://hooks.test/",
        "https://hooks.test/a b",
        "https://[::1",
        "https://10.0.0.1/",
        "https:///path",
    ],
)
def test_where_a_webhook_may_not_go(world: World, url: str) -> None:
    with pytest.raises(Invalid) as refusal:
        hook_at(world, url)
    assert refusal.value.field == "url"
    assert not Webhook.objects.exists()


def test_a_listed_name_that_leads_into_the_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: object, **__: object) -> list[Any]:
        # The first address is public, the second the metadata service of many clouds.
        return [(2, 1, 6, "", ("93.184.215.14", 443)), (2, 1, 6, "", ("169.254.169.254", 443))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert checked_url("https://hooks.test/") == "https://hooks.test/"
    with pytest.raises(Invalid, match=r"169\.254\.169\.254, which is not a public address"):
        reach("https://hooks.test/")


def test_public_addresses_are_told_by_https_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("93.184.215.14", 80))])
    with pytest.raises(Invalid, match="must use https"):
        reach("http://hooks.test/")
    assert reach("https://hooks.test/").address == "93.184.215.14"


def test_only_who_may_change_the_project_adds_one(world: World) -> None:
    with pytest.raises(NotAllowed):
        add_webhook(project=world.project, url="https://hooks.test/", events=EVERYTHING, by=world.rex)

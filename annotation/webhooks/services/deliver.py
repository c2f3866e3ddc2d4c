"""A worker sends what lies in the outbox: signed, many at once, again where a receiver does not take it.

Signed as Standard Webhooks says: `webhook-id`, `webhook-timestamp`, and `webhook-signature` over both and the body.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import httpx2
from django.utils import timezone

from annotation import __version__
from annotation.core import jobs
from annotation.core.jobs import Claimed, Lane
from annotation.core.refusals import Invalid
from annotation.models import Job, WebhookDelivery
from annotation.webhooks.services.change_webhooks import SECRET_PREFIX, stop_sending
from annotation.webhooks.services.reach import reach

SECONDS_FOR_ONE = 15
SENT_AT_ONCE = 16
GONE = 410

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attempted:
    """What came of one attempt; `error` is "" where the receiver took the message."""

    status: int | None
    error: str


def deliver_due(*, is_stopping: Callable[[], bool]) -> None:
    """Send what is due, until nothing is."""
    while not is_stopping() and (taken := jobs.take(lane=Lane.WEBHOOKS, most=SENT_AT_ONCE)):
        deliver(taken)


def deliver(taken: Sequence[Claimed]) -> None:
    """Send these messages, claimed under one token, and write down what came of each.

    A message reaches its receiver at least once: one that was taken just as the worker died is sent again, by the same
    id.
    """
    with jobs.Lease(taken[0].token):
        deliveries = [_delivery(claimed) for claimed in taken]
        outcomes = asyncio.run(_send_all(deliveries))
        for claimed, delivery, outcome in zip(taken, deliveries, outcomes, strict=True):
            _write_down(claimed, delivery, outcome)


def signed(*, secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of the header `webhook-signature`.

    >>> signed(secret="whsec_c2VjcmV0", message_id="a", timestamp=1, body=b"{}")
    'v1,DH9+vItb05LF5AmGVxmIk2XJE76uu57Vhud93LDFWM4='
    """
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    content = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def _delivery(claimed: Claimed) -> WebhookDelivery:
    delivery = claimed.job.delivery
    assert delivery is not None, "a job of this lane"
    return delivery


async def _send_all(deliveries: Sequence[WebhookDelivery]) -> list[Attempted]:
    return list(await asyncio.gather(*map(_send, deliveries)))


async def _send(delivery: WebhookDelivery) -> Attempted:
    try:
        async with asyncio.timeout(SECONDS_FOR_ONE):
            return await _post(delivery)
    except TimeoutError:
        return Attempted(None, f"No answer within {SECONDS_FOR_ONE} seconds.")
    except Invalid as refusal:
        return Attempted(None, refusal.message)
    except (OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        return Attempted(None, f"Not reached: {str(error) or type(error).__name__}.")
    except Exception as error:
        # The boundary of a message: what came of those that are sent beside it must be written down.
        logger.exception("Message %s was not sent", delivery.public_id)
        jobs.count_error(error)
        return Attempted(None, f"{type(error).__name__}: {error}")


async def _post(delivery: WebhookDelivery) -> Attempted:
    hook = delivery.webhook
    reached = await asyncio.to_thread(reach, hook.url)
    told = {"type": delivery.kind, "timestamp": delivery.created_at.isoformat(), "data": delivery.data}
    body, timestamp = json.dumps(told, ensure_ascii=False).encode(), int(time.time())
    url = httpx2.URL(hook.url)
    headers = {
        "Host": url.netloc.decode("ascii"),
        "Content-Type": "application/json",
        "User-Agent": f"Coverdict/{__version__}",
        "webhook-id": delivery.public_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signed(
            secret=hook.secret, message_id=delivery.public_id, timestamp=timestamp, body=body
        ),
    }
    # To the address that was checked, with the certificate of the name.
    checked = url.copy_with(host=reached.address, port=reached.port)
    client = httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=SECONDS_FOR_ONE)
    sent = client.stream(
        "POST", checked, content=body, headers=headers, extensions={"sni_hostname": reached.host}
    )
    # The answer's body is nobody's business and may be endless: it is never read.
    async with client, sent as response:
        status = response.status_code
        return Attempted(status, "" if response.is_success else f"The receiver answered {status}.")


def _write_down(claimed: Claimed, delivery: WebhookDelivery, outcome: Attempted) -> None:
    row = WebhookDelivery.objects.filter(pk=delivery.pk)
    row.update(
        status=outcome.status,
        error=outcome.error[:300],
        delivered_at=None if outcome.error else timezone.now(),
    )
    if not outcome.error:
        jobs.finish(claimed, state=Job.State.DONE)
        return
    if outcome.status == GONE:
        jobs.finish(claimed, state=Job.State.FAILED, error=outcome.error)
        stop_sending(delivery.webhook, reason="The receiver answered 410 Gone.")
        return
    jobs.try_later(claimed, error=outcome.error)

"""Idempotency keys: a request that is sent again with its key is not carried out again, and gets its first reply."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from rest_framework.exceptions import ParseError

from annotation.core.refusals import Conflict, Invalid
from annotation.models import KeptReply
from annotation.models.access import LONGEST_KEY

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from rest_framework.request import Request
    from rest_framework.response import Response

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
KEPT_FOR = timedelta(hours=24)
UNDER_WAY_FOR = timedelta(minutes=2)
"""No request takes longer: a server that has not replied by then has died over it."""
DROPPED_EVERY = 100

_KEY = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_KEY}}}")


def begin(request: Request, person: User, key: str) -> KeptReply:
    """The row of this request: with a status where it was carried out before, else for this caller to carry out.

    Replies of successes are kept, for 24 hours: what was refused did nothing, and may be sent again with its key.
    Raises ParseError; Invalid (code `key_reused`) where another request had the key; Conflict (code `under_way`).
    """
    if not _KEY.fullmatch(key):
        raise ParseError(f"{HEADER} is 1 to {LONGEST_KEY} letters, digits and signs, such as a UUID.")
    route = hashlib.sha256(request.get_full_path().encode(errors="replace")).hexdigest()
    fingerprint, now = _fingerprint(request), timezone.now()
    row = KeptReply(person=person, route=route, key=key, fingerprint=fingerprint, began_at=now)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return _again(row)
    if row.pk % DROPPED_EVERY == 0:
        KeptReply.objects.filter(began_at__lt=now - KEPT_FOR).delete()
    return row


def _again(asked: KeptReply) -> KeptReply:
    """What is known of a request whose key is taken; the asker's own where it is free again."""
    same = KeptReply.objects.filter(person=asked.person, route=asked.route, key=asked.key)
    known = same.first()
    under_way = Conflict("A request with this key is in progress. Try again later.", code="under_way")
    if known is None:
        raise under_way
    age = asked.began_at - known.began_at
    if age > (UNDER_WAY_FOR if known.status is None else KEPT_FOR):
        taken = same.filter(pk=known.pk, began_at=known.began_at).update(
            began_at=asked.began_at, fingerprint=asked.fingerprint, status=None, body=""
        )
        if not taken:
            raise under_way
        asked.pk = known.pk
        return asked
    if known.fingerprint != asked.fingerprint:
        raise Invalid(f"This {HEADER} was sent with another body. Use a new one.", code="key_reused")
    if known.status is None:
        raise under_way
    return known


def finish(row: KeptReply, response: Response, *, is_secret: bool) -> None:
    """Keep the reply where the request was carried out; of one with a secret in it only that it was."""
    mine = KeptReply.objects.filter(pk=row.pk, began_at=row.began_at)
    if 200 <= response.status_code < 300:
        mine.update(status=response.status_code, body="" if is_secret else response.content.decode())
    else:
        mine.delete()


def replay(row: KeptReply) -> HttpResponse:
    """The reply that was kept. Raises Conflict (code `not_kept`) where it told a secret."""
    if not row.body and row.status != HttpResponse(status=204).status_code:
        raise Conflict(
            "The request succeeded. Its reply contained a secret and was not stored.", code="not_kept"
        )
    return HttpResponse(
        row.body, status=row.status, content_type="application/json", headers={REPLAYED: "true"}
    )


def _fingerprint(request: Request) -> str:
    digest, data = hashlib.sha256(), request.data
    if not isinstance(data, MultiValueDict):
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    for name, values in sorted(data.lists()):
        for value in values:
            digest.update(json.dumps([name, _name_of(value)]).encode())
            for chunk in value.chunks() if isinstance(value, UploadedFile) else ():
                digest.update(hashlib.sha256(chunk).digest())
    return digest.hexdigest()


def _name_of(value: Any) -> list[object]:
    return [value.name, value.size] if isinstance(value, UploadedFile) else [str(value)]

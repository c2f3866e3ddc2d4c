"""How often mail may be asked for in an hour, for one address or from one place."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import MailTurn

KEPT = timedelta(days=1)


@transaction.atomic
def takes_turn(key: str, *, most: int) -> bool:
    """Whether one of the `most` turns of this hour was left; two who ask at once take one each."""
    now = timezone.now()
    MailTurn.objects.filter(hour__lt=now - KEPT).delete()
    hour = now.replace(minute=0, second=0, microsecond=0)
    hashed = hashlib.sha256(key.encode(errors="replace")).hexdigest()
    turns = MailTurn.objects.filter(key=hashed, hour=hour)
    while (nth := turns.aggregate(next=Coalesce(Max("nth") + 1, 0))["next"]) < most:
        with suppress(IntegrityError), transaction.atomic():
            MailTurn.objects.create(key=hashed, hour=hour, nth=nth)
            return True
    return False

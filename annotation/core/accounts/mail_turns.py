"""How often mail may be asked for in an hour, for one address or from one place."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import MailTurn

KEPT = timedelta(days=1)


@transaction.atomic
def takes_turn(key: str, *, most: int) -> bool:
    """Whether one of the `most` turns of this hour was left; of two who take the last at once, one gets it."""
    now = timezone.now()
    MailTurn.objects.filter(hour__lt=now - KEPT).delete()
    hour = now.replace(minute=0, second=0, microsecond=0)
    hashed = hashlib.sha256(key.encode(errors="replace")).hexdigest()
    taken = MailTurn.objects.filter(key=hashed, hour=hour).count()
    if taken >= most:
        return False
    try:
        with transaction.atomic():
            MailTurn.objects.create(key=hashed, hour=hour, nth=taken)
    except IntegrityError:
        return False
    return True

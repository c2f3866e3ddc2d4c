"""Django's database cache with an atomic increment.

Django itself reads and then writes a number, which loses concurrent increments. Migrations create the table.
"""

from __future__ import annotations

import base64
import pickle

from django.core.cache.backends.db import DatabaseCache
from django.db import transaction
from django.utils import timezone

from annotation.models import CachedValue


class TableCache(DatabaseCache):
    @transaction.atomic
    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Add `delta` to the number under a key and return the sum. The expiry does not change.

        Raises ValueError if the key is missing or expired.
        """
        known = CachedValue.objects.filter(
            cache_key=self.make_and_validate_key(key, version=version), expires__gt=timezone.now()
        )
        row = known.select_for_update(no_key=True).first()
        if row is None:
            raise ValueError(f"Nothing is counted under {key!r}.")
        # Django's own cache unpickles values of this table, too.
        number = int(pickle.loads(base64.b64decode(row.value))) + delta  # noqa: S301
        row.value = base64.b64encode(pickle.dumps(number, self.pickle_protocol)).decode("latin1")
        row.save(update_fields=["value"])
        return number

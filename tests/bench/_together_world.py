"""Fill a database for the measurement of all work at once: the answers' project, and one for a run. Prints the former's
JSON. TOGETHER_JUDGE is the address of the run's judge, TOGETHER_SETS how many document sets it judges.
"""

from __future__ import annotations

import json
import os
import sys

import django

from tests.bench import _answering_world, _volume_world
from tests.bench.call_plan import AT_ONCE

if __name__ == "__main__":
    django.setup()
    from annotation.models import Judge, Project

    told = _answering_world.make()
    project = Project.objects.create(slug="run", name="Run")
    _volume_world.fill(project, int(os.environ["TOGETHER_SETS"]), 1, with_claims=False)
    Judge.objects.create(
        name="scripted", kind="openai", model="m", base_url=os.environ["TOGETHER_JUDGE"], concurrency=AT_ONCE
    )
    sys.stdout.write(json.dumps(told) + "\n")

"""A project of as many checks as asked for, and somebody at work in it: a process that the benchmark commands.

Told on the command line how many checks, it migrates and fills the PostgreSQL of DATABASE_URL by statements of the
database itself, and without the indexes, which are made when the rows are there. Then it answers lines of JSON
with lines of JSON: `{"do": "override", "nth": 3}` with the milliseconds that the service took and those of this
process's own work among them, `{"do": "next", "query": "order=effect"}` with those of handing out the next claim
of that queue.
"""

from __future__ import annotations

import json
import re
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

import django
from django.core.management import call_command
from django.db import connection
from django.db.models import NOT_PROVIDED
from django.urls import reverse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.db.models import Model
    from django.test import Client

SLUG = "study"
SYSTEMS, CLAIMS, PEER_UNITS = 25, 10, 4
PEOPLE = 8
TOUCHED = 60
"""Summaries whose checks are overridden: as many in each database, spread over it."""
DRAWN = 2000
HELD = 30
"""Claims at the head of each queue that other people have in hand."""
PER_SET = SYSTEMS * CLAIMS
FORM = "application/x-www-form-urlencoded"

# Figures stand in every third claim; all sentences are of one length, so that units lie at known places.
SENTENCE = """('Lord ' || translate(lpad(({set})::text, 6, '0'), '0123456789', 'bcdfghjkla')
    || ' closed the ' || (array['harbour','council','theatre','library','market ','station','airport','factory',
    'gallery','foundry'])[({place})] || ' and paid ' || (case when ({place}) % 3 = 0 then '40' else 'in' end)
    || ' crowns.')"""
LENGTH = len("Lord bbbbbb closed the harbour and paid in crowns.")
# A number from 0 to 999 that is the same in every run, and another one for every word.
DICE = "(('x' || substr(md5('{word}' || i), 1, 7))::bit(28)::int % 1000)"
QUEUE_KEY = "('x' || substr(md5('queue' || i), 1, 15))::bit(60)::bigint"
NAMED = "substr(md5('{word}' || i), 1, 16)"
# What a panel of five leaves in doubt comes in few steps, so that every queue is full of ties.
LABEL = "(case when {dice} < 550 then 'yes' when {dice} < 980 then 'no' else 'unsure' end)"
OTHER = "(case {label} when 'yes' then 'no' else 'yes' end)"
DOUBT = (
    "(case when {dice} >= 980 then 1.0 when {other} < 600 then 0.0 when {other} < 850 then 0.2 else 0.4 end)"
)
# Reviewers have been through half of what was most in doubt, and a part of the rest.
ANSWERED = "({dice} >= 990 or {third} < 40)"


def fill(checks: int) -> None:
    """Migrate, and put a project with that many checks into the database."""
    from annotation import models
    from annotation.scoring.rescore import rescore

    call_command("migrate", verbosity=0)
    with _bare():
        _fill(checks)
    study = models.Project.objects.get()
    rescore(project=study, summary_ids=[check.peer_id for check in _touched()])
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


@contextmanager
def _bare() -> Iterator[None]:
    """Without indexes, unique constraints and the checking of foreign keys: row by row they take most of the time."""
    with connection.cursor() as cursor:
        cursor.execute(_UNIQUE)
        unique = cursor.fetchall()
        for table, name, _ in unique:
            cursor.execute(f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"')
        cursor.execute(_INDEXES)
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        cursor.execute("SET session_replication_role = replica")
        yield
        cursor.execute("SET session_replication_role = origin")
        cursor.execute("SET maintenance_work_mem = '256MB'")
        for table, name, definition in unique:
            cursor.execute(f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" {definition}')
        for _, definition in indexes:
            cursor.execute(definition)
        cursor.execute("RESET maintenance_work_mem")


_UNIQUE = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'u' AND conrelid::regclass::text LIKE 'annotation_%' ORDER BY conname
"""
_INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid::regclass::text LIKE 'annotation_%' AND NOT indisprimary ORDER BY indexrelid
"""


def _fill(checks: int) -> None:
    from annotation import models

    sets, summaries = checks // PER_SET, checks // CLAIMS
    project = _people()
    words = {
        "label": LABEL.format(dice=DICE.format(word="label")),
        "doubt": DOUBT.format(dice=DICE.format(word="label"), other=DICE.format(word="doubt")),
        "answered": ANSWERED.format(dice=DICE.format(word="label"), third=DICE.format(word="answered")),
        "differs": f"({DICE.format(word='differs')} < 200)",
        "disputed": f"({DICE.format(word='differs')} < 80)",
        "peer": f"{sets} + (i - 1) / {CLAIMS} + 1",
        "place": f"((i - 1) % {CLAIMS} + 1)",
        "claim": f"((i - 1) / {PER_SET}) * {CLAIMS} + (i - 1) % {CLAIMS} + 1",
    }
    words["human"] = (
        f"(case when {words['differs']} then {OTHER.format(label=words['label'])} else {words['label']} end)"
    )
    _insert(models.System, SYSTEMS, {"project_id": project, "name": "'system ' || i"})
    _insert(models.DocumentSet, sets, {"project_id": project, "external_id": "'set ' || i"})
    _texts(sets, summaries)
    _insert(
        models.ClaimSet,
        sets,
        {"summary_id": "i", "origin": "'judge'", "origin_name": "'panel'", "version": 1},
    )
    of_claim = {"set": f"(i - 1) / {CLAIMS} + 1", "place": words["place"]}
    _insert(
        models.Claim,
        sets * CLAIMS,
        {
            "claim_set_id": of_claim["set"],
            "unit_id": "i",
            "position": words["place"],
            "text": SENTENCE.format(**of_claim),
            "origin": "'judge'",
        },
    )
    _insert(
        models.Comparison,
        summaries,
        {"peer_id": f"{sets} + i", "model_id": f"(i - 1) / {SYSTEMS} + 1"},
    )
    _answers(project, checks, words)
    _insert(
        models.Score,
        summaries,
        {
            "project_id": project,
            "summary_id": f"{sets} + i",
            "peer_words": 40,
            "coverage": 0.5,
            "claim_coverage": 0.5,
            "composite_2_3": 0.4,
            "claims": CLAIMS,
            "revision": "i",
            "signature": "''",
        },
    )
    _draw(project, checks)
    _settle()


def _people() -> int:
    from django.contrib.auth.models import User

    from annotation.models import Judge, Membership, Project, Role

    panel = Judge.objects.create(name="panel", kind=Judge.Kind.PANEL)
    project = Project.objects.create(slug=SLUG, name="Study", deciding_judge=panel)
    people = [User.objects.create_user(f"reviewer{n}") for n in range(PEOPLE)]
    Membership.objects.bulk_create(
        Membership(project=project, user=person, roles=[Role.REVIEWER]) for person in people
    )
    return project.pk


def _texts(sets: int, summaries: int) -> None:
    """Model summaries of ten sentences, then peer summaries of four, in units."""
    from annotation.models import Summary, Unit

    for kind, rows, before, units in (("model", sets, 0, CLAIMS), ("peer", summaries, sets, PEER_UNITS)):
        of_set = "i" if kind == "model" else f"(i - 1) / {SYSTEMS} + 1"
        turn = "0" if kind == "model" else "i"
        said = SENTENCE.format(set=of_set, place=f"((n + {turn}) % {CLAIMS} + 1)")
        _insert(
            Summary,
            rows,
            {
                "id": f"{before} + i",
                "document_set_id": of_set,
                "system_id": "null" if kind == "model" else f"(i - 1) % {SYSTEMS} + 1",
                "is_model": kind == "model",
                "is_peer": kind == "peer",
                "target_words": "null" if kind == "model" else 100,
                "text": f"(select string_agg({said}, ' ' order by n) from generate_series(0, {units - 1}) n)",
            },
            word=kind,
        )
        place = f"((i - 1) % {units})"
        _insert(
            Unit,
            rows * units,
            {
                "id": f"{before * CLAIMS} + i",
                "summary_id": f"{before} + (i - 1) / {units} + 1",
                "position": f"{place} + 1",
                "start": f"{place} * {LENGTH + 1}",
                "end": f"{place} * {LENGTH + 1} + {LENGTH}",
            },
            word=f"{kind} unit",
        )


def _answers(project: int, checks: int, words: dict[str, str]) -> None:
    """Checks, with what the judge, reviewers and the queue of disputes say of them."""
    from annotation.models import Check, Dispute, Verdict

    answered = f"case when {words['answered']} then "
    _insert(
        Check,
        checks,
        {
            "project_id": project,
            "claim_id": words["claim"],
            "peer_id": words["peer"],
            "document_set_id": f"(i - 1) / {PER_SET} + 1",
            "side": "'reference'",
            "has_number": f"{words['place']} % 3 = 0",
            "judge_label": words["label"],
            "human_label": f"{answered}{words['human']} end",
            "final_label": f"{answered}{words['human']} else {words['label']} end",
            "final_source": f"{answered}'reviewer' else 'judge' end",
            "is_disputed": f"{words['answered']} and {words['disputed']}",
            "doubt": words["doubt"],
            "effect": 0.1,
            "queue_key": QUEUE_KEY,
        },
    )
    given = {"check_row_id": "i", "created_at": "now()", "had_seen": "false"}
    _insert(
        Verdict,
        checks,
        {
            **given,
            "source": "'judge'",
            "judge_id": 1,
            "label": words["label"],
            "doubt": words["doubt"],
            "evidence": "'[1]'",
        },
    )
    # Where reviewers differ, the first of them agreed with the judge.
    for nth, (label, where) in enumerate(
        ((words["label"], words["disputed"]), (words["human"], "true")), start=1
    ):
        _insert(
            Verdict,
            checks,
            {
                **given,
                "id": f"{nth * checks} + i",
                "source": "'reviewer'",
                "person_id": f"i % {PEOPLE - nth} + 1",
                "label": label,
            },
            where=f"{words['answered']} and {where}",
            word=f"review {nth}",
        )
    _insert(
        Dispute,
        checks,
        {
            "project_id": project,
            "check_row_id": "i",
            "why": "'differs'",
            "spread": 1.0,
            "voices": 2,
            "queue_key": QUEUE_KEY,
        },
        where=f"{words['answered']} and {words['disputed']}",
    )


def _draw(project: int, checks: int) -> None:
    from annotation.models import Check, Draw, DrawnCheck

    drawn = min(DRAWN, checks // 2)
    draw = Draw.objects.create(project_id=project, method="uniform", share=drawn / checks, seed=1, frame=[])
    keys = Check.objects.filter(human_label=None).order_by("public_id").values_list("pk", flat=True)
    DrawnCheck.objects.bulk_create(
        DrawnCheck(draw=draw, check_row_id=key, inclusion_probability=drawn / checks) for key in keys[:drawn]
    )


def _insert(
    row: type[Model],
    rows: int,
    columns: dict[str, object],
    *,
    where: str = "true",
    word: str = "",
) -> None:
    """Insert `rows` rows numbered i from 1; columns are expressions of i, the others take their field's default."""
    given: dict[str, object] = {"id": "i", "public_id": NAMED.format(word=word or row.__name__), **columns}
    names, expressions, values = [], [], []
    for field in row._meta.concrete_fields:
        if field.column in given:
            expression = given[field.column]
        elif getattr(field, "auto_now_add", False) or getattr(field, "auto_now", False):
            expression = "now()"
        else:
            plain = field.get_default() if field.default is not NOT_PROVIDED or field.null else ""
            values.append(field.get_db_prep_save(plain, connection))
            expression = "%s"
        names.append(f'"{field.column}"')
        expressions.append(str(expression).replace("%", "%%") if expression != "%s" else "%s")
    sql = (
        f'INSERT INTO "{row._meta.db_table}" ({", ".join(names)}) SELECT {", ".join(expressions)} '
        f"FROM generate_series(1, {rows}) i WHERE {where.replace('%', '%%')}"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def _settle() -> None:
    """Let the database count on from the keys that were given."""
    from django.apps import apps
    from django.core.management.color import no_style

    rows = list(apps.get_app_config("annotation").get_models())
    with connection.cursor() as cursor:
        for sql in connection.ops.sequence_reset_sql(no_style(), rows):
            cursor.execute(sql)


def _touched() -> list[Any]:
    """One check of each summary that is to be overridden, unanswered."""
    from annotation.models import Check

    last = Check.objects.order_by("-pk").values_list("pk", flat=True)[0]
    step = last // CLAIMS // TOUCHED * CLAIMS
    found = []
    for nth in range(TOUCHED):
        first = nth * step + 1
        waiting = Check.objects.filter(pk__range=(first, first + CLAIMS - 1), human_label=None)
        found.append(waiting.select_related("project", "peer").order_by("pk")[0])
    return found


class Spent(NamedTuple):
    """Milliseconds by the clock, and of this process's processor."""

    ms: float
    work: float


class Desk:
    """A reviewer at work."""

    def __init__(self) -> None:
        from django.contrib.auth.models import User
        from django.test import Client

        self.person = User.objects.get(username="reviewer0")
        self.checks = _touched()
        self.client: Client = Client(headers={"HX-Request": "true"})
        self.client.force_login(self.person)
        self.here: dict[str, str] = {}

    def override(self, nth: int) -> Spent:
        """One override, the commit included."""
        from annotation.reviewing.services.review import override

        check = self.checks[nth]
        label = "no" if check.judge_label == "yes" else "yes"
        return _timed(lambda: override(check=check, by=self.person, label=label))

    def hold(self, query: str) -> Spent:
        """Let other people hold the head of a queue."""
        from django.contrib.auth.models import User
        from django.http import QueryDict

        from annotation.core.readers import CheckReader
        from annotation.models import Project
        from annotation.reviewing.queries.review_queue import Filter
        from annotation.reviewing.services.lease_check import hand_out

        project = Project.objects.get()
        filters = Filter.read(QueryDict(query).dict())
        other = CheckReader(User.objects.get(username="reviewer1"))

        def hold() -> None:
            after = None
            for _ in range(HELD):
                after = hand_out(project=project, reader=other, filters=filters, after=after)

        return _timed(hold)

    def next(self, query: str) -> Spent:
        """One request for the next claim of a queue; the one on screen is the last it gave."""
        address = f"{reverse('next-check', kwargs={'slug': SLUG})}?{query}"
        asked = {"here": self.here[query]} if query in self.here else {}
        answer: Any = None

        def ask() -> None:
            nonlocal answer
            answer = self.client.post(address, urlencode(asked), content_type=FORM)

        spent = _timed(ask)
        found = re.search(r'data-check="(\w+)"', answer.content.decode())
        if answer.status_code != 200 or found is None:
            raise RuntimeError(f"no claim came of the queue {query!r}: {answer.status_code}")
        self.here[query] = found[1]
        return spent


def _timed(act: Callable[[], object]) -> Spent:
    started, worked = time.perf_counter(), time.process_time()
    act()
    return Spent(ms=(time.perf_counter() - started) * 1000, work=(time.process_time() - worked) * 1000)


def main() -> None:
    django.setup()
    started = time.perf_counter()
    fill(int(sys.argv[1]))
    from annotation.models import Draw

    print(
        json.dumps({"filled": time.perf_counter() - started, "draw": Draw.objects.get().public_id}),
        flush=True,
    )
    desk = Desk()
    for line in sys.stdin:
        asked = json.loads(line)
        do = getattr(desk, asked.pop("do"))
        print(json.dumps(do(**asked)._asdict()), flush=True)


if __name__ == "__main__":
    main()

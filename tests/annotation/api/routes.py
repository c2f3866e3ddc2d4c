"""Routes of the API with their verbs and bodies, and rows for the requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.urls import URLPattern, URLResolver

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.assessing.services.assign import assign
from annotation.config import api_urls as urls
from annotation.core.permissions import Verb
from annotation.models import (
    Dispute,
    Judge,
    Run,
)
from annotation.reviewing.services.comment import comment_on_claim
from annotation.reviewing.services.review import override
from annotation.watches.make_watch import make_watch
from tests.annotation.cast import World, add_imported_verdict
from tests.annotation.exports.doing import export_with_job
from tests.annotation.imports.refused import refused_import

PREFIX = "/api/v1/"
READERS = (Verb.VIEW_SCORES, Verb.REVIEW)


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    verbs: tuple[Verb, ...]
    body: Mapping[str, object] = field(default_factory=dict, hash=False)
    owner: str = ""
    """The owner of the row, if it belongs to one person."""

    def address(self, ids: Mapping[str, str], *, slug: str = "harbour") -> str:
        return PREFIX + self.path.format(slug=slug, **ids)


def _in(path: str) -> str:
    return "projects/{slug}/" + path


NEW_JUDGE = {"name": "panel", "kind": "panel", "members": ["lexical"]}

IN_PROJECT = (
    Route("get", _in(""), (Verb.VIEW_PROJECT,)),
    Route("patch", _in(""), (Verb.CHANGE_PROJECT,), {"description": "About the harbour."}),
    Route("get", _in("document-sets/"), (Verb.VIEW_PROJECT,)),
    Route("get", _in("document-sets/{document_set}/"), (Verb.VIEW_PROJECT,)),
    Route("get", _in("summaries/"), READERS),
    Route("get", _in("summaries/{summary}/"), READERS),
    Route("get", _in("summaries/{summary}/explanation/"), (Verb.VIEW_SCORES,)),
    Route("get", _in("claims/"), READERS),
    Route(
        "post", _in("claims/"), (Verb.CHANGE_CLAIMS,), {"text_id": "{text}", "text": "It shuts", "unit": 1}
    ),
    Route("get", _in("claims/{claim}/"), READERS),
    Route("post", _in("claims/{claim}/reword/"), (Verb.CHANGE_CLAIMS,), {"text": "The port shuts"}),
    Route("post", _in("claims/{claim}/remove/"), (Verb.CHANGE_CLAIMS,)),
    Route("get", _in("checks/"), READERS),
    Route("get", _in("checks/{check}/"), READERS),
    Route("post", _in("checks/{check}/verdicts/"), (Verb.REVIEW,), {"label": "yes"}),
    Route(
        "post",
        _in("checks/answers/"),
        (Verb.REVIEW,),
        {"answers": [{"check": "{check}", "label": "yes"}], "skip_invalid": True},
    ),
    Route("post", _in("checks/next/"), (Verb.REVIEW,)),
    Route("post", _in("checks/{check}/looks/"), (Verb.REVIEW,)),
    Route("get", _in("samples/"), (Verb.ASSIGN,)),
    Route("post", _in("samples/"), (Verb.ASSIGN,), {"share": 0.5}),
    Route("get", _in("guideline-trials/"), (Verb.VIEW_SCORES,)),
    Route("post", _in("guideline-trials/"), (Verb.ASSIGN,), {"old_version": 1, "size": 15}),
    Route("get", _in("samples/ratings/"), (Verb.ASSIGN,)),
    Route("post", _in("samples/ratings/"), (Verb.ASSIGN,), {"criterion": "tone", "size": 1}),
    Route("get", _in("disputes/"), (Verb.ADJUDICATE,)),
    Route("post", _in("disputes/next/"), (Verb.ADJUDICATE,)),
    Route("get", _in("disputes/{dispute}/"), (Verb.ADJUDICATE,)),
    Route("post", _in("disputes/{dispute}/decisions/"), (Verb.ADJUDICATE,), {"label": "no"}),
    Route("delete", _in("verdicts/{verdict}/"), (Verb.REVIEW,), owner="rex"),
    Route("delete", _in("adjudications/{adjudication}/"), (Verb.ADJUDICATE,)),
    Route("get", _in("comments/"), (Verb.COMMENT,)),
    Route("post", _in("comments/"), (Verb.COMMENT,), {"claim": "{claim}", "text": "So."}),
    Route("delete", _in("comments/{comment}/"), (Verb.COMMENT,), owner="rex"),
    Route("get", _in("members/"), (Verb.MANAGE_MEMBERS,)),
    Route("post", _in("members/"), (Verb.MANAGE_MEMBERS,), {"username": "eve", "roles": ["viewer"]}),
    Route("patch", _in("members/{member}/"), (Verb.MANAGE_MEMBERS,), {"roles": ["viewer"]}),
    Route("delete", _in("members/{member}/"), (Verb.MANAGE_MEMBERS,)),
    Route("get", _in("judges/"), (Verb.VIEW_RUNS,)),
    Route("post", _in("judges/"), (Verb.CHANGE_PROJECT,), NEW_JUDGE),
    Route("get", _in("judges/{own_judge}/"), (Verb.CHANGE_PROJECT,)),
    Route("patch", _in("judges/{own_judge}/"), (Verb.CHANGE_PROJECT,), {"concurrency": 2}),
    Route("get", _in("runs/"), (Verb.VIEW_RUNS,)),
    Route("post", _in("runs/"), (Verb.RUN,), {"judge": "lexical"}),
    Route("get", _in("runs/{run}/"), (Verb.VIEW_RUNS,)),
    Route("post", _in("runs/{run}/cancel/"), (Verb.RUN,)),
    Route("post", _in("runs/{run}/resume/"), (Verb.RUN,)),
    Route("get", _in("watches/"), (Verb.VIEW_SCORES,)),
    Route("get", _in("watches/{watch}/"), (Verb.VIEW_SCORES,)),
    Route("get", _in("scores/"), (Verb.VIEW_SCORES,)),
    Route("get", _in("leaderboard/"), (Verb.VIEW_SCORES,)),
    Route("get", _in("slices/"), (Verb.VIEW_SCORES,)),
    Route("get", _in("agreement/"), (Verb.VIEW_SCORES,)),
    Route("get", _in("judge-quality/"), (Verb.VIEW_SCORES,)),
    Route("post", _in("imports/"), (Verb.IMPORT,)),
    Route(
        "post",
        _in("push/"),
        (Verb.IMPORT,),
        {"rows": [{"document_id": "port", "system": "cedar", "summary": "It shuts."}]},
    ),
    Route("get", _in("imports/"), (Verb.IMPORT,)),
    Route("get", _in("imports/{import}/"), (Verb.IMPORT,)),
    Route("get", _in("exports/"), (Verb.EXPORT,)),
    Route("post", _in("exports/"), (Verb.EXPORT,), {"level": "scores", "format": "csv"}),
    Route("get", _in("exports/{export}/"), (Verb.EXPORT,)),
    Route("get", _in("exports/{export}/file/"), (Verb.EXPORT,)),
    Route("get", _in("exports/{export}/manifest/"), (Verb.EXPORT,)),
    Route("get", _in("assignments/{assignment}/"), (Verb.ASSESS,), owner="ana"),
    Route("post", _in("assignments/{assignment}/close/"), (Verb.ASSESS,), owner="ana"),
    Route(
        "post",
        _in("assignments/{assignment}/acts/"),
        (Verb.ASSESS,),
        {
            "acts": [{"follows": 0, "kind": "unit", "reading": "{reading}", "unit": "{unit}", "percent": 40}],
        },
        owner="ana",
    ),
    Route("post", _in("assignments/pull/"), (Verb.ASSESS,)),
    Route("post", _in("assignments/{assignment}/take-up/"), (Verb.ASSESS,), owner="ana"),
    Route("post", _in("assignments/{assignment}/give-back/"), (Verb.ASSESS,), owner="ana"),
    Route("post", _in("assignments/{assignment}/unassign/"), (Verb.ASSIGN,)),
    Route("get", _in("assignments/"), (Verb.ASSIGN,)),
    Route("post", _in("assignments/"), (Verb.ASSIGN,), {"assessor": "ben", "document_id": "port"}),
    Route("post", _in("assignments/sets/"), (Verb.ASSIGN,), {"people": ["ben"], "per_set": 1}),
    Route("get", _in("assessors/"), (Verb.ASSIGN,)),
    Route("get", _in("own-work/"), (Verb.ASSESS,)),
    Route("get", _in("readings/{reading}/"), (Verb.ASSESS,), owner="ana"),
)

OUTSIDE = (
    Route("get", "projects/", ()),
    Route("post", "projects/", (), {"name": "Mill"}),
    Route("post", "tokens/", (), {"username": "rex", "password": "rex-secret"}),
    Route("get", "tokens/current/", ()),
    Route("delete", "tokens/current/", ()),
)

LISTS = ("document-sets/", "summaries/", "claims/", "checks/", "judges/", "runs/", "scores/", "exports/")


def body_of(route: Route, ids: Mapping[str, str]) -> dict[str, object]:
    return {name: _filled(value, ids) for name, value in route.body.items()}


def _filled(value: object, ids: Mapping[str, str]) -> object:
    match value:
        case str():
            return value.format(**ids)
        case list():
            return [_filled(each, ids) for each in value]
        case dict():
            return {name: _filled(each, ids) for name, each in value.items()}
        case _:
            return value


def ids_of(world: World) -> dict[str, str]:
    check = world.check("alder", 1)
    verdict = override(check=world.check("birch", 1), by=world.rex, label="no").verdict
    add_imported_verdict(world.check("birch", 1), "yes")
    decision = decide_check(check=world.check("birch", 3), by=world.cleo, label="no", reason="Not there.")
    assignment = assign(document_set=world.sets["bridge"], assessor=world.ana, by=world.mona, seed=1)
    reading = assignment.readings.order_by("position")[0]
    run = Run.objects.create(project=world.project, judge=world.judge, metrics=["coverage"])
    asked = refused_import(world.project)
    export = export_with_job(world.project)
    member = world.project.memberships.get(user=world.vic)
    said = comment_on_claim(project=world.project, claim=check.claim, by=world.rex, text="Hm.")
    return {
        "member": member.public_id,
        "comment": said.public_id,
        "own_judge": own_panel(world).public_id,
        "document_set": world.sets["port"].public_id,
        "summary": world.summaries["port", "alder"].public_id,
        "claim": check.claim.public_id,
        "text": world.references["port"].public_id,
        "check": check.public_id,
        "comparison": world.comparison("bridge", "alder").public_id,
        "unit": world.units("bridge")[0].public_id,
        "verdict": verdict.public_id,
        "adjudication": decision.public_id,
        "dispute": Dispute.objects.get().public_id,
        "system": world.systems["alder"].public_id,
        "assignment": assignment.public_id,
        "reading": reading.public_id,
        "run": run.public_id,
        "export": export.public_id,
        "import": asked.public_id,
        "watch": make_watch(project=world.project, by=None, name="live").public_id,
    }


def own_panel(world: World) -> Judge:
    panel = Judge.objects.create(project=world.project, name="own-panel", kind="panel")
    panel.members.add(world.judge)
    return panel


def walked() -> set[tuple[str, str]]:
    return set(_walk(urls.urlpatterns, ""))


def _walk(patterns: list[URLPattern | URLResolver], before: str) -> list[tuple[str, str]]:
    found = []
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found += _walk(pattern.url_patterns, path)
        elif hasattr(pattern.callback, "view_class") and pattern.callback.view_class.__name__ != "Nowhere":
            view = pattern.callback.view_class
            found += [
                (method, path)
                for method in ("get", "post", "put", "patch", "delete")
                if hasattr(view, method)
            ]
    return found


def as_pattern(route: Route) -> tuple[str, str]:
    path = re.sub(r"\{(\w+)\}", "<slug:public_id>", route.path.replace("{slug}", "<slug:slug>"))
    return route.method, path


def grow(world: World, sets: int, *, first: int = 0) -> None:
    from annotation.models import Check, Verdict
    from annotation.scoring.rescore import rescore
    from tests.annotation.cast import add_claims, add_set, judge_claims

    for number in range(first, first + sets):
        name = f"grown-{number}"
        add_set(world, name)
        judge_claims(world, name, add_claims(world, name, [("It closes", 1)]), {"alder": ["yes"]})
        check = Check.objects.get(summary=world.summaries[name, "alder"])
        Verdict.objects.create(check_row=check, role="reviewer", person=world.cleo, label="yes")
        judge = Judge.objects.create(name=name, kind="lexical")
        Run.objects.create(project=world.project, judge=judge, metrics=["coverage"], started_by=world.mona)
        export_with_job(world.project)
    rescore(project=world.project)

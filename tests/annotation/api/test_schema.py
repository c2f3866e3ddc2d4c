from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.core.management import call_command
from rest_framework.test import APIClient

from evaluation.judging import LABELS
from tests.annotation.api.routes import IN_PROJECT, OUTSIDE


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = Path(tmp_path_factory.mktemp("schema")) / "schema.yml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(path))
    made: dict[str, Any] = yaml.safe_load(path.read_text())
    return made


def operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_route_is_described(schema: dict[str, Any]) -> None:
    assert len(operations(schema)) == len(IN_PROJECT) + len(OUTSIDE)


def test_every_operation_has_a_name_words_and_a_tag(schema: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(schema)]
    assert len(set(names)) == len(names)
    for _, _, operation in operations(schema):
        assert len(operation["summary"].split()) >= 3
        assert len(operation["tags"]) == 1


def test_every_refusal_is_described_as_the_envelope(schema: dict[str, Any]) -> None:
    envelope = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for _, path, operation in operations(schema):
        refusals = {code: answer for code, answer in operation["responses"].items() if code >= "400"}
        assert "401" in refusals
        assert "{slug}" not in path or {"403", "404"} <= set(refusals)
        assert all(answer["content"] == envelope for answer in refusals.values())


def test_every_request_and_every_answer_has_an_example_of_its_own_shape(schema: dict[str, Any]) -> None:
    found = 0
    for method, path, operation in operations(schema):
        answers = [answer for code, answer in operation["responses"].items() if code < "400"]
        for body in (operation.get("requestBody", {}), *answers):
            for kind, media in body.get("content", {}).items():
                assert "example" in media, (method, path)
                if kind == "application/json":
                    wanted = {**media["schema"], "components": schema["components"]}
                    faults = list(jsonschema.Draft202012Validator(wanted).iter_errors(media["example"]))
                    assert not faults, (method, path, [fault.message for fault in faults])
                    found += 1
    assert found > len(IN_PROJECT)


def test_labels_have_one_type(schema: dict[str, Any]) -> None:
    assert schema["components"]["schemas"]["Label"]["enum"] == list(LABELS)


def test_schema_and_docs_are_served(db: None) -> None:
    client = APIClient()
    assert client.get("/api/schema/").status_code == 200
    assert b"swagger-ui" in client.get("/api/docs/").content

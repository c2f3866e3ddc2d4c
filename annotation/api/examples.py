"""Examples in the OpenAPI schema, made from the fields' names and types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

ID = "k4wn2ecx7qobp3ym"
WORDS: Mapping[str, str] = {
    "id": ID,
    "slug": "news",
    "project": "news",
    "name": "Harbour news",
    "username": "mona",
    "full_name": "Mona Hill",
    "email": "mona@example.org",
    "password": "six tall harbours",
    "token": "0a1b2c3d4e5f…",
    "key": "0a1b2c3d4e5f6a7",
    "judge": "lexical",
    "deciding_judge": "lexical",
    "base_url": "",
    "language": "en",
    "document_id": "d1",
    "document": "The mill closes in May. The river is low.",
    "summary": "The mill closes in May.",
    "reference": "The mill closes in May.",
    "reference_id": "1",
    "system": "alder",
    "text": "The mill closes in May.",
    "texts": "The mill closes.",
    "questions": "Does the mill close?",
    "reason": "The text says so.",
    "column": "summary",
    "metrics": "coverage",
    "roles": "viewer",
    "content": "document_id,document,system,summary\nd1,The mill closes in May.,alder,The mill closes.\n",
    "files": "summaries.csv",
    "file": "summaries.csv",
    "message": "Not found.",
    "client": "tab-1",
}
"""Example values by field name."""
FORMATS: Mapping[str, str] = {
    "date-time": "2026-05-04T09:30:00Z",
    "date": "2026-05-04",
    "uri": "https://coverdict.example/api/v1/projects/",
    "email": "mona@example.org",
    "binary": "summaries.csv",
}
OTHER_WORD = "news"
DEEPEST = 40

Schema = Mapping[str, Any]


def add_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add examples to the requests and successful responses of the schema."""
    components = result["components"]["schemas"]
    for media in _bodies(result):
        media["example"] = _made_of(media["schema"], "", components, DEEPEST)
    return result


def _bodies(result: Schema) -> Iterator[dict[str, Any]]:
    for operation in (each for methods in result["paths"].values() for each in methods.values()):
        bodies = [operation.get("requestBody", {})]
        bodies += [answer for code, answer in operation["responses"].items() if code < "400"]
        for body in bodies:
            yield from (media for media in body.get("content", {}).values() if media.get("schema"))


def _made_of(schema: Schema, name: str, components: Schema, depth: int) -> Any:
    while several := [each for kind in ("allOf", "oneOf", "anyOf") for each in schema.get(kind, ())]:
        schema = several[0]
    if "$ref" in schema:
        found = components[schema["$ref"].rpartition("/")[2]]
        return _made_of(found, name, components, depth - 1) if depth else None
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("default") is not None:
        return schema["default"]
    if schema.get("type") == "object":
        return _object(schema, components, depth)
    if "prefixItems" in schema:
        return [_made_of(each, name, components, depth) for each in schema["prefixItems"]]
    if schema.get("type") == "array":
        return [_made_of(schema["items"], name, components, depth)] * max(1, schema.get("minItems", 1))
    return _plain(schema, name)


def _plain(schema: Schema, name: str) -> Any:
    kinds = schema.get("type")
    match kinds[0] if isinstance(kinds, list) else kinds:
        case "string":
            word = FORMATS.get(schema.get("format", "")) or WORDS.get(name) or OTHER_WORD
            return word[: schema.get("maxLength", len(word))]
        case "integer" | "number":
            return max(schema.get("minimum", 0), min(1, schema.get("maximum", 1)))
        case "boolean":
            return False
        case _:
            return {}


def _object(schema: Schema, components: Schema, depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    if not properties and isinstance(schema.get("additionalProperties"), Mapping):
        more = schema["additionalProperties"]
        return {"coverage": _made_of(more, "coverage", components, depth - 1) if more and depth else {}}
    return {name: _made_of(each, name, components, depth - 1) for name, each in properties.items()}

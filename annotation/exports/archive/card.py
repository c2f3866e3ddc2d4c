"""The data card of an archive: what is in it and where it comes from, with the front matter that data hubs read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotation.models import Document, DocumentSet
from annotation.operator_commands import as_typed

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "n>1M"


def data_card(project: Project, people: People, files: Sequence[Mapping[str, Any]]) -> str:
    """Markdown with a front matter in YAML; `files` are those of rows, with what they are."""
    tables = [each for each in files if "rows" in each]
    whose = (
        "People stand in it by name."
        if people.named
        else "People stand in it by pseudonyms; what they wrote freely is as they wrote it."
    )
    rows = "\n".join(f"| `{each['file']}` | {each['rows']} | {each['what']} |" for each in tables)
    return f"""---
{_front_matter(project, tables)}
---

# {project.name}

{project.description or "Summaries, judged claim by claim."}

## Licence

{project.licence or "Not stated. Ask whom you have it from."}

## Provenance

{project.provenance or "Not stated."}

## People

{whose}

## Files

Each line of a `.jsonl` file is one row; `schemas/` says what it holds. `id` names a row, and other rows refer to it.
Moments are in UTC. Columns of JSON hold it as text.

| file | rows | what |
|---|---|---|
{rows}

`manifest.json` names each file with its size and SHA-256.

## Restore

```sh
{as_typed("import_dataset", project.slug, f"{project.slug}-archive.zip", "--create")}
```
"""


def _front_matter(project: Project, tables: Sequence[Mapping[str, Any]]) -> str:
    """YAML; texts are written as JSON, which is YAML too."""
    spoken = (
        DocumentSet.objects.filter(project=project).order_by("language").values_list("language", flat=True)
    )
    documents = Document.objects.filter(document_set__project=project).count()
    size = next((name for most, name in _SIZES if documents < most), _LARGEST)
    lines = [
        f"pretty_name: {json.dumps(project.name, ensure_ascii=False)}",
        f"license: {json.dumps(project.licence.lower() or 'unknown', ensure_ascii=False)}",
        f"language: {json.dumps(list(spoken.distinct()), ensure_ascii=False)}",
        "task_categories: [summarization]",
        "tags: [evaluation, human-feedback, llm-as-a-judge]",
        f"size_categories: [{json.dumps(size)}]",
        "configs:",
    ]
    for each in tables:
        if each["rows"]:
            name = each["file"].removesuffix(".jsonl")
            lines += [f"- config_name: {name}", f"  data_files: {each['file']}"]
    return "\n".join(lines)

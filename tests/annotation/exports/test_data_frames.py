from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from annotation.core.tables.formats import FORMAT_NAMES
from annotation.core.tables.pseudonyms import People
from annotation.exports.levels import TABLES
from annotation.exports.write import write_file
from tests.annotation.exports.filled import filled
from tests.test_documents import DOCS, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db

LIBRARIES = ("pandas", "polars", "DuckDB", "`datasets`")


@pytest.fixture
def offline(tmp_path: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HOME", str(tmp_path / "hub"))
        patch.setenv("HF_DATASETS_OFFLINE", "1")
        import datasets

        patch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
        datasets.disable_progress_bars()
        yield tmp_path / "kept"


def types_told() -> dict[str, dict[str, str]]:
    part = TEXTS[DOCS / "exports.md"].partition("## Types in pandas")[2]
    rows = re.findall(r"^\| (\w+) \| `(.*?)` \| `(.*?)` \| `(.*?)` \| `(.*?)` \|$", part, re.MULTILINE)
    return {kind: dict(zip(LIBRARIES, types, strict=True)) for kind, *types in rows}


def opened(path: Path, kept: Path, **of_polars_alone: Any) -> dict[str, tuple[int, dict[str, str]]]:
    import datasets
    import duckdb
    import pandas as pd
    import polars as pl

    suffix = path.suffix.removeprefix(".")
    lines = {"lines": True} if suffix == "jsonl" else {}
    of_pandas = {"csv": pd.read_csv, "jsonl": pd.read_json, "parquet": pd.read_parquet}[suffix](path, **lines)
    of_polars = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}[suffix](
        path, **of_polars_alone
    )
    of_duckdb = duckdb.sql(f"FROM '{path}'")
    builder = "json" if suffix == "jsonl" else suffix
    loaded = datasets.load_dataset(builder, data_files=str(path), split="train", cache_dir=str(kept))
    return {
        "pandas": (len(of_pandas), {name: str(kind) for name, kind in of_pandas.dtypes.items()}),
        "polars": (len(of_polars), {name: str(kind) for name, kind in of_polars.schema.items()}),
        "DuckDB": (
            of_duckdb.shape[0],
            {name: str(kind) for name, kind in zip(of_duckdb.columns, of_duckdb.types, strict=True)},
        ),
        "`datasets`": (loaded.num_rows, {name: _told(kind) for name, kind in loaded.features.items()}),
    }


def _told(kind: Any) -> str:
    return f"List({_told(kind.feature)})" if hasattr(kind, "feature") else str(kind.dtype)


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_each_file_of_a_bundle_opens(world: World, tmp_path: Path, offline: Path, format_name: str) -> None:
    project, bundle = filled(world).project, tmp_path / "bundle.zip"
    made = write_file(
        project=project, people=People(project), level="bundle", format_name=format_name, path=bundle
    )
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(tmp_path)
    told = types_told()
    assert {member["level"] for member in made["members"]} == set(TABLES)
    for member in made["members"]:
        columns = TABLES[member["level"]].columns
        for library, (count, types) in opened(tmp_path / member["file"], offline).items():
            where = (member["file"], library)
            assert (where, count) == (where, member["rows"])
            assert (where, list(types)) == (where, [column.name for column in columns])
            if format_name == "parquet":
                assert (where, types) == (where, {each.name: told[each.kind][library] for each in columns})

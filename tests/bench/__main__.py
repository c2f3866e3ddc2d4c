"""Run the parts, print a table, and write the results to a file.

Call it with `python -m tests.bench [NAME]`. The exit status is 1 if a part failed to run; a missed bar is no failure.
"""

import argparse
import importlib
import json
import multiprocessing
import pkgutil
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tests.bench
from tests.bench import Row

RESULT = Path(__file__).resolve().parents[2] / "var" / "bench.json"


def parts() -> dict[str, str]:
    modules = [module.name for module in pkgutil.iter_modules(tests.bench.__path__)]
    return {name: f"{tests.bench.__name__}.{name}" for name in modules if not name.startswith("_")}


def measure(module: str) -> list[Row]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        rows: list[Row] = pool.submit(_load(module).run).result()
        return rows


def entry(rows: list[Row]) -> dict[str, Any]:
    measured_at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"measured_at": measured_at, "rows": [{**asdict(row), "is_met": row.is_met} for row in rows]}


def table(name: str, rows: list[Row]) -> str:
    return "\n".join([name, *(f"  {_line(row)}" for row in rows)])


def save(path: Path, measured: dict[str, dict[str, Any]]) -> None:
    kept = json.loads(path.read_text())["parts"] if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"parts": {**kept, **measured}}, indent=2) + "\n")


def _load(module: str) -> Any:
    return importlib.import_module(module)


def _line(row: Row) -> str:
    bars = [f"at most {row.at_most:g}"] if row.at_most is not None else []
    bars += [f"at least {row.at_least:g}"] if row.at_least is not None else []
    verdict = {True: "met", False: "MISSED", None: ""}[row.is_met]
    words = [f"{row.what:<58}", f"{row.value:>12,.4g} {row.unit:<10}", f"{' and '.join(bars):<18}"]
    return " ".join([*words, f"{verdict:<6}", row.note]).rstrip()


def main() -> int:
    known = parts()
    parser = argparse.ArgumentParser(prog="make bench", description="Measure the parts.")
    parser.add_argument("only", nargs="?", choices=list(known), help="measure this part alone")
    parser.add_argument("--output", type=Path, default=RESULT, help="file for the values (var/bench.json)")
    asked = parser.parse_args()
    measured, failed = {}, []
    for name in [asked.only] if asked.only else known:
        try:
            rows = measure(known[name])
        except Exception:  # noqa: BLE001 - one part that fails must not cost the others' results
            traceback.print_exc()
            failed.append(name)
            continue
        print(table(name, rows), flush=True)
        measured[name] = entry(rows)
    save(asked.output, measured)
    print(f"bench: written to {asked.output}")
    if failed:
        print(f"bench: failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

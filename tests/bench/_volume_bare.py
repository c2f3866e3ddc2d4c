"""The least that storing or writing the rows of a file can take: print the seconds of one of them.

`rows` takes the rows of every table that an import fills away and stores them again, by COPY or executemany, in one
transaction; `csv FILE` writes the cells of a CSV file once more.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from pathlib import Path

import django
from django.db import connection, transaction

TABLES = "documentset document system summary comparison unit claimset claim check verdict score"


def rows() -> float:
    return _copied() if connection.vendor == "postgresql" else _executed()


def _copied() -> float:
    tables = [f"annotation_{name}" for name in TABLES.split()]
    with tempfile.TemporaryDirectory() as folder, connection.cursor() as cursor:
        for table in tables:
            with (Path(folder) / table).open("wb") as file, cursor.copy(f"COPY {table} TO STDOUT") as copy:
                file.writelines(copy)
        cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
        began = time.perf_counter()
        with transaction.atomic():
            for table in tables:
                with (
                    (Path(folder) / table).open("rb") as file,
                    cursor.copy(f"COPY {table} FROM STDIN") as copy,
                ):
                    while block := file.read(65_536):
                        copy.write(block)
        return time.perf_counter() - began


def _executed() -> float:
    spent = 0.0
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        for name in TABLES.split():
            cursor.execute(f"SELECT * FROM annotation_{name}")
            if not (held := cursor.fetchall()):
                continue
            cursor.execute(f"DELETE FROM annotation_{name}")
            places = ", ".join(["%s"] * len(held[0]))
            began = time.perf_counter()
            cursor.executemany(f"INSERT INTO annotation_{name} VALUES ({places})", held)
            spent += time.perf_counter() - began
    return spent


def cells(path: Path) -> float:
    with path.open(newline="") as source, tempfile.TemporaryFile("w", newline="") as target:
        held = list(csv.reader(source))
        began = time.perf_counter()
        csv.writer(target, lineterminator="\n").writerows(held)
        return time.perf_counter() - began


if __name__ == "__main__":
    if sys.argv[1] == "csv":
        print(cells(Path(sys.argv[2])))
    else:
        django.setup()
        print(rows())

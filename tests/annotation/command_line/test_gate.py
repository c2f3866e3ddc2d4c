from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from annotation.command_line.main import main
from tests.llm_server import LLMServer, faults, llm_server

__all__ = ["llm_server"]

SENTENCES = (
    "The bridge reopened.",
    "A storm flooded the harbour.",
    "Teachers received higher wages.",
    "Scientists discovered a comet.",
    "Parliament rejected the budget.",
)
OWN_NAMES = ("document_id", "document", "reference", "system", "summary")


def written(
    path: Path, counts: Sequence[int], names: Sequence[str] = OWN_NAMES, system: str = "alder"
) -> str:
    with path.open("w", encoding="utf-8", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(names)
        for place, count in enumerate(counts):
            reference = " ".join(SENTENCES)
            summary = " ".join(SENTENCES[:count])
            lines.writerow([f"d{place}", f"Report {place}. {reference}", reference, system, summary])
    return str(path)


@pytest.fixture
def release(tmp_path: Path) -> str:
    return written(tmp_path / "release.csv", [3] * 6)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "before", "code"),
    [
        ([], None, 0),
        (["--fail-under", "coverage=.6,alignment=1"], None, 0),
        (["--fail-under", "coverage=.61"], None, 3),
        (["--fail-if-worse", "coverage:.02"], [3] * 6, 0),
        (["--fail-if-worse", "coverage:.2"], [4] * 5 + [5], 3),
        (["--fail-if-worse", "coverage:.2"], [4] * 6, 4),
        (["--fail-if-worse", "coverage:.02"], [4, 2] * 3, 4),
        (["--fail-under", "brevity=.1"], None, 1),
        (["--fail-under", "coverage=.61", "--fail-under", "alignment=.1"], None, 3),
        (["--fail-if-worse", "coverage:.2", "--fail-if-worse", "alignment:.2"], [4] * 5 + [5], 3),
        (["--fail-under", "coverage=.6", "--fail-under", "coverage=.6"], None, 0),
    ],
)
def test_the_exit_code_is_the_answer(
    release: str, tmp_path: Path, words: list[str], before: list[int] | None, code: int
) -> None:
    baseline = [] if before is None else ["--baseline", written(tmp_path / "old.csv", before)]
    assert main(["gate", release, *baseline, *words]) == code


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-under", "beauty=.5"], "there is no metric 'beauty'"),
        (["--fail-under", "coverage=7"], "coverage is at most 1"),
        (["--fail-under", "coverage=-1"], "a value of 0 or more"),
        (["--fail-under", "summarization=11", "--scale", "10"], "summarization is at most 10"),
        (["--scale", "0"], "a number above 0"),
        (["--threshold", "2"], "a share from 0 to 1"),
        (["--instruction", "Be strict."], "--instruction needs a model on a server"),
        (["--fail-if-worse", "coverage:0"], "a value above 0"),
        (["--fail-if-worse", "coverage:.1"], "needs --baseline"),
        (["--format", "yaml"], "invalid choice"),
        (["--fail-under", "coverage=.9", "--fail-under", "coverage=.1"], "coverage two values, 0.9 and 0.1"),
        (["--fail-under", "coverage=.9,coverage=.1"], "coverage two values, 0.9 and 0.1"),
        (["--fail-if-worse", "coverage:.2,coverage:.1"], "coverage two values, 0.2 and 0.1"),
        (["--judge", "m", "--max-cost", "5"], "--max-cost needs --price PROMPT,REPLY"),
        (["--judge", "m", "--max-cost", "5", "--price", "2,0"], "both above 0"),
        (["--max-cost", "5"], "--max-cost needs a model on a server: name it with --judge MODEL"),
        (["--base-url", "http://127.0.0.1:1/v1"], "--base-url needs a model on a server"),
        (["--questions", "-1"], "at least 0, not -1"),
        (["--seed", "-1"], "at least 0, not -1"),
        (["--judge", "m", "--price", "nan,1"], "prices of a million tokens"),
        (["--judge", "m", "--price", "1,-1"], "prices of a million tokens"),
        (["--judge", "m", "--price", "1,1", "--max-cost", "nan"], "a sum above 0"),
        (["--judge", "m", "--price", "1,1", "--max-cost", "0"], "a sum above 0"),
        (["-o", "none/report.txt"], "--output none/report.txt cannot be written: there is no folder none"),
        (["-o", "."], "--output . cannot be written: it is a folder"),
        (["--judge", "m", "--key-variable", "NO_SUCH_KEY"], "NO_SUCH_KEY holds no key"),
        (["--price", "cheap"], "prices of a million tokens"),
        (["--map", "summary"], "field=column"),
    ],
)
def test_a_wrong_call_ends_with_2(
    release: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["gate", release, *words])
    assert end.value.code == 2
    assert said in capsys.readouterr().err.replace("\n", " ")


def test_a_bad_row_is_named_and_nothing_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.jsonl"
    row = {"document_id": "d", "document": "It rained.", "system": "alder", "summary": "It rained."}
    path.write_text(f"{json.dumps(row)}\n{json.dumps({**row, 'document_id': 'e', 'document': ''})}\n")
    assert main(["gate", str(path)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "bad.jsonl: 1 problems. Nothing was judged.\nline 2, document: is empty." in told.err
    assert main(["gate", str(tmp_path / "none.csv")]) == 1
    assert "none.csv cannot be opened" in capsys.readouterr().err


def test_answers_of_people_in_the_file_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {
        "doc_id": "d",
        "source_text": "It rained on Monday. The mayor left.",
        "reference_text": "It rained. The mayor left.",
        "systems": [
            {"system": "alder", "summary_text": "It rained."},
            {"system": "birch", "summary_text": "Sun."},
        ],
        "claims": [
            {"claim_text": "It rained.", "weight": 1, "verdicts": {"alder": 0, "birch": 1}},
            {"claim_text": "The mayor left.", "weight": 3, "verdicts": {"birch": 0}},
        ],
    }
    path = tmp_path / "nested.jsonl"
    path.write_text(f"{json.dumps(line)}\n")
    assert main(["gate", str(path), "--metrics", "coverage", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    # For alder, people say no to one claim and the judge to the other. For birch, people say yes to the claim of
    # weight 1 and no to the claim of weight 3: 1 / (1 + 3).
    assert {row["system"]: row["scores"]["coverage"] for row in told["summaries"]} == {
        "alder": 0.0,
        "birch": 0.25,
    }


def test_claims_of_the_summaries_feed_alignment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {
        "doc_id": "d",
        "source_text": "It rained on Monday.",
        "systems": [{"system": "alder", "summary_text": "It rained. It snowed."}],
        "claims": [
            {"claim_text": "It rained.", "verdicts": {"alder": 0}},
            {"claim_text": "It snowed.", "verdicts": {"alder": 0}},
        ],
    }
    path = tmp_path / "nested.jsonl"
    path.write_text(f"{json.dumps(line)}\n")
    assert main(["gate", str(path), "--metrics", "alignment", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["summaries"][0]["scores"] == {"alignment": 0.0}


def test_a_report_goes_to_a_file_and_a_table_to_the_terminal(
    release: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--fail-under", "coverage=.7", "--format", "junit", "-o", str(tmp_path / "gate.xml")]
    assert main(["gate", release, *words]) == 3
    assert ElementTree.parse(tmp_path / "gate.xml").getroot().get("failures") == "1"
    assert "alder" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full, which refuses every write")
def test_a_report_that_cannot_be_written_still_goes_to_the_terminal(
    release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate", release, "--fail-under", "coverage=.6", "-o", "/dev/full"]) == 1
    told = capsys.readouterr()
    assert "PASS alder coverage 0.60 >= 0.60" in told.out
    assert told.err.splitlines()[-1] == "The report was not written to /dev/full: No space left on device."


def asked(llm_server: LLMServer, release: str, *words: str) -> int:
    return main(["gate", release, "--judge", "scripted", "--base-url", llm_server.base_url, *words])


def test_a_models_calls_are_made_once_and_kept(
    llm_server: LLMServer,
    release: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KEY_OF_THE_SERVER", "sk-test-4711")
    words = ("--key-variable", "KEY_OF_THE_SERVER", "--metrics", "coherence", "--fail-under", "alignment=1")
    assert asked(llm_server, release, *words, "--price", "1,2", "--max-cost", "1") == 0
    first = capsys.readouterr()
    made = len(llm_server.calls)
    # Six documents need one call each, and their six summaries up to two calls each: 6 + 6 * 2 = 18.
    assert "At most 18 calls." in first.err
    assert f"{made} new calls" in first.out
    assert {call.headers["authorization"] for call in llm_server.calls} == {"Bearer sk-test-4711"}
    assert asked(llm_server, release, *words) == 0
    assert len(llm_server.calls) == made
    assert "0 new calls" in capsys.readouterr().out
    assert (tmp_path / ".coverdict-calls.sqlite3").exists()


def test_another_model_that_answers_ends_it_with_4(
    llm_server: LLMServer, release: str, tmp_path: Path
) -> None:
    llm_server.served_model = "one"
    words = ("--fail-under", "alignment=.1")
    assert asked(llm_server, release, *words) == 0
    llm_server.served_model = "two"
    newer = written(tmp_path / "newer.csv", [4] * 6)
    assert asked(llm_server, newer, *words) == 4
    assert asked(llm_server, written(tmp_path / "newest.csv", [5] * 6), *words) == 0
    assert asked(llm_server, newer, "--baseline", release, *words) == 4
    assert asked(llm_server, newer, "--baseline", release, *words, "--accept-model-change") == 0


def test_an_instruction_goes_to_the_model(llm_server: LLMServer, release: str) -> None:
    asked(llm_server, release, "--metrics", "alignment", "--instruction", "Numbers may be rounded.")
    assert all("Numbers may be rounded." in str(call.body) for call in llm_server.calls)


def test_a_bar_can_name_a_criterion_of_ones_own(
    llm_server: LLMServer, release: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.json"
    path.write_text('[{"name": "tone", "question": "Is the tone neutral?", "scale": [1, 5]}]')
    # The server rates 4 on a scale from 1 to 5, which is .75.
    for bar, code in ((".7", 0), (".8", 3)):
        own = ("--criteria", str(path), "--fail-under", f"tone={bar}")
        assert asked(llm_server, release, *own) == code
    assert "tone 0.75 < 0.80" in capsys.readouterr().out
    assert all("claims" not in call.question for call in llm_server.calls)


def test_a_cap_leaves_summaries_unscored_and_nobody_can_tell(
    llm_server: LLMServer, release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--fail-under", "alignment=.9", "--price", "1,2")
    # The first call is expected to cost its prompt and a tenth of 4,000 reply tokens. Later calls are expected to cost
    # as much as earlier ones.
    assert asked(llm_server, release, *words, "--max-cost", "0.0015") == 4
    assert 0 < len(llm_server.calls) < 6
    assert "The money cap of 0.0015 leaves no room for another call" in capsys.readouterr().out
    # Stored answers are kept; the higher budget pays for the rest.
    assert asked(llm_server, release, *words, "--max-cost", "1") == 0
    assert len(llm_server.calls) == 6


def test_a_server_that_refuses_the_key_ends_it_with_1(
    llm_server: LLMServer, release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    llm_server.always(faults.status(401, "no such key"))
    assert asked(llm_server, release) == 1
    assert "HTTP 401 (check the API key)" in capsys.readouterr().err


def test_replies_of_which_none_is_usable_end_it_with_1(
    llm_server: LLMServer, release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    llm_server.always(faults.text("Well, well."))
    assert asked(llm_server, release, "--metrics", "conciseness,redundancy") == 1
    assert "Failed: nothing could be judged." in capsys.readouterr().out


def without_the_server(*words: str) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys\n"
        "for name in ('django', 'celery', 'pyarrow', 'rest_framework', 'environ'): sys.modules[name] = None\n"
        "from annotation.command_line.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.process
def test_a_gate_needs_neither_django_nor_a_queue(release: str) -> None:
    done = without_the_server("gate", release, "--fail-under", "coverage=.9")
    assert (done.returncode, "FAIL alder coverage 0.60 < 0.90" in done.stdout) == (3, True), done.stderr


@pytest.mark.process
def test_parquet_without_its_library_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    path.write_bytes(b"PAR1 and so on, but nobody can read it")
    done = without_the_server("gate", str(path))
    assert done.returncode == 1
    assert done.stderr.startswith(
        "release.parquet is a Parquet file, which needs the server's libraries: pip install"
    )


def test_columns_of_other_names_are_told_from_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "r.csv", [3] * 6, ("id", "article", "reference", "model", "prediction"))
    assert main(["gate", path, "--fail-under", "coverage=.6"]) == 0
    assert "summary=prediction" in capsys.readouterr().err

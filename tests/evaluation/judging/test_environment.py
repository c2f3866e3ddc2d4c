"""The package `openai` reads some variables when it is imported, so a process of its own is started."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.llm_server import LLMServer

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
SCRIPT = """
import json, sys
from evaluation import OpenAIJudge, check_claims, evaluate_summary
from evaluation.judging.errors import JudgeUnavailable

base_url, api_key = sys.argv[1], sys.argv[2] or None
judge = OpenAIJudge("scripted", base_url, api_key)
result = evaluate_summary("It rained. The mayor left.", "The mayor left.", judge=judge)
from evaluation.judging.openai import _transport
context = _transport._trusted()
print(json.dumps({
    "scores": dict(result.scores),
    "signature": judge.signature,
    "certificates": context.cert_store_stats(),
    "key log": context.keylog_filename,
}))
"""
_READ = re.compile(r"environ(?:\.get)?[(\[]\s*\"([A-Z][A-Z0-9_]+)\"")


def names_read_by_the_package() -> set[str]:
    folder = Path(openai.__file__).parent
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    found = {name for text in texts for name in _READ.findall(text)}
    # Variables of other programs (a home folder, a path) do not belong to the package.
    return {name for name in found if name.startswith(("OPENAI_", "AZURE_", "AWS_", "GOOGLE_", "VERTEX_"))}


def hostile(trap: str, folder: Path) -> dict[str, str]:
    named = dict.fromkeys(names_read_by_the_package(), "trap")
    named |= {name: trap for name in named if name.endswith(("_URL", "_ENDPOINT"))}
    certificate = folder / "trap.pem"
    certificate.write_text("")
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "WS_PROXY", "FTP_PROXY")
    return {
        **named,
        "OPENAI_API_KEY": "sk-trap",
        "OPENAI_BASE_URL": trap,
        "OPENAI_ORG_ID": "trap",
        "OPENAI_PROJECT_ID": "trap",
        "OPENAI_API_TYPE": "azure",
        "OPENAI_DEFAULT_HEADERS": "X-Trap: trap",
        "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer sk-trap\nX-Trap: trap",
        "OPENAI_LOG": "debug",
        **dict.fromkeys(proxies, trap),
        **{name.lower(): trap for name in proxies},
        "NO_PROXY": "",
        "no_proxy": "",
        "SSL_CERT_FILE": str(certificate),
        "SSL_CERT_DIR": str(folder),
        "SSLKEYLOGFILE": str(folder / "keys.log"),
        "REQUESTS_CA_BUNDLE": str(certificate),
        "CURL_CA_BUNDLE": str(certificate),
        "NETRC": str(folder / "netrc"),
    }


def run(base_url: str, api_key: str, environment: dict[str, str]) -> tuple[dict[str, Any], str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, base_url, api_key],
        capture_output=True,
        text=True,
        check=True,
        timeout=180,
        cwd=ROOT,
        env=environment,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told, done.stderr


def quiet_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "SYSTEMROOT")}


@pytest.mark.parametrize("api_key", ["sk-test-4711", ""], ids=["key", "no key"])
def test_a_hostile_environment_changes_no_request_and_no_score(
    llm_server: LLMServer, tmp_path: Path, api_key: str
) -> None:
    quiet = quiet_environment()
    plain, _ = run(llm_server.base_url, api_key, quiet)
    calls = len(llm_server.calls)
    with LLMServer() as trap:
        told, complaints = run(llm_server.base_url, api_key, quiet | hostile(trap.base_url, tmp_path))
        assert trap.connections == 0
    assert told == plain
    assert plain["scores"]["coverage"] == 0.5
    assert plain["key log"] is None
    before, after = llm_server.calls[:calls], llm_server.calls[calls:]
    assert sorted(map(_sent, after)) == sorted(map(_sent, before))
    assert "trap" not in "".join(map(_sent, after))
    assert not (tmp_path / "keys.log").exists()
    # OPENAI_LOG makes the package log, which must contain neither the key nor the texts.
    assert "test-4711" not in complaints
    assert "mayor" not in complaints


def _sent(call: Any) -> str:
    return json.dumps([call.method, call.path, sorted(call.headers.items()), call.body], sort_keys=True)

"""Compare the locked requirements with a database of advisories (`make audit`).

The exit code is 0 if the service knows every requirement and no advisory on them, 1 if a requirement has an
advisory. Otherwise it is 3, with SKIPPED and the reason. pip-audit also ends with 0 if its service knows no
package. So the program asks about `KNOWN_BAD` too, a version with known advisories.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LOCKS = ("runtime.txt", "dev.txt")
KNOWN_BAD = "jinja2==2.4.1"
SERVICES = ("pypi", "osv")
CLEAN, FOUND, SKIPPED = 0, 1, 3

Report = Mapping[str, Any]


def judged(report: Report, control: Report) -> tuple[int, Sequence[str]]:
    """Return the exit code and the lines to print; `report` is about the locks, `control` about `KNOWN_BAD`."""
    found = [
        f"{each['name']} {each['version']}: {advisory['id']}, fixed in {', '.join(advisory['fix_versions']) or 'none'}"
        for each in report["dependencies"]
        for advisory in each.get("vulns", ())
    ]
    if found:
        return FOUND, found
    if not any(each.get("vulns") for each in control["dependencies"]):
        return SKIPPED, [f"SKIPPED: the service knows no advisory of {KNOWN_BAD}, which has several."]
    unseen = [each["skip_reason"] for each in report["dependencies"] if "skip_reason" in each]
    if unseen or not report["dependencies"]:
        return SKIPPED, [
            f"SKIPPED: {len(unseen)} requirements could not be looked up: {', '.join(unseen[:3])}"
        ]
    return CLEAN, [f"no advisory on {len(report['dependencies'])} locked requirements"]


def reported(program: str, service: str, *arguments: str) -> Report:
    """Return pip-audit's report. Raises OSError with the last line of its errors if there is no report."""
    common = ("--disable-pip", "--progress-spinner", "off", "--timeout", "10", "--format", "json")
    done = subprocess.run(
        [program, *common, "--vulnerability-service", service, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        report: Report = json.loads(done.stdout)
    except ValueError as error:
        raise OSError((done.stderr.strip().splitlines() or ["no report"])[-1]) from error
    return report


def main(program: str) -> int:
    """Ask the services in turn until one of them can answer."""
    folder = Path(__file__).parent
    locks = [argument for name in LOCKS for argument in ("--requirement", str(folder / name))]
    code, words = SKIPPED, ["SKIPPED"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as bad:
        bad.write(f"{KNOWN_BAD}\n")
        bad.flush()
        for service in SERVICES:
            try:
                control = reported(program, service, "--no-deps", "--requirement", bad.name)
                code, words = judged(reported(program, service, "--require-hashes", *locks), control)
            except OSError as error:
                code, words = SKIPPED, [f"SKIPPED: {str(error)[:200]}"]
            for line in words:
                print(f"audit: {service}: {line}")  # noqa: T201
            if code != SKIPPED:
                break
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

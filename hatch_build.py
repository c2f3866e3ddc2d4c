"""The wheel's requirements, from the lists behind the locks: the tested versions and later minor ones."""

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """The library's requirements, and with the extra `server` those of the whole runtime."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the requirements to the wheel's metadata."""
        folder = Path(self.root) / "requirements"
        metadata["dependencies"] = wanted(folder / "library.in")
        metadata["optional-dependencies"] = {"server": wanted(folder / "runtime.in")}


def wanted(path: Path) -> list[str]:
    """Read a list as ranges: `numpy>=2.4.6,<3` for `numpy==2.4.6`. Included lists are not read."""
    pins = (line.split("==") for line in path.read_text(encoding="utf-8").splitlines() if "==" in line)
    return [f"{name}>={version},<{int(version.split('.')[0]) + 1}" for name, version in pins]

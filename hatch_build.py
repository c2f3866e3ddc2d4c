"""What the wheel needs, from the lists behind the locks: the versions tested, and later ones of the same series."""

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """The library's requirements, and with the extra `server` those of the whole runtime."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what pyproject.toml leaves to this."""
        folder = Path(self.root) / "requirements"
        metadata["dependencies"] = wanted(folder / "library.in")
        metadata["optional-dependencies"] = {"server": wanted(folder / "runtime.in")}


def wanted(path: Path) -> list[str]:
    """`numpy>=2.4.6,<3` for `numpy==2.4.6`; lists that are included are not repeated."""
    pins = (line.split("==") for line in path.read_text(encoding="utf-8").splitlines() if "==" in line)
    return [f"{name}>={version},<{int(version.split('.')[0]) + 1}" for name, version in pins]

import inspect
import subprocess
import sys
from types import ModuleType

import pytest

import evaluation
from evaluation import blend, errors, gate, judging, metrics, running, statistics, text

ROOMS = (blend, gate, judging, metrics, running, statistics, text)
# The number of public names of `evaluation`: those of the notebooks, README and docs. Further names belong in a
# package.
MOST_AT_THE_DOOR = 60
# The packages that `import evaluation` loads besides the standard library, without a client for services.
LOADED = {"evaluation", "numpy", "scipy", "sentencex", "simplemma", "snowballstemmer"}


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_front_door_is_short() -> None:
    assert len(evaluation.__all__) <= MOST_AT_THE_DOOR


@pytest.mark.parametrize("room", [evaluation, *ROOMS], ids=lambda room: room.__name__)
def test_every_public_name_is_there_once(room: ModuleType) -> None:
    assert len(set(room.__all__)) == len(room.__all__)
    assert all(hasattr(room, name) for name in room.__all__)
    # No function has the name of its module.
    assert not [name for name in room.__all__ if inspect.ismodule(getattr(room, name))]


def test_what_stands_at_the_door_is_what_stands_in_its_room() -> None:
    for name in set(evaluation.__all__) - set(vars(errors)):
        homes = [room for room in ROOMS if name in room.__all__]
        assert [getattr(room, name) is getattr(evaluation, name) for room in homes] == [True], name


def test_importing_loads_numbers_and_words_and_nothing_else() -> None:
    code = f"""
import sys
from evaluation import {", ".join(evaluation.__all__)}
packages = [name for name, module in sys.modules.items() if hasattr(module, "__path__")]
names = {{name.partition(".")[0] for name in packages}} - set(sys.stdlib_module_names)
print(*(name for name in names if not name.startswith("_")))
"""
    # NumPy imports charset_normalizer if a development tool has installed it.
    assert set(run_python(code).split()) - {"charset_normalizer"} == LOADED

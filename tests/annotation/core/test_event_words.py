"""Every verb that a service writes into the log has words of its own."""

import ast

from annotation.assessing.services.queue import GIVE_BACK
from annotation.core.event_words import EVENT_WORDS, in_words
from annotation.models import ClaimChange, UnitChange
from tests.sources import modules

# Put together as they are written down: the kinds of changes, and who gives back what they pulled.
PUT_TOGETHER = {GIVE_BACK, "add member", "change member", "remove member"}
PUT_TOGETHER |= {f"{kind} claim{'s' * (kind == 'join')}" for kind in ClaimChange.Kind.values}
PUT_TOGETHER |= {f"{kind} unit{'s' * (kind != 'split')}" for kind in UnitChange.Kind.values}
PUT_TOGETHER |= {"undo claim change", "undo unit change"}
PUT_TOGETHER |= {f"{act} project" for act in ("archive", "delete", "restore")} | {"open project again"}
PUT_TOGETHER |= {f"{act} judge" for act in ("add", "change", "archive", "restore")}


def written() -> set[str]:
    """The verbs that stand in the services as they are."""
    found = set()
    for _, tree in modules("annotation", holding=r"\blog\("):
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "log":
                continue
            verbs = [keyword.value for keyword in call.keywords if keyword.arg == "verb"]
            constants = [each for verb in verbs for each in ast.walk(verb) if isinstance(each, ast.Constant)]
            found |= {each.value for each in constants if isinstance(each.value, str)}
    return found


def test_every_verb_has_words() -> None:
    assert "override" in written()
    assert written() | PUT_TOGETHER == set(EVENT_WORDS)


def test_no_two_verbs_have_the_same_words() -> None:
    assert len(set(EVENT_WORDS.values())) == len(EVENT_WORDS)


def test_a_verb_without_words_stands_for_itself() -> None:
    assert in_words("fold") == "fold"

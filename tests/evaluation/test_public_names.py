import inspect
import subprocess
import sys

import pytest

import evaluation
from evaluation import errors

# Names that later work and other people's notebooks rely on.
PROMISED = [
    "JudgePanel",
    "LexicalJudge",
    "OpenAIJudge",
    "alignment",
    "bootstrap_interval",
    "brevity",
    "check_claims",
    "claim_coverage",
    "completeness",
    "composite",
    "conciseness",
    "count_words",
    "evaluate_summaries",
    "evaluate_summary",
    "extract_claims",
    "factual_alignment",
    "mean_coverage",
    "question_coverage",
    "redundancy",
    "score",
    "split_sentences",
    "stream_evaluations",
    "summarization",
    "topic_preservation",
]


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_promised_names_are_public() -> None:
    assert set(PROMISED) <= set(evaluation.__all__)


def test_every_public_name_is_there_once() -> None:
    assert len(set(evaluation.__all__)) == len(evaluation.__all__)
    assert all(hasattr(evaluation, name) for name in evaluation.__all__)


def test_no_function_shadows_its_module() -> None:
    assert not [name for name in evaluation.__all__ if inspect.ismodule(getattr(evaluation, name))]


def test_every_public_name_imports_in_a_fresh_interpreter_without_django() -> None:
    code = f"""
import sys
from evaluation import {", ".join(evaluation.__all__)}
print([name for name in sys.modules if name.partition(".")[0] in ("django", "annotation", "celery")])
"""
    assert run_python(code).strip() == "[]"


FUNCTIONS = [name for name in evaluation.__all__ if inspect.isfunction(getattr(evaluation, name))]


@pytest.mark.parametrize("name", sorted({*PROMISED, *FUNCTIONS}))
def test_public_functions_tell_an_example(name: str) -> None:
    assert "Example:" in (inspect.getdoc(getattr(evaluation, name)) or "")


def test_every_error_has_a_code_of_its_own_drawn_in_the_hierarchy() -> None:
    found = [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, errors.EvaluationError)
    ]
    codes = [error.code for error in found]
    assert len(set(codes)) == len(codes) == 9
    for error in found:
        assert f"{error.__name__}" in (errors.__doc__ or "")
        assert error.code in (errors.__doc__ or "")


def test_errors_are_value_errors() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        evaluation.brevity(5, 0)

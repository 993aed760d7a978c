"""The service under faults with fixed seeds, and the harness against its own mutants."""

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.prove, pytest.mark.xdist_group("chaos")]


def _chaos(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_service_keeps_its_invariants_under_faults():
    assert _chaos("--seconds", "25", "--seed", "1", "2", "3").count("clean") == 3


def test_every_mutant_is_caught():
    assert "MISSED" not in _chaos("--mutants", "--seed", "1")

"""The programs on the definition pages, run with a real torch: each prints a rate, and does what the agent does."""

import subprocess

import pytest

from stackviz.report.measuring import RUNNABLE
from stackviz.report.measuring.script import script_of
from tests.agent.test_benchmarks import ROOT, python_with_torch

# Without the one that takes a minute.
ON_CPU = [key for key, known in RUNNABLE.items() if "cpu" not in known.not_on and not known.lasts_s(known.light)]


@pytest.mark.parametrize("key", ON_CPU)
def test_a_program_prints_a_rate_in_the_unit_of_the_benchmark(key):
    known = RUNNABLE[key]
    done = subprocess.run(
        [python_with_torch(), "-c", script_of(known, known.light, "cpu")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rate, unit = done.stdout.split()
    assert unit == known.unit_of(known.light)
    assert float(rate) > 0


@pytest.mark.parametrize("key", [key for key in ON_CPU if not RUNNABLE[key].has_rates])
def test_a_program_and_the_agent_do_the_same_work(key):
    """In turns, in one thread, by processor time; docs/agent.md has figures of a quiet machine."""
    done = subprocess.run(
        [python_with_torch(), "-m", "tests.agent.beside_scripts", key, "--blocks", "5"],
        capture_output=True, text=True, timeout=300, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 0.5 < float(done.stdout.split("|")[-2]) < 2

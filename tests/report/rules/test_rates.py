"""The rule on rates that cannot be of one machine."""

from dataclasses import replace

import pytest

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from tests.report.rules.build import answer, answers, linux, mac, stated

HEAD = "| model | size | params | backend | ngl | test | t/s |\n| --- | ---: | ---: | --- | --: | --: | --: |\n"
ROW = "| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | {backend} | 99 | {test} | {rate} ± 0.10 |\n"


def benched(*rates, backend="Metal"):
    """A report with what a table of llama-bench states: (test, token/s)."""
    text = HEAD + "".join(ROW.format(test=test, rate=rate, backend=backend) for test, rate in rates)
    (machine,) = machines(read_all(text))
    return replace(mac(), results=machine.report().results)


def test_a_rate_a_hundred_times_its_neighbour_is_implausible():
    """The case of a review: nothing was said about it."""
    found = answer("rate-unlike-neighbour", benched(("tg 4096", 11.8), ("tg 8192", 1133.0)))
    assert (found.severity, found.component) == ("warning", "llama-cpp")
    assert stated(found.title) == ("tg 8192", "96", "tg 4096")
    assert found.evidence == {"tg 4096": "11.8 tokens/s", "tg 8192": "1,133 tokens/s"}
    assert found.advice == "Run both tests again: llama-bench -n 4096,8192"


@pytest.mark.parametrize(
    "rates",
    [
        [("tg128", 60.2), ("tg512", 58.9), ("tg8192", 11.8)],  # slower with length, as it should be
        [("pp1", 60.0), ("pp512", 5100.0)],  # one token is not processed at once with others
        [("pp512", 5100.0), ("tg128", 60.2)],  # two things
        [("tg128", 60.2), ("tg128 @ d32768", 4.1)],  # another depth is another setting
        [("tg128", 60.2)],
    ],
)
def test_rates_that_differ_for_a_reason_are_plausible(rates):
    assert answers("rate-unlike-neighbour", benched(*rates)) == []


def test_a_slow_prompt_beside_a_fast_one_is_implausible_beyond_its_length():
    assert answer("rate-unlike-neighbour", benched(("pp512", 50.0), ("pp1024", 5100.0))).severity == "warning"


def test_runs_on_other_back_ends_are_no_neighbours():
    slow, fast = benched(("tg128", 1.2), backend="CPU"), benched(("tg256", 120.0), backend="Metal")
    assert answers("rate-unlike-neighbour", replace(fast, results=(*slow.results, *fast.results))) == []


def test_a_report_without_results_is_not_asked():
    assert answers("rate-unlike-neighbour", linux()) == []

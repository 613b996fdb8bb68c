"""`python -m bench.fit [--worst N]`: how well cited rates are predicted from the other sources, each hidden in turn.

Reads the database of the site that the environment names (VAR_DIR, DATABASE_URL), with catalogue and cited results
loaded; prints Markdown. docs/fit.md holds its last output.
"""

import argparse
import os
import statistics
from collections.abc import Iterable, Iterator, Sequence

Row = tuple[float, float, float, float, str, str, str, int]  # cited, low, mid, high, test, vendor, what, cards


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worst", type=int, default=0, help="also list so many of the largest errors")
    worst = parser.parse_args().worst
    rows = list(_rows())
    print("| rates | what | n | accelerators | median error | 90th percentile | in the range |")
    print("|---|---|---|---|---|---|---|")
    for test in ("decode", "prefill"):
        of_test = [row for row in rows if row[4] == test]
        one = [row for row in of_test if row[7] == 1]
        print(_line(test, "one accelerator", one))
        for vendor in sorted({row[5] for row in one}):
            print(_line(test, f"one of {vendor}", [row for row in one if row[5] == vendor]))
        print(_line(test, "2 to 8, split by layers", [row for row in of_test if row[7] > 1]))
    for row in sorted(rows, key=_error, reverse=True)[:worst]:
        cited, low, mid, high, _test, _vendor, what, _cards = row
        print(f"{_error(row) * 100:6.0f} %  cited {cited:g}, predicted {mid:.4g} ({low:.4g} to {high:.4g})  {what}")


def _rows() -> Iterator[Row]:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")
    django.setup()
    from stackviz.pages.fit.evidence import calibrations, cited_rates, fit_evidence
    from stackviz.records.catalog.queries import public_catalogue

    catalogue = public_catalogue()
    fitted = calibrations(fit_evidence(catalogue), catalogue)
    for rate in cited_rates():
        calibration = fitted.decode if rate.test == "decode" else fitted.prefill
        card = calibration.cards[rate.accelerator]
        if not card.bandwidth or (rate.test == "prefill" and not card.matrix_flops):
            continue
        expected = calibration.predict(rate.work, card, without=rate.source_title)
        what = f"{rate.cards} x {rate.accelerator}, {rate.model} {rate.work.precision.slug}, {rate.source_title}"
        yield rate.tokens_per_s, expected.low, expected.mid, expected.high, rate.test, card.vendor, what, rate.cards


def _error(row: Row) -> float:
    return abs(row[2] / row[0] - 1)


def _line(test: str, what: str, rows: Sequence[Row]) -> str:
    if not rows:
        return f"| {test} | {what} | 0 | | | | |"
    errors = sorted(map(_error, rows))
    held = sum(low <= cited <= high for cited, low, _mid, high, *_rest in rows)
    accelerators = len(_named(rows))
    median, high = statistics.median(errors), errors[int(0.9 * (len(errors) - 1))]
    return (
        f"| {test} | {what} | {len(rows)} | {accelerators} | {median * 100:.1f} % | {high * 100:.0f} % "
        f"| {held / len(rows) * 100:.0f} % |"
    )


def _named(rows: Iterable[Row]) -> set[str]:
    return {row[6].partition(",")[0] for row in rows}


if __name__ == "__main__":
    main()

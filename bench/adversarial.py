"""`python -m bench.adversarial`: texts of 1 MB that were made to be slow, each read as the site reads what is pasted.

Shapes: one line again and again without a line end, runs of short marks inside lines, random lines, kinds mixed, each
kind's own beginning repeated. Prints p50, p95 and worst in seconds of the processor, and which texts are the slowest.
The same seed gives the same texts. They are read until the site's deadline, `--unbounded` to the end.
"""

import argparse
import json
import multiprocessing
import random
import statistics
import string
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, pairwise

from bench.fuzz_diagnose import corpus
from stackviz.report.dumps import answer, machines, mask_text
from stackviz.report.importers import read_all
from stackviz.report.importers.deadline import NEVER, Deadline, DeadlinePassed
from stackviz.report.rules import packaged_tables

CHARS = 1_000_000
DEADLINE_S = 1.5  # as reports.pasted.MOST_SECONDS, which needs Django
MARKS = (
    "a.", "0x", "GPU 0: ", "GPU", ":", "&", "|", "=", " ", "\t", "-", "_", "/", "\\", "\\n", "{", "[", "(", "<", "<a ",
    '"', "'", "`", "@", "a@", "a@b.", "0.", "0", "a", "A", "1,", ", ", "0:", "a:", "a=", "::", "..", "+", "|-", "| a ",
    "&lt;", "&#", "%", "$ ", "> ", "[0] ", "sm_", "cuda", "CUDA error", "torch", "/home/", "/home/a/", "C:\\Users\\",
    "version ", "serial", "token=", "-----", "\x1b[", "\u200b", "\u00e9", "NVIDIA ", "Device 0: ", "0MiB / ", "\x85",
    "\u2028", "None", "Error: ", "RuntimeError: ", "0-0", "user@host:", "fe80::", "1.1.1.", "aw_", "eyJ", "eyJa.",
    "GPU-",
)  # fmt: skip
LINE_CHARS = (80, 10_000)  # of lines that hold runs
LINES_TAKEN = 260  # lines of the corpus that are repeated without a line end
RANDOM_TEXTS = 120
MIXED_TEXTS = 160


@dataclass(frozen=True, slots=True)
class Hostile:
    """One text and how it was made."""

    shape: str
    text: str


def hostile_texts(seed: int = 1, chars: int = CHARS) -> Iterator[Hostile]:
    """All of them, each of about `chars` characters."""
    rng = random.Random(seed)
    texts = corpus()
    lines = sorted({line for text in texts for line in text.splitlines() if line.strip()})
    yield from _one_line(rng.sample(lines, min(LINES_TAKEN, len(lines))), chars)
    yield from _runs(rng, lines, chars)
    yield from _random_lines(rng, lines, chars)
    yield from _mixed(rng, texts, lines, chars)
    yield from _beginnings(texts, chars)


def _fill(unit: str, chars: int) -> str:
    return (unit * (chars // len(unit) + 1))[:chars]


def _one_line(lines: list[str], chars: int) -> Iterator[Hostile]:
    for line in lines:
        yield Hostile(f"line without end: {line[:60]!r}", _fill(line, chars))


def _runs(rng: random.Random, lines: list[str], chars: int) -> Iterator[Hostile]:
    for mark in MARKS:
        yield Hostile(f"run: {mark!r}", _fill(mark, chars))
        for width in LINE_CHARS:
            run = _fill(mark, width)
            yield Hostile(f"lines of {width}: {mark!r}", _fill(f"{run}\n", chars))
            head = rng.choice(lines)[:60]
            yield Hostile(f"{head!r} and lines of {width}: {mark!r}", _fill(f"{head}{run}\n", chars))


def _random_lines(rng: random.Random, lines: list[str], chars: int) -> Iterator[Hostile]:
    words = sorted({word for line in lines for word in line.split()})
    for number in range(RANDOM_TEXTS):
        if number % 3 == 0:
            pool = [rng.choice(string.printable) for _ in range(4096)]
            unit = "".join(rng.choices(pool, k=min(chars, 100_000)))
        elif number % 3 == 1:
            unit = "\n".join(" ".join(rng.choices(words, k=rng.randint(1, 20))) for _ in range(8_000))
        else:
            unit = "".join(rng.choices(MARKS, k=20_000)) + rng.choice(["\n", ""])
        yield Hostile(f"random {number}", _fill(unit, chars))


def _mixed(rng: random.Random, texts: list[str], lines: list[str], chars: int) -> Iterator[Hostile]:
    for number in range(MIXED_TEXTS):
        parts = [rng.choice(texts)[:3_000] for _ in range(rng.randint(1, 4))]
        parts += [_fill(rng.choice(MARKS), rng.choice([50, 500, 5_000])) for _ in range(rng.randint(1, 4))]
        parts += rng.choices(lines, k=5)
        rng.shuffle(parts)
        yield Hostile(f"mixed {number}", _fill(rng.choice(["\n", "", " "]).join(parts), chars))


def _beginnings(texts: list[str], chars: int) -> Iterator[Hostile]:
    for text in texts:
        head = text.strip().splitlines()
        for count in (1, 3):
            for end in ("\n", ""):
                unit = end.join(line[:200] for line in head[:count]) + end
                yield Hostile(f"beginning of {count}, end {end!r}: {head[0][:50]!r}", _fill(unit, chars))


def seconds(text: str, *, is_bounded: bool) -> dict[str, float]:
    """What the steps cost: "read", "answer", "mask", in seconds of the processor."""
    marks = [time.process_time()]
    paste = read_all(text, Deadline(DEADLINE_S) if is_bounded else NEVER)
    marks.append(time.process_time())
    json.dumps(answer(machines(paste), packaged_tables(), not_understood=paste.not_understood))
    marks.append(time.process_time())
    with suppress(DeadlinePassed):
        mask_text(text, Deadline(DEADLINE_S) if is_bounded else NEVER)
    marks.append(time.process_time())
    return dict(zip(("read", "answer", "mask"), (b - a for a, b in pairwise(marks)), strict=True))


def _timed(hostile: Hostile) -> tuple[str, dict[str, float]]:
    return hostile.shape, seconds(hostile.text, is_bounded=True)


def _timed_to_the_end(hostile: Hostile) -> tuple[str, dict[str, float]]:
    return hostile.shape, seconds(hostile.text, is_bounded=False)


def figures(times: list[float]) -> str:
    cut = statistics.quantiles(times, n=20)
    return f"p50 {statistics.median(times):.2f} s, p95 {cut[-1]:.2f} s, worst {max(times):.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.adversarial", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--chars", type=int, default=CHARS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="only each so-many-th text")
    parser.add_argument("--unbounded", action="store_true")
    parser.add_argument("--show", type=int, default=15, help="so many of the slowest are listed")
    options = parser.parse_args()
    packaged_tables()
    chosen = islice(hostile_texts(options.seed, options.chars), 0, None, options.every)
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        timed = list(pool.imap(_timed_to_the_end if options.unbounded else _timed, chosen))
    print(f"{len(timed)} texts of {options.chars:,} characters")
    for step in ("read", "answer", "mask"):
        print(f"{step:<8} {figures([times[step] for _shape, times in timed])}")
    print(f"read and answered: {figures([times['read'] + times['answer'] for _shape, times in timed])}")
    for step in ("read", "answer", "mask"):
        print(f"\nthe slowest to {step}:")
        for shape, times in sorted(timed, key=lambda each: -each[1][step])[: options.show]:
            print(f"  {times[step]:6.2f} s  {shape}")


if __name__ == "__main__":
    main()

"""`python -m bench.fuzz_diagnose [--count 100000] [--seed 4] [--jobs 2]`: mutated dumps through all of diagnosing.

Each sample is read, put together, judged, answered and masked. It must raise nothing, give a report that the site would
take and an answer that is JSON, within its time and memory. A sample is identified by seed and number: `--only 31415`
runs it again. Real dumps are mutated too if ACCELWEB_SAMPLES names their folder; the number of each is printed.
"""

import argparse
import json
import multiprocessing
import os
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stackviz.report.dumps import answer, machines, mask_text
from stackviz.report.format import parse_report, to_json
from stackviz.report.importers import read_all
from stackviz.report.rules import packaged_tables

ROOT = Path(__file__).parents[1]
SAMPLES = Path(os.environ.get("ACCELWEB_SAMPLES") or ROOT.parent / "shared" / "samples")

LIMIT_S = 2.0  # of the processor's time, for any sample of up to LONGEST characters
LONGEST = 64 * 1024
LONG_ONES = 0.03  # share of the samples that may be as long as that; the others end at 3,000 characters
MEMORY_BYTES = 1536 * 2**20  # of address space, interpreter and tables included
MOST_SHOWN = 5
MASKED_TWICE = 20  # one sample in so many is masked again, and read as masked

Mutator = Callable[[random.Random, str, Sequence[str]], str]


def corpus() -> list[str]:
    """Texts to mutate: the project's own fixtures, and real dumps where they are."""
    folders = [ROOT / "tests" / "fixtures" / "dumps", ROOT / "tests" / "fixtures" / "mac", SAMPLES]
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths if path.suffix != ".tsv"]
    return [text for text in texts if text.strip()]


# ---- mutations ------------------------------------------------------------------------------------------------------


def torn(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    start, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
    return text[start:end]


def half(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    return text[: rng.randrange(len(text) + 1)]


def spliced(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + piece(rng, texts) + text[at:]


def joined(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    return rng.choice(["\n", "\n\n```\n", " ", "\n---\n"]).join([text, piece(rng, texts)])


def repeated(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    lines[at:at] = lines[at : at + rng.randint(1, 20)] * rng.choice([2, 5, 50, 300])
    return "\n".join(lines)


def shuffled(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    lines = text.split("\n")
    rng.shuffle(lines)
    return "\n".join(lines)


def thinned(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    return "\n".join(line for line in text.split("\n") if rng.random() < 0.8)


def flipped(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    content = bytearray(text.encode("utf-8", errors="replace"))
    for _ in range(rng.randint(1, 40) if content else 0):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return content.decode("utf-8", errors="replace")


UNICODE = (
    "\u202e", "\u200b", "\ufeff", "\u2028", "\x85", "\x00", "\ud800", "\U0010ffff", "e\u0301" * 40, "\uff11\uff12",
    "\u0664\u0665", "\u00b2", "\u2460", "\x1b[31m", "\x1b]0;x\x07", "\x9b",
    "\x0b", "\x0c", "\x1c", "\u00a0", "\u0130", "\ufb03", "\u1d7d8",
)  # fmt: skip


def hostile_unicode(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    for _ in range(rng.randint(1, 30)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(UNICODE) * rng.choice([1, 1, 1, 100]) + text[at:]
    return text


def quoted(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    mark = rng.choice(["> ", ">", "> > ", "| ", "    ", "\t", "# ", "// ", '"', "'", "* "])
    return "\n".join(mark * rng.choice([1, 1, 2, 3, 200]) + line for line in text.split("\n"))


def fenced(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    fence = rng.choice(["```", "~~~", "````", "<pre>", "<details><summary>x</summary>\n\n```"])
    return f"{fence * rng.choice([1, 1, 50])}\n{text}\n{fence}"


NUMBERS = (
    "9" * 5000, "1e309", "-1", "0", "NaN", "inf", "1" + "0" * 400, "0x" + "f" * 300, "1.2.3.4.5.6", "-0", "1_000",
    "\u0661\u0662\u0663",
)  # fmt: skip


def huge_numbers(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    digits = [at for at, letter in enumerate(text) if letter.isdigit()]
    for at in sorted(rng.sample(digits, min(len(digits), rng.randint(1, 12))), reverse=True):
        text = text[:at] + rng.choice(NUMBERS) + text[at + 1 :]
    return text


HTML = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", "-->", "<![CDATA[", "]]>", "<a" * 300,
    "&lt;&amp;&#0;&#xffffffff;", "<table><tr><td>", "</details>", "{{ 7*7 }}", "{% load x %}", "${7*7}",
    "%s%n%x", "'; DROP TABLE x; --", "\\" * 500,
)  # fmt: skip


def html(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    for _ in range(rng.randint(1, 10)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(HTML) + text[at:]
    return text


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE nvidia_smi_log [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
    + '<!ENTITY out SYSTEM "file:///etc/passwd">]>'
)


def xml_bomb(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    deep = rng.choice([10, 1000, 5000])
    body = rng.choice(["&j;", "&out;", "<gpu>" * deep, "<gpu>" * deep + "</gpu>" * deep, "<gpu a='1'" * deep])
    bomb = f"{BOMB}<nvidia_smi_log><driver_version>{body}</driver_version></nvidia_smi_log>"
    return rng.choice([bomb + text, text + bomb, text.replace("<nvidia_smi_log>", BOMB + "<nvidia_smi_log>" + body)])


def deep_json(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    deep = rng.choice([10, 900, 5000])
    opened = rng.choice(["[", '{"SPDisplaysDataType":[', '{"build_commit":', '{"a":', "[{"]) * deep
    return rng.choice([opened + text, text + opened, opened])


FLOODS = (
    *"| \t=-+:,.{[(a\n\r", "GPU 0: ", "GPU ", "/home/", "x@y", "0.", ":1", "Device 0: ",
)  # fmt: skip


def flooded(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(FLOODS) * rng.choice([10, 300, 5000]) + text[at:]


PREFIXES = (
    "2026-01-02 03:04:05,123 INFO ", "[1234.567890] ", "llama-1  | ", "Jan  2 03:04:05 host app[1]: ", "\x1b[2m",
    "user@host:~$ ", "In [3]: !",
)  # fmt: skip


def prefixed(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    prefix = rng.choice(PREFIXES)
    return "\n".join(prefix + line if rng.random() < 0.95 else line for line in text.split("\n"))


def mojibake(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    name = rng.choice(["latin-1", "cp1252", "cp437", "utf-16-le"])
    return text.encode("utf-8", errors="replace").decode(name, errors="replace")


def line_ends(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    end = rng.choice(["\r\n", "\r", "\n\n", "\\n", "\u2028", " ", ""])
    return text.replace("\n", end)


def words_swapped(rng: random.Random, text: str, _texts: Sequence[str]) -> str:
    words = text.split(" ")
    for _ in range(rng.randint(1, 30)):
        index, other = rng.randrange(len(words)), rng.randrange(len(words))
        words[index], words[other] = words[other], words[index]
    return " ".join(words)


MUTATORS: tuple[Mutator, ...] = (
    torn, half, spliced, joined, repeated, shuffled, thinned, flipped, hostile_unicode, quoted, fenced, huge_numbers,
    html, xml_bomb, deep_json, flooded, prefixed, mojibake, line_ends, words_swapped,
)  # fmt: skip


def piece(rng: random.Random, texts: Sequence[str]) -> str:
    """Mostly a few thousand characters of a text, begun at a line; at times the whole."""
    text = rng.choice(texts)
    longest = rng.choice([200, 400, 400, 800, 800, 1500, 1500, 3000, 6000, rng.choice([8000, 8000, LONGEST])])
    if len(text) <= longest:
        return text
    start = text.rfind("\n", 0, rng.choice([0, 0, rng.randrange(len(text))])) + 1
    return text[start : start + longest]


def sample(seed: int, number: int, texts: Sequence[str]) -> tuple[str, list[str]]:
    """Sample `number` of a seed, and the names of what was done to it. The same wherever it is made."""
    rng = random.Random(f"{seed}/{number}")
    text = piece(rng, texts)
    chosen = rng.sample(MUTATORS, rng.choice([1, 1, 2, 3, 4]))
    longest = LONGEST if rng.random() < LONG_ONES else 3000
    for mutate in chosen:
        text = mutate(rng, text, texts)[:longest]
    return text, [mutate.__name__ for mutate in chosen]


# ---- what must hold -------------------------------------------------------------------------------------------------


def diagnose(text: str, *, is_thorough: bool = False) -> int:
    """All of diagnosing. -> how many machines it found. Raises whatever goes wrong."""
    paste = read_all(text)
    found_machines = machines(paste)
    for machine in found_machines:
        report = machine.report()
        if parse_report(to_json(report)) != report:
            raise AssertionError("the report is not read as it was written")
    json.dumps(answer(found_machines, packaged_tables(), not_understood=paste.not_understood), allow_nan=False)
    masked = mask_text(text)
    if masked.count("\n") != text.count("\n"):
        raise AssertionError("masking changed the number of lines")
    if is_thorough:
        if mask_text(masked) != masked:
            raise AssertionError("masking twice is not masking once")
        machines(read_all(masked))
    return len(found_machines)


@dataclass(kw_only=True)
class Outcome:
    """What a run of samples came to."""

    samples: int = 0
    with_dump: int = 0
    several: int = 0
    characters: int = 0
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, -1)
    peak_bytes: int = 0
    mutations: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        for name in ("samples", "with_dump", "several", "characters", "seconds", "mutations", "failures"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest = max(self.slowest, other.slowest)
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)


def run(seed: int, numbers: Sequence[int], texts: Sequence[str], limit_s: float = LIMIT_S) -> Outcome:
    """These samples, one after the other."""
    outcome = Outcome()
    for number in numbers:
        text, names = sample(seed, number, texts)
        started = time.process_time()
        try:
            count = diagnose(text, is_thorough=number % MASKED_TWICE == 0)
        except Exception:  # noqa: BLE001 - whatever it is, it is what we look for
            outcome.failures.append((number, traceback.format_exc(limit=-6)))
            count = 0
        took = time.process_time() - started
        if took > limit_s:
            outcome.failures.append(
                (number, f"took {took:.2f} s, over {limit_s} s: {', '.join(names)}, {len(text)} characters")
            )
        outcome.samples += 1
        outcome.with_dump += count > 0
        outcome.several += count > 1
        outcome.characters += len(text)
        outcome.seconds += took
        outcome.slowest = max(outcome.slowest, (took, number))
        outcome.mutations.update(names)
    outcome.peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return outcome


def _worker(task: tuple[int, range]) -> Outcome:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    return run(task[0], task[1], corpus())


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.fuzz_diagnose", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int, help="this sample alone, with its whole error")
    options = parser.parse_args()
    texts = corpus()
    if options.only is not None:
        text, names = sample(options.seed, options.only, texts)
        print(f"{', '.join(names)}; {len(text)} characters; starts {text[:300]!r}")
        print(f"{diagnose(text, is_thorough=True)} machines")
        return 0
    total = Outcome()
    step = 500
    tasks = [(options.seed, range(at, min(at + step, options.count))) for at in range(0, options.count, step)]
    started = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for outcome in pool.imap_unordered(_worker, tasks):
            total.add(outcome)
            for number, problem in outcome.failures[:MOST_SHOWN]:
                print(f"--- sample {number}\n{problem}", flush=True)
            if total.samples % 5000 == 0:
                print(f"{total.samples} samples, {len(total.failures)} failures", file=sys.stderr, flush=True)
    print(summary(total, options.seed, len(texts), time.monotonic() - started))
    return 1 if total.failures else 0


def summary(total: Outcome, seed: int, texts: int, elapsed: float) -> str:
    characters = f"{total.characters / 1e6:,.0f} million characters"
    mean_ms, worst_ms = total.seconds / max(1, total.samples) * 1e3, total.slowest[0] * 1e3
    lines = {
        "samples": f"{total.samples:,} of seed {seed}, made from {texts} texts, {characters}",
        "failures": f"{len(total.failures)}",
        "a dump found": f"{total.with_dump:,}; several machines {total.several:,}",
        "time": f"{mean_ms:.1f} ms on average, worst {worst_ms:.0f} ms (sample {total.slowest[1]}), limit {LIMIT_S} s",
        "memory": f"peak {total.peak_bytes / 2**20:.0f} MiB, limit {MEMORY_BYTES / 2**20:.0f} MiB",
        "mutations": ", ".join(f"{name} {count}" for name, count in total.mutations.most_common()),
        "the run took": f"{elapsed:.0f} s",
    }
    return "\n".join(f"{name:<14} {text}" for name, text in lines.items())


if __name__ == "__main__":
    sys.exit(main())

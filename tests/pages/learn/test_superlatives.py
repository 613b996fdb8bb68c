"""What curated texts say of a whole set: newest, largest, all, no other. Each dates it, counts it, or is held here."""

import csv
import re
from collections.abc import Iterator

import pytest

from stackviz.records.catalog.files import read_catalogue
from stackviz.report.messages.registry import SYMPTOMS
from stackviz.report.rules import packaged_tables
from stackviz.report.rules.versions import numbers
from tests.live import ROOT

STACKS = ROOT / "stackviz/records/stacks/data"
COLUMNS = {
    ROOT / "stackviz/records/catalog/data/claims.csv": "answer",
    STACKS / "counterparts.csv": "differs",
    STACKS / "unfilled_roles.csv": "explanation",
    STACKS / "terms.csv": "differs",
    ROOT / "stackviz/pages/plan/data/support.csv": "note",
    ROOT / "stackviz/pages/explore/data/timeline.csv": "text",
}
SETS = "vendor|stack|accelerator|chip|framework|release|generation|component|sheet|benchmark"
NUMBERS = "three|four|five|six|seven|eight|nine|ten|eleven|twelve"
WHOLE = re.compile(
    r"\b(?:(?:new|old|young|long|short|larg|small|bigg|fast|slow|cheap|high|low)est|latest(?!/)|nobody|no other|the only"
    rf"|(?:every|the first|the last) (?:{SETS})|all (?:{SETS})s|no (?:release|generation)"
    rf"|(?:{NUMBERS}) (?:\w+ )?(?:{SETS}|way|kind|famil(?:y|ie))s)\b",
    re.IGNORECASE,
)
DATED = re.compile(r"\{\{|\b(?:19|20)\d\d\b|\b\d+\.\d")
"""A figure that is filled in, a year, a version: true of that day or release whatever comes later."""

DEFINITIONS = (
    "the newest CUDA",
    "compares the capability with the newest it was built for",
    "the newest ones have dropped it",
    "the newest NVIDIA driver that supports the card",
    "the fastest and the smallest, hundreds of MB",
    "the highest of the first, since the last reset",
    "the largest over all data types",
    "the highest it expects when power and temperature allow",
    "ranks the smallest",
    "“The largest batch that fits is best.”",
    "training of the largest models",
    "decoding images takes longest",
    "main memory is the only memory",
    "there is no other",
    "the newest of its branch",
    "Install the newest branch for a new card",
    "newest release of the program",
    "Install its newest release",
    "the newest toolkit of torch's major version",
    "the newest that it",
    "the last release that takes this one",
    "Install the newest release of Jetson Linux",
    "There is no other Xid",
    "For decades nobody needed anything else",
    "nobody calls it from a training script",
    "Nobody has written it yet, or only in a newer release",
    "names no release",
    "This is the latest code, not a release",
    "no release of torch or macOS will make this work",
    "Two ways to run a program",
    "Up to M3 it is the only public way",
    "not every generation gets an Ultra",
    "est of the list",
    "The lowest line of the traceback",
    "no release, built from source only",
    "Three kinds recur on [claims](/claims/)",
    "is above the highest of torch.cuda.get_arch_list()",
    "is below the lowest of torch.cuda.get_arch_list()",
    "every stack on the same eight layers",  # test_counts.py holds the number
)
"""Definitions, physics, and what follows from the words themselves: no row of the site's data makes one false."""


def newest(component):
    return max((row.version for row in packaged_tables().releases if row.component == component), key=numbers)


def values(field):
    return {
        line.device: line.value for line in read_catalogue().specs if line.field == field and line.status == "public"
    }


def capabilities_of_builds():
    rows = packaged_tables().rows("pytorch", "built-for", "compute-capability")
    return {capability for row in rows for capability in row.values.split()}


def last_intel_mac():
    rows = packaged_tables().rows("pytorch", "offers", "wheel")
    return max((row.version for row in rows if (row.platform, row.values) == ("macos-x86_64", "yes")), key=numbers)


def launches(slug):
    return {line.condition for line in read_catalogue().specs if (line.device, line.field) == (slug, "release_date")}


HELD = {
    "Every chip from M1 to M6 has one: 16 cores, 32 in an Ultra and in the [M6]": lambda: all(
        (cores == "32") == ("-ultra-" in slug or slug == "apple-m6")
        for slug, cores in values("neural_engine_cores").items()
        if slug.startswith("apple-m")
    ),
    "the last release is 1.2.0": lambda: newest("tensorflow-metal") == "1.2.0",
    "1.2.0 is the last release of the plug-in": lambda: newest("tensorflow-metal") == "1.2.0",
    "it is archived, its last release was 2.8": lambda: newest("ipex") == "2.8",
    "since Ada they have no NVLink": lambda: (
        not any(re.match(r"nvidia-geforce-rtx-[45]0", slug) for slug in values("interconnect_gb_s"))
    ),
    "no release of PyTorch names its compute capability yet": lambda: "10.7" not in capabilities_of_builds(),
    "no release names it yet": lambda: launches("nvidia-rubin") <= {"event=planned", "event=announced"},
    "no torch after 2.2.2, the last with wheels for Intel Macs": lambda: last_intel_mac() == "2.2.2",
}
"""What a row of the data can make false, with the question that asks it."""


def curated_texts() -> Iterator[str]:
    for file in sorted((ROOT / "stackviz/pages/learn/texts/en").rglob("*.md")):
        text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        yield from (block for block in re.split(r"\n\n|\n(?=[|-])", text) if not block.startswith("[^"))
    for file in sorted(STACKS.glob("*.toml")):
        yield from re.findall(r'"([^"\n]+)"', file.read_text(encoding="utf-8"))
    for file, column in COLUMNS.items():
        with file.open(encoding="utf-8", newline="") as lines:
            yield from (line[column] for line in csv.DictReader(lines))
    for symptom in SYMPTOMS:
        yield symptom.meaning
        yield from (text for cause in symptom.causes for text in (cause.text, cause.sign, cause.remedy))


def unreviewed(texts) -> list[str]:
    sentences = (each for text in texts for each in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*“])", re.sub(r"\s+", " ", text)))
    found = (each for each in sentences if WHOLE.search(each) and not DATED.search(each) and " " in each)
    return sorted({each for each in found if not any(known in each for known in (*DEFINITIONS, *HELD))})


def test_what_is_said_of_a_whole_set_is_dated_or_held():
    assert not unreviewed(curated_texts()), "name a year, a release or a {{ figure }}; or hold it here, in HELD"


@pytest.mark.parametrize("words", HELD)
def test_what_is_held_is_said_and_true(words):
    assert any(words in re.sub(r"\s+", " ", text) for text in curated_texts())
    assert HELD[words]()


def test_every_definition_is_still_said():
    texts = " ".join(re.sub(r"\s+", " ", text) for text in curated_texts())
    assert [words for words in DEFINITIONS if words not in texts] == []


def test_a_new_superlative_is_noticed():
    assert unreviewed(["R580 is supported longest.", "It is the newest release, of 2025."]) == [
        "R580 is supported longest."
    ]

"""The curated texts that are translated: which columns and keys of which data files. For tools/translations.py."""

import csv
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# File -> columns of a CSV, or keys at any depth of a TOML, whose texts a page shows.
FILES: dict[str, frozenset[str]] = {
    "stackviz/records/stacks/data/components.toml": frozenset({"is", "does", "install"}),
    "stackviz/records/stacks/data/stacks.toml": frozenset({"summary"}),
    "stackviz/records/stacks/data/operators.toml": frozenset({"is", "name"}),
    "stackviz/records/stacks/data/operator_steps.csv": frozenset({"does", "when"}),
    "stackviz/records/stacks/data/counterparts.csv": frozenset({"differs"}),
    "stackviz/records/stacks/data/unfilled_roles.csv": frozenset({"explanation"}),
    "stackviz/records/stacks/data/checked.csv": frozenset({"against"}),
    "stackviz/records/stacks/data/terms.csv": frozenset({"differs"}),
    "stackviz/records/stacks/data/memory.toml": frozenset(
        {"title", "summary", "name", "place", "what", "size", "note", "how", "text", "steps"}
    ),
    "stackviz/records/catalog/data/specs": frozenset({"note"}),  # every file of the folder
    "stackviz/records/catalog/data/aliases.csv": frozenset({"note"}),
    "stackviz/pages/fit/data/models.csv": frozenset({"note"}),
    "stackviz/records/hosts/data/hosts.csv": frozenset({"note", "teaches"}),
    "stackviz/records/catalog/data/claims.csv": frozenset({"subject", "claim", "answer"}),
    "stackviz/pages/explore/data/timeline.csv": frozenset({"text"}),
    "stackviz/pages/plan/data/support.csv": frozenset({"note"}),
    "stackviz/pages/compare/data/pairs.csv": frozenset({"title"}),
}
# Of these files the names in plain words are translated; PyTorch is PyTorch.
NAMED: frozenset[str] = frozenset(
    {"stackviz/records/stacks/data/components.toml", "stackviz/records/stacks/data/stacks.toml"}
)
_SCHEMA = "stackviz/pages/data/schema.py"  # what the data files hold, for /data/ and /data/schema/
_PLACES = "stackviz/records/stacks/data/stacks.toml"
_IN_PLAIN_WORDS = re.compile(r"[ (][a-z]{2,}|^(?:Processor|Microcode|Neural \w+|\w+ (?:GPU|NPU|CPU))$")
_WORDS = re.compile(r"(?<![\w.])[a-z]{3,}(?!\w)")


def curated_texts(root: Path) -> Iterator[str]:
    """Every such text of a repository, empty ones left out."""
    for name, keys in FILES.items():
        if (root / name).exists():  # not in the repository of a test
            yield from texts_of_file(root / name, keys)
        if name in NAMED and (root / name).exists():
            yield from filter(is_in_plain_words, texts_of_file(root / name, frozenset({"name"})))
    if (root / _PLACES).exists():
        yield from filter(_WORDS.search, _words_in_place_of_versions(root / _PLACES))
    if (root / _SCHEMA).exists():
        yield from _texts_of_schema()


def _texts_of_schema() -> Iterator[str]:
    from stackviz.pages.data.schema import TABLES, TYPES

    yield from TYPES.values()
    for table in TABLES:
        yield from (table.title, table.meaning, *(column.meaning for column in table.columns))


def _words_in_place_of_versions(path: Path) -> Iterator[str]:
    """Of "component | words in the version's place | …"."""
    for stack in tomllib.loads(path.read_text(encoding="utf-8")).values():
        for place in stack["places"]:
            _component, *words = (part.strip() for part in place.split("|"))
            yield from words[:1]


def is_in_plain_words(name: str) -> bool:
    """Whether a component or stack is named in words that have a translation: "Unified memory", not "PyTorch"."""
    return bool(_IN_PLAIN_WORDS.search(name))


def texts_of_file(path: Path, keys: frozenset[str]) -> Iterator[str]:
    """The texts of these columns or keys of a file; of a folder, those of its files that are more than arithmetic."""
    if path.is_dir():
        for each in sorted(path.glob("*.csv")):
            yield from filter(_WORDS.search, texts_of_file(each, keys))
        return
    if path.suffix == ".toml":
        yield from _texts_of(tomllib.loads(path.read_text(encoding="utf-8")), keys, is_text=False)
        return
    with path.open(encoding="utf-8", newline="") as file:
        yield from (row[key] for row in csv.DictReader(file) for key in sorted(keys) if row[key])


def _texts_of(node: Any, keys: frozenset[str], *, is_text: bool) -> Iterator[str]:  # noqa: ANN401 (of TOML)
    match node:
        case dict():
            for key, value in node.items():
                yield from _texts_of(value, keys, is_text=key in keys)
        case list():
            for value in node:
                yield from _texts_of(value, keys, is_text=is_text)
        case str() if is_text and node:
            yield node

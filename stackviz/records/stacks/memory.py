"""The memory models of data/memory.toml: where the tensors of a stack live, for the drawing and as text."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.utils.translation import get_language

from stackviz.draw.diagrams.boxes import SourceLink
from stackviz.draw.diagrams.memory import ComputeUnit, Limit, MemoryModel, Move, Pool
from stackviz.records.stacks.files import DATA, source_lines
from stackviz.web.i18n.curated_text import curated_words

FILE = "memory.toml"


def memory_model_of(stack: str) -> MemoryModel | None:
    """The memory model of a described stack, in the language of the page; None if it has none."""
    return next((model for model, stacks in _translated_models(get_language()).values() if stack in stacks), None)


@lru_cache(maxsize=4)
def _translated_models(_language: str | None) -> Mapping[str, tuple[MemoryModel, frozenset[str]]]:
    return {key: (_translated(model), stacks) for key, (model, stacks) in _models().items()}


def _translated(model: MemoryModel) -> MemoryModel:
    return replace(
        model,
        title=curated_words(model.title),
        summary=curated_words(model.summary),
        pools=tuple(
            replace(
                pool,
                name=curated_words(pool.name),
                what=curated_words(pool.what),
                size=curated_words(pool.size),
                note=curated_words(pool.note),
                enclosure=curated_words(pool.enclosure),
            )
            for pool in model.pools
        ),
        units=tuple(
            replace(unit, name=curated_words(unit.name), enclosure=curated_words(unit.enclosure))
            for unit in model.units
        ),
        moves=tuple(replace(move, name=curated_words(move.name), how=curated_words(move.how)) for move in model.moves),
        limits=tuple(replace(limit, text=curated_words(limit.text)) for limit in model.limits),
        steps=tuple(map(curated_words, model.steps)),
    )


@lru_cache(maxsize=1)
def _models() -> Mapping[str, tuple[MemoryModel, frozenset[str]]]:
    return read_models(DATA)


def read_models(folder: Path) -> Mapping[str, tuple[MemoryModel, frozenset[str]]]:
    """Key -> (model, slugs of its stacks). Raises KeyError for a source that the files do not list."""
    sources = {line["key"]: SourceLink(line["title"], line["url"]) for line in source_lines(folder)}
    text = (folder / FILE).read_text(encoding="utf-8")
    return {key: (_model(key, line, sources), frozenset(line["stacks"])) for key, line in tomllib.loads(text).items()}


def _model(key: str, line: Mapping[str, Any], sources: Mapping[str, SourceLink]) -> MemoryModel:
    return MemoryModel(
        key=key,
        title=line["title"],
        summary=line["summary"],
        pools=tuple(_pool(pool, sources[pool["source"]]) for pool in line["pools"]),
        units=tuple(
            ComputeUnit(unit["key"], unit["name"], unit["pool"], unit.get("place", "")) for unit in line["units"]
        ),
        moves=tuple(_move(move, sources[move["source"]]) for move in line["moves"]),
        limits=tuple(Limit(limit["pool"], limit["text"], sources[limit["source"]]) for limit in line["limits"]),
        steps=tuple(line["text"]["steps"]),
    )


def _pool(line: Mapping[str, str], source: SourceLink) -> Pool:
    enclosure = line.get("place", "")
    return Pool(
        key=line["key"],
        name=line["name"],
        what=line["what"],
        size=line["size"],
        note=line["note"],
        source=source,
        enclosure=enclosure,
    )


def _move(line: Mapping[str, Any], source: SourceLink) -> Move:
    return Move(
        start=line["from"],
        end=line["to"],
        name=line["name"],
        how=line["how"],
        call=line["call"],
        is_explicit=line["explicit"],
        source=source,
    )

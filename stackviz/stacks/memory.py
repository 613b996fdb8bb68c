"""Where the tensors of a stack live: the memory models of data/memory.toml, for the drawing and in words."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from stackviz.diagrams.memory import Limit, MemoryModel, Move, Pool, Unit
from stackviz.stacks.files import DATA, source_lines

FILE = "memory.toml"


def memory_model_of(stack: str) -> MemoryModel | None:
    """The model of the described stack with this slug; None where none is described for it."""
    return next((model for model, stacks in _models().values() if stack in stacks), None)


@lru_cache(maxsize=1)
def _models() -> Mapping[str, tuple[MemoryModel, frozenset[str]]]:
    return read_models(DATA)


def read_models(folder: Path) -> Mapping[str, tuple[MemoryModel, frozenset[str]]]:
    """The models with the stacks they hold for. Raises KeyError for a source that is not named in the files."""
    sources = {line["key"]: (line["title"], line["url"]) for line in source_lines(folder)}
    text = (folder / FILE).read_text(encoding="utf-8")
    return {key: (_model(key, told, sources), frozenset(told["stacks"])) for key, told in tomllib.loads(text).items()}


def _model(key: str, told: Mapping[str, Any], sources: Mapping[str, tuple[str, str]]) -> MemoryModel:
    return MemoryModel(
        key=key,
        title=told["title"],
        summary=told["summary"],
        pools=tuple(_pool(pool, *sources[pool["source"]]) for pool in told["pools"]),
        units=tuple(Unit(unit["key"], unit["name"], unit["pool"], unit.get("place", "")) for unit in told["units"]),
        moves=tuple(_move(move, *sources[move["source"]]) for move in told["moves"]),
        limits=tuple(Limit(limit["pool"], limit["text"], *sources[limit["source"]]) for limit in told["limits"]),
        steps=tuple(told["text"]["steps"]),
    )


def _pool(told: Mapping[str, str], title: str, url: str) -> Pool:
    place = told.get("place", "")
    return Pool(
        key=told["key"],
        name=told["name"],
        what=told["what"],
        size=told["size"],
        note=told["note"],
        source_title=title,
        source_url=url,
        place=place,
    )


def _move(told: Mapping[str, Any], title: str, url: str) -> Move:
    return Move(
        source=told["from"],
        target=told["to"],
        name=told["name"],
        how=told["how"],
        call=told["call"],
        is_explicit=told["explicit"],
        source_title=title,
        source_url=url,
    )

"""How a stack's memory is built, drawn: what computes, the memory it works in, and how bytes move.

    Host                     Package
    [CPU]                    [CPU] [GPU]
      |                        |     |
    [Main memory]            [Unified memory]
      ||  PCIe, a copy
    [Device memory]
      |
    [GPU]
    Card

Plain data -> a sketch. Pure: no ORM, no request.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pool:
    """A memory: "Device memory", "HBM or GDDR on the card". `place` is what encloses it: "Card"."""

    key: str
    name: str
    what: str = ""
    size: str = ""
    note: str = ""
    source_title: str = ""
    source_url: str = ""
    place: str = ""


@dataclass(frozen=True)
class Unit:
    """What computes, and the pool it works in."""

    key: str
    name: str
    pool: str
    place: str = ""


@dataclass(frozen=True)
class Move:
    """How bytes get from one pool or unit to another. `is_explicit`: only by a copy that a program asks for."""

    source: str
    target: str
    name: str
    how: str = ""
    call: str = ""
    cost: str = ""
    is_explicit: bool = True
    source_title: str = ""
    source_url: str = ""


@dataclass(frozen=True)
class Limit:
    """What a program may use of a pool."""

    pool: str
    text: str
    source_title: str = ""
    source_url: str = ""


@dataclass(frozen=True)
class MemoryModel:
    """`steps`: what happens to a tensor, a sentence each, in order."""

    key: str
    title: str
    summary: str
    pools: tuple[Pool, ...]
    units: tuple[Unit, ...]
    moves: tuple[Move, ...] = ()
    limits: tuple[Limit, ...] = ()
    steps: tuple[str, ...] = ()

"""Units: SI base units inside, scaled only when shown. Standard library only; imports nothing of ours.

A unit is named by its printed symbol, as sources print it: `GB/s` is decimal, `GiB` binary; the two are never mixed.

    >>> to_si(3350, "GB/s")
    3350000000000.0
    >>> format_quantity(3.35e12, "B/s").label
    '3.35 TB/s'
    >>> format_in(3.35e12, "GB/s").label
    '3,350 GB/s'
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Unit:
    """One printed unit.

    `si`: symbol of the base unit it converts to; `factor`: how many of that one of these is.
    """

    symbol: str
    si: str
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Shown:
    """A quantity for people: `text` in `unit`, scaled; `exact` the full figure in the base unit, for a hover."""

    text: str
    unit: str
    exact: str

    @property
    def label(self) -> str:
        return f"{self.text} {self.unit}".rstrip()


class UnknownUnit(KeyError):
    """No unit has this symbol; the text lists what there is."""

    def __str__(self) -> str:
        return f"unknown unit {self.args[0]!r}: use one of {', '.join(sorted(UNITS))}"


_PLAIN = (
    "count", "cores", "ALUs", "major", "USD", "W", "bit", "token/s", "op", "K", "V", "image/s", "sequence/s",
    "sentence/s", "sample/s", "frame/s", "item/s", "inference/s", "query/s", "step/s", "mel/s", "molecule/s", "J/token",
    "J/image", "J/video",
)  # fmt: skip
_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}


def _table() -> dict[str, Unit]:
    units = [
        Unit("", ""),
        *(Unit(symbol, symbol) for symbol in _PLAIN),
        Unit("bits", "bit"),
        Unit("mm2", "m2", 1e-6),
        Unit("nm", "m", 1e-9),
        Unit("million", "count", 1e6),
        Unit("billion", "count", 1e9),
        Unit("kW", "W", 1e3),
        Unit("mW", "W", 1e-3),
        Unit("J", "J"),
        Unit("mJ", "J", 1e-3),
        Unit("kJ", "J", 1e3),
        Unit("molecule/ms", "molecule/s", 1e3),
        Unit("LUP/s", "LUP/s"),
        Unit("MLUP/s", "LUP/s", 1e6),
        Unit("GLUP/s", "LUP/s", 1e9),
        Unit("s", "s"),
        Unit("ms", "s", 1e-3),
        Unit("us", "s", 1e-6),
        Unit("µs", "s", 1e-6),
        Unit("ns", "s", 1e-9),
        Unit("%", "1", 0.01),
        Unit("1", "1"),
    ]
    for prefix, factor in _DECIMAL.items():
        units += [
            Unit(f"{prefix}B", "B", factor),
            Unit(f"{prefix}B/s", "B/s", factor),
            Unit(f"{prefix}bit/s", "bit/s", factor),
            Unit(f"{prefix}Hz", "Hz", factor),
            Unit(f"{prefix}FLOP", "FLOP", factor),
            Unit(f"{prefix}FLOPS", "FLOP/s", factor),
            Unit(f"{prefix}FLOP/s", "FLOP/s", factor),
            Unit(f"{prefix}OPS", "op/s", factor),
            Unit(f"{prefix}op/s", "op/s", factor),
        ]
    for prefix, factor in _BINARY.items():
        units += [Unit(f"{prefix}B", "B", factor), Unit(f"{prefix}B/s", "B/s", factor)]
    return {unit.symbol: unit for unit in units}


UNITS: dict[str, Unit] = _table()

# What people read for each base unit: the printed symbols to choose from, smallest first.
_SCALES: dict[str, tuple[str, ...]] = {
    "B": ("B", "kB", "MB", "GB", "TB"),
    "B/s": ("B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"),
    "bit/s": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"),
    "Hz": ("Hz", "kHz", "MHz", "GHz"),
    "FLOP": ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"),
    "FLOP/s": ("FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"),  # in tera at most, as people compare them
    "op/s": ("op/s", "kop/s", "Mop/s", "Gop/s", "TOPS"),
    "s": ("ns", "us", "ms", "s"),
    "W": ("mW", "W", "kW"),
    "J": ("mJ", "J", "kJ"),
    "LUP/s": ("LUP/s", "MLUP/s", "GLUP/s"),
    "m2": ("mm2",),
}
_PRINTED = {"mm2": "mm²", "us": "µs", "count": "", "cores": "", "1": "", "token/s": "tokens/s"}
BINARY_BYTES = ("B", "KiB", "MiB", "GiB", "TiB")
# Outside these powers of ten a number is written as 1.5e300: nobody counts three hundred digits.
_PLAIN_POWERS = range(-9, 15)
_MOST_DECIMALS = 15


def unit_label(symbol: str) -> str:
    """The unit as people read it after a figure: `tokens/s`, `µs`, "" for a count."""
    return _PRINTED.get(symbol, symbol)


def unit(symbol: str) -> Unit:
    """The unit with this printed symbol. Raises UnknownUnit."""
    try:
        return UNITS[symbol]
    except KeyError:
        raise UnknownUnit(symbol) from None


def to_si(value: float, symbol: str) -> float:
    """`value` of unit `symbol` in its base unit. Raises UnknownUnit, ValueError when not finite."""
    amount = value * unit(symbol).factor
    if not math.isfinite(amount):
        raise ValueError(f"{value!r} {symbol} is not a finite quantity")
    return amount


def from_si(amount: float, symbol: str) -> float:
    """`amount` of the base unit in unit `symbol`. Raises UnknownUnit."""
    return amount / unit(symbol).factor


@lru_cache(maxsize=8192)
def format_number(value: float, digits: int = 4) -> str:
    """`value` with thousands separated and at most `digits` significant digits; whole numbers are kept whole.

    Never raises and never grows long: what came from outside may be of any size.

    >>> format_number(3350.0), format_number(989.4321), format_number(0.00123456)
    ('3,350', '989.4', '0.001235')
    >>> format_number(1.5e300), format_number(5e-324), format_number(math.inf)
    ('1.5e300', '4.941e-324', 'infinite')
    """
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if not math.isfinite(number):
        return "not a number" if math.isnan(number) else "infinite"
    if number.is_integer() and abs(number) < 10.0**_PLAIN_POWERS.stop:
        return f"{int(number):,}"
    power = math.floor(math.log10(abs(number)))
    if power not in _PLAIN_POWERS:
        mantissa, _e, exponent = f"{number:.{max(0, digits - 1)}e}".partition("e")
        return f"{_bare(mantissa)}e{int(exponent)}"
    return _bare(f"{number:,.{min(max(0, digits - 1 - power), _MOST_DECIMALS)}f}")


def _bare(text: str) -> str:
    """Without the zeros after the point that say nothing."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_in(amount: float, symbol: str, digits: int = 4) -> Shown:
    """`amount` (base unit) shown in the printed unit `symbol`. Raises UnknownUnit."""
    target = unit(symbol)
    return Shown(
        format_number(_clean(amount / target.factor), digits),
        unit_label(symbol),
        f"{format_number(amount, 12)} {unit_label(target.si)}".rstrip(),
    )


def readable_unit(amount: float, si: str, *, binary: bool = False) -> str:
    """The unit in which this amount of `si` reads best: `TFLOP/s` for 7.8e14 FLOP/s. `unit_label` prints it."""
    size, symbol = abs(amount), si
    for least, symbol in _steps(si, binary=binary):  # noqa: B007 - the smallest is left when none fits
        if size >= least:
            break
    return symbol


def format_quantity(amount: float, si: str, *, binary: bool = False, digits: int = 4) -> Shown:
    """`amount` of base unit `si` scaled for people: the largest printed unit in which it is at least one.

    `binary` shows bytes as KiB, MiB, GiB: for what a machine reports, never for what a data sheet prints.
    """
    return format_in(amount, readable_unit(amount, si, binary=binary), digits)


def quantity_label(amount: float, si: str, *, binary: bool = False, digits: int = 4) -> str:
    """The label of `format_quantity` without the exact figure: `3.35 TB/s`."""
    symbol = readable_unit(amount, si, binary=binary)
    text = format_number(_clean(amount / unit(symbol).factor), digits)
    return f"{text} {unit_label(symbol)}".rstrip()


@lru_cache(maxsize=64)
def _steps(si: str, *, binary: bool) -> tuple[tuple[float, str], ...]:
    """From which amount on each printed unit is used, the largest first."""
    scale = BINARY_BYTES if binary and si == "B" else _SCALES.get(si, (si,))
    return tuple((unit(symbol).factor * 0.99995, symbol) for symbol in reversed(scale))


_SCALED_WHEN_REPORTED = frozenset({"B", "B/s", "Hz", "W", "s", "FLOP/s"})


def format_reported(value: float, si: str) -> str:
    """A figure a machine reported, with its unit, for people: bytes in GiB, clocks in MHz, counts and shares bare.

    >>> format_reported(137438953472, "B"), format_reported(32, "count")
    ('128 GiB', '32')
    """
    if si in _SCALED_WHEN_REPORTED:
        return quantity_label(value, si, binary=si == "B", digits=4)
    if si == "1":
        return format_number(value, 3)
    return f"{format_number(value)} {si}" if si and si != "count" else format_number(value)


def format_factor(value: float) -> str:
    """A ratio for people: `2.9×`, `0.12×`, `1,200×`; `1.05×`, because two digits leave nothing of what is near 1."""
    return f"{format_number(value, 3 if 1 <= value < 1.1 or abs(value) >= 100 else 2)}×"


def format_at_least(value: float) -> str:
    """A lower bound of a ratio, never rounded up: `34×` for 34.84."""
    step = 10.0 ** (math.floor(math.log10(value)) - (1 if value < 100 else 2))
    return format_factor(math.floor(value / step + 1e-9) * step)


def format_counts(names: Iterable[str], separator: str = ", ") -> str:
    """Each name once, in the order of its first, with how many there are of it where there are several.

    >>> format_counts(["H100", "A40", "H100"])
    '2 × H100, A40'
    """
    return separator.join(format_count(name, count) for name, count in Counter(names).items())


def format_count(name: str, count: int) -> str:
    """`8 × H100`; of one thing the name alone."""
    return f"{count} × {name}" if count > 1 else name


def _clean(value: float) -> float:
    """Drops the binary dust a conversion leaves (400.00000000000006 -> 400.0)."""
    return float(f"{value:.12g}")

"""Bars in a table: their lengths for CSS. Pure data."""

from stackviz.base.light import light_dataclass


@light_dataclass(slots=True)
class Meter:
    """A bar in a table: percentages of the scale as text for CSS. `is_over`: the value exceeds the scale."""

    p: str
    lo: str = ""
    hi: str = ""
    is_over: bool = False

    @property
    def style(self) -> str:
        """The same as declarations of a style; `--all` where both ends of the interval are drawn at the value."""
        if not self.lo:
            return f"--p:{self.p}"
        if self.lo == self.p == self.hi:
            return f"--all:{self.p}"
        return f"--p:{self.p};--lo:{self.lo};--hi:{self.hi}"


def meter(value: float, scale: float, low: float | None = None, high: float | None = None) -> Meter:
    """The bar of `value` where `scale` is the full length. The interval is drawn only if both ends are known."""
    if scale <= 0:
        return Meter("0")
    if low is None or high is None:
        return Meter(_percent(value, scale), is_over=value > scale)
    return Meter(_percent(value, scale), _percent(low, scale), _percent(high, scale), is_over=value > scale)


def _percent(value: float, scale: float) -> str:
    return f"{min(max(value / scale * 100, 0), 100):.1f}".removesuffix(".0")

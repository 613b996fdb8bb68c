"""What a price must be: a known currency, a plausible amount, a day that has come or none. Pure: no database."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation

from django.utils.translation import gettext as _

KINDS = ("street", "rent")
UNDATED = "undated"  # in files, for the day of a price whose source does not date the offer
MOST_CARDS = 10_000
DECIMALS = 6
MOST_DIGITS = 18  # before and behind the point together
EXACT_DIGITS = 15  # of these may differ from zero: a database without decimals holds no more exactly
FIRST_DAY = date(2005, 1, 1)  # the first cards that could be programmed came a year later
# Least and most for one card, in a currency of which a unit buys about as much as a dollar: whatever is outside is a
# slip of the pen. A bound is never a conversion.
_BOUNDS = {"street": (Decimal(5), Decimal(5_000_000)), "rent": (Decimal("0.001"), Decimal(1_000))}
_SMALL_UNITS = {"CLP": 1_000, "HUF": 300, "IDR": 15_000, "INR": 80, "JPY": 100, "KRW": 1_000, "RUB": 80, "VND": 25_000}
_NO_MONEY = frozenset({"XXX", "XTS", "XAU", "XAG", "XPT", "XPD"})  # ISO 4217 has codes for metals and for nothing


def read_amount(text: str) -> Decimal:
    """`1669.99` as a number. Raises ValueError for anything but digits with a point."""
    problem = ValueError(_("amount is a number such as 1669.99, not %(text)r") % {"text": text[:40]})
    if not text.isascii() or not text.replace(".", "", 1).isdigit():
        raise problem
    try:
        return Decimal(text)
    except InvalidOperation:
        raise problem from None


def read_day(text: str) -> tuple[date | None, bool]:
    """(first day, whether only the month is known) of `2025-11-30` or `2025-11`; None for `undated`.

    Raises ValueError for anything else.
    """
    if text == UNDATED:
        return None, False
    is_month = len(text) == len("2025-11")
    try:
        day = date.fromisoformat(f"{text}-01" if is_month else text)
    except ValueError:
        day = None
    if day is None or not day.isoformat().startswith(text):
        words = _("day is a day such as 2025-11-30, a month such as 2025-11, or undated, not %(text)r")
        raise ValueError(words % {"text": text[:40]})
    return day, is_month


def price_problems(
    *, kind: str, amount: Decimal, currency: str, day: date | None, cards: int, today: date
) -> Iterator[tuple[str, str]]:
    """(field, what is wrong with it), of one price. `day`: None where the source does not date the offer."""
    if kind not in KINDS:
        yield "kind", _("kind must be one of %(kinds)s, not %(kind)r") % {"kinds": ", ".join(KINDS), "kind": kind[:40]}
    if not is_money(currency):
        words = _("currency is a code of ISO 4217 such as USD, not %(code)r")
        yield "currency", words % {"code": currency[:40]}
    if not 1 <= cards <= MOST_CARDS:
        yield "cards", _("cards is between 1 and %(most)s, not %(n)s") % {"most": MOST_CARDS, "n": cards}
    elif kind in KINDS:
        yield from _amount_problems(kind, amount, currency, cards)
    if day is None:
        return
    if day > today:
        yield "day", _("day lies in the future: %(day)s") % {"day": day}
    elif day < FIRST_DAY:
        yield "day", _("day is before %(first)s: %(day)s") % {"first": FIRST_DAY, "day": day}


def is_money(code: str) -> bool:
    """Whether it is a currency's code, in capitals."""
    from babel.numbers import is_currency  # here, since reading its tables takes a start longer than the rest

    return code == code.upper() and code not in _NO_MONEY and is_currency(code)


def _amount_problems(kind: str, amount: Decimal, currency: str, cards: int) -> Iterator[tuple[str, str]]:
    scale = _SMALL_UNITS.get(currency, 1)
    least, most = (bound * scale for bound in _BOUNDS[kind])
    if amount.is_finite() and not _can_be_stored(amount):
        words = _("amount has more than %(decimals)d decimals or more than %(digits)d digits: %(amount)s")
        yield "amount", words % {"decimals": DECIMALS, "digits": EXACT_DIGITS, "amount": f"{amount:f}"[:40]}
        return
    if not amount.is_finite() or not least <= amount / cards <= most:
        words = _("amount for one card is between %(least)s and %(most)s %(currency)s, not %(amount)s")
        of_one = f"{amount / cards:.6g}" if amount.is_finite() else str(amount)
        yield "amount", words % {"least": least, "most": most, "currency": currency[:3], "amount": of_one}


def _can_be_stored(amount: Decimal) -> bool:
    """Whether the column holds it as it is; zeros at its end do not count."""
    _sign, digits, exponent = amount.normalize().as_tuple()
    decimals = max(0, -int(exponent))
    whole = max(0, len(digits) + int(exponent))
    return decimals <= DECIMALS and whole <= MOST_DIGITS - DECIMALS and len(digits) <= EXACT_DIGITS

"""A price of an accelerator: what a shop asked for a card, or a cloud for an hour of it, and on which day."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length, Upper
from django.db.models.lookups import Exact
from django.utils import timezone
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from stackviz.records.curated.rows import Curated, history_records, is_source_page
from stackviz.records.prices.rules import DECIMALS, MOST_DIGITS, UNDATED, price_problems


class Price(Curated):
    """What was asked for `cards` of an accelerator together, at one seller on one day, as one source says.

    `day` is that of the offer, None where the source does not date it: the day on which a page was read is no day of
    a price.

    `amount` is in `currency` (ISO 4217) as printed, and is never converted. Of a day that is known by its month alone
    (`is_month`) `day` is the first. A public price does not change: a wrong one is retired, and the right one added.
    `proposed_by` and `checked_by` are different people, null for prices of the curated files.
    """

    class Kind(models.TextChoices):
        STREET = "street", _("street price")
        RENT = "rent", _("rent per hour")

    class Status(models.TextChoices):
        REVIEW = "review", _("in review")
        PUBLIC = "public", _("public")
        RETIRED = "retired", _("retired")

    accelerator = models.ForeignKey("catalog.Accelerator", models.CASCADE, related_name="prices")
    kind = models.CharField(max_length=6, choices=Kind.choices)
    amount = models.DecimalField(
        max_digits=MOST_DIGITS, decimal_places=DECIMALS, help_text=_("as printed, for all cards together")
    )
    currency = models.CharField(max_length=3, help_text=_("code of ISO 4217, such as USD"))
    day = models.DateField(
        null=True, blank=True, help_text=_("the day of the offer; empty where the source does not date it")
    )
    is_month = models.BooleanField(_("only the month is known"), default=False)
    seller = models.CharField(max_length=60, help_text=_("the shop, or the cloud and its region"))
    offer = models.CharField(max_length=80, blank=True, help_text=_("the model, the instance or the terms"))
    cards = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])
    source = models.ForeignKey("catalog.Source", models.PROTECT, related_name="prices")
    note = models.CharField(max_length=600, blank=True)
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.REVIEW)
    is_preferred = models.BooleanField(_("preferred"), default=False)
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    checked_at = models.DateTimeField(null=True, blank=True, editable=False)
    history = history_records()

    class Meta:
        app_label = "catalog"
        ordering = ["accelerator", "kind", F("day").desc(nulls_last=True), "seller", "offer", "-is_preferred", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="price_amount_positive"),
            models.CheckConstraint(condition=Q(cards__gte=1), name="price_cards_at_least_one"),
            models.CheckConstraint(condition=Q(kind__in=["street", "rent"]), name="price_kind_is_known"),
            models.CheckConstraint(
                condition=Q(status__in=["review", "public", "retired"]), name="price_status_is_known"
            ),
            models.CheckConstraint(
                condition=Exact(Length("currency"), 3) & Exact(Upper("currency"), F("currency")),
                name="price_currency_is_a_code",
            ),
            models.CheckConstraint(condition=~Q(seller=""), name="price_has_a_seller"),
            models.CheckConstraint(
                condition=Q(is_month=False) | Q(day__isnull=False, day__endswith="-01"),
                name="price_month_is_its_first_day",
            ),
            models.CheckConstraint(
                condition=Q(is_preferred=False) | Q(status="public"), name="price_preferred_is_public"
            ),
            models.CheckConstraint(
                condition=Q(checked_by__isnull=True) | ~Q(checked_by=F("proposed_by")),
                name="price_checked_by_somebody_else",
            ),
            models.UniqueConstraint(
                fields=["accelerator", "kind", "currency", "day", "is_month", "seller", "offer", "cards"],
                condition=Q(is_preferred=True),
                name="price_one_preferred_per_seller_and_day",
                violation_error_message=_("Another price of this seller and day is already preferred."),
            ),
            models.UniqueConstraint(  # of the above no database compares days that are null
                fields=["accelerator", "kind", "currency", "seller", "offer", "cards"],
                condition=Q(is_preferred=True, day__isnull=True),
                name="price_one_preferred_per_seller_undated",
                violation_error_message=_("Another undated price of this seller is already preferred."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.label}, {self.seller}, {self.day_words}"

    @property
    def label(self) -> str:
        """`55.04 USD`: the amount, for all cards together."""
        return f"{money(self.amount)} {self.currency}"

    @property
    def day_text(self) -> str:
        """`2025-11-30`, or `2025-11` where only the month is known, or `undated`: as files have it."""
        return day_text(self.day, is_month=self.is_month)

    @property
    def day_words(self) -> str:
        """Return `day_text` in the reader's language."""
        return day_words(self.day, is_month=self.is_month)

    @property
    def slot(self) -> tuple[object, ...]:
        """What one preferred price may stand for."""
        terms = (self.accelerator_id, str(self.kind), self.currency, self.day, self.is_month)
        return (*terms, self.seller, self.offer, self.cards)

    @property
    def of_one(self) -> float:
        """The amount for one card, in the same currency."""
        return float(self.amount) / self.cards

    def clean(self) -> None:
        if any(getattr(self, name) is None for name in ("amount", "cards")):
            return  # the form has said so
        faults = price_problems(
            kind=self.kind,
            amount=self.amount,
            currency=self.currency,
            day=self.day,
            cards=self.cards,
            today=timezone.now().date(),
        )
        problems: dict[str, Any] = dict(faults)
        if self.is_month and (self.day is None or self.day.day != 1):
            problems["day"] = _("Give the first day of the month where only the month is known.")
        if problems:
            raise ValidationError(problems)

    def content(self) -> tuple[object, ...]:
        return (
            self.accelerator_id,
            str(self.kind),
            plain_amount(self.amount),
            self.currency,
            str(self.day) if self.day else "undated",  # as in earlier loads, also of months
            self.is_month,
            self.seller,
            self.offer,
            self.cards,
            self.source_id,
            self.note,
            str(self.status),
            self.is_preferred,
        )


def day_text(day: date | None, *, is_month: bool) -> str:
    """Return the day of an offer as files have it: `2025-11-30`, `2025-11` or `undated`."""
    if day is None:
        return UNDATED
    return f"{day:%Y-%m}" if is_month else f"{day:%Y-%m-%d}"


def day_words(day: date | None, *, is_month: bool) -> str:
    """Return `day_text` in the reader's language."""
    return day_text(day, is_month=is_month) if day else _now("undated")


def plain_amount(amount: Decimal) -> str:
    """`55.04`, `30,000`: without the zeros that the database adds, thousands apart."""
    text = f"{amount:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def money(amount: Decimal) -> str:
    """`55.50`, `6.155`, `30,000`: cents are two digits or more, and none where there are none."""
    text = plain_amount(amount)
    whole, _point, cents = text.partition(".")
    return f"{whole}.{cents:0<2}" if cents else whole


def plain_number(amount: float) -> str:
    """An amount that was divided, to the cent; of less than ten, four digits that count."""
    return money(Decimal(f"{amount:.2f}" if amount >= 10 else f"{amount:.4g}"))


# --- reading ---


def public_prices_of(accelerator_ids: Collection[int]) -> Mapping[int, tuple[Price, ...]]:
    """The public prices of each accelerator with sources, alternatives included, newest first. One query."""
    rows = Price.objects.filter(status=Price.Status.PUBLIC, accelerator__in=accelerator_ids)
    grouped: dict[int, list[Price]] = defaultdict(list)
    for price in newest_prices_first(rows.select_related("source")):
        grouped[price.accelerator_id].append(price)
    return {pk: tuple(prices) for pk, prices in grouped.items()}


def newest_prices_first(prices: Iterable[Price]) -> list[Price]:
    """Sort by day, the newest first, undated ones last; those of one day by seller and offer, the preferred first."""
    return sorted(prices, key=lambda row: (-_ordinal(row), row.seller, row.offer, not row.is_preferred, row.pk))


def _ordinal(price: Price) -> int:
    return price.day.toordinal() if price.day else 0


def prices_of_month(prices: Iterable[Price], when: date) -> tuple[Price, ...]:
    """Return the preferred prices of that calendar month: no other price says what a result of the day cost."""
    dated = ((price, price.day) for price in prices if price.is_preferred and price.day)
    return tuple(price for price, day in dated if (day.year, day.month) == (when.year, when.month))


# --- checking what is stored ---


def stored_price_problem(price: Price) -> str:
    """Return the first thing that is wrong with a stored price, "" if nothing is."""
    problems = price_problems(
        kind=price.kind,
        amount=price.amount,
        currency=price.currency,
        day=price.day,
        cards=price.cards,
        today=timezone.now().date(),
    )
    wrong = next((problem for _field, problem in problems), "")
    if not wrong and not is_source_page(price.source.url):
        return f"the web address of a page for its source, not {price.source.url!r}"
    return wrong


def preference_problems(prices: Iterable[Price]) -> Iterator[tuple[Sequence[Price], str]]:
    """Yield the prices of each seller and day, with what is wrong if not exactly one of them is preferred."""
    alike: dict[tuple[object, ...], list[Price]] = defaultdict(list)
    for price in prices:
        alike[price.slot].append(price)
    for rows in alike.values():
        chosen = [price for price in rows if price.is_preferred]
        yield chosen or rows, "" if len(chosen) == 1 else f"one preferred price, not {len(chosen)}"

"""What a thing to try is: inputs, the numbers of an address, the answer. The things themselves are in `tries/`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.discovery import modules_of
from stackviz.base.units import format_number
from stackviz.pages.learn import tries
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.web.http.address import AddressReader, Note

__all__ = [
    "AnswerRow",
    "ChoiceInput",
    "NumberInput",
    "Try",
    "TryAnswer",
    "TryValues",
    "accelerator_input",
    "all_tries",
    "read_values",
]

Text = str | Promise


@dataclass(frozen=True, kw_only=True)
class NumberInput:
    """A number to type, from `low` to `high`. `unit`: shown after it."""

    name: str
    label: Text
    default: float
    low: float
    high: float
    unit: str = ""
    is_whole: bool = True

    def read(self, reader: AddressReader) -> float:
        """The number; with a note naming the field, the default where it cannot be used."""

        def parse(text: str) -> float | None:
            try:
                value = float(text.replace(",", "").replace("_", ""))
            except ValueError:
                return None
            is_usable = self.low <= value <= self.high and (not self.is_whole or value == int(value))
            return value if is_usable else None

        low, high = format_number(self.low, digits=15), format_number(self.high, digits=15)
        problem = (
            _("%(label)s is a whole number from %(low)s to %(high)s, not “%%(value)s”")
            if self.is_whole
            else _("%(label)s is a number from %(low)s to %(high)s, not “%%(value)s”")
        ) % {"label": self.label, "low": low, "high": high}
        given = reader.parsed(self.name, parse, problem, _("%(n)s is used") % {"n": self.text(self.default)})
        return self.default if given is None else given

    def text(self, value: float) -> str:
        """As the address and the form write it."""
        return str(int(value)) if value == int(value) else repr(value)


@dataclass(frozen=True, kw_only=True)
class ChoiceInput:
    """One of some options, `value -> words`, which may come from the catalogue."""

    name: str
    label: Text
    default: str
    options: Callable[[PublicCatalogue], Mapping[str, Text]]


TryValues = Mapping[str, float | str]


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A line of the answer: what, how much, and how it comes about. `share`: 0 to 1, as a bar; None: no bar."""

    label: str
    text: str
    formula: str = ""
    share: float | None = None


@dataclass(frozen=True, slots=True)
class TryAnswer:
    """`sentence`: the answer in a line; `rows`: how it comes about."""

    sentence: str
    rows: tuple[AnswerRow, ...]


@dataclass(frozen=True, kw_only=True)
class Try:
    """`key`: its address; `question`: what it answers; `answer`: from the values by name of input."""

    key: str
    title: Text
    question: Text
    inputs: tuple[NumberInput | ChoiceInput, ...]
    answer: Callable[[TryValues, PublicCatalogue], TryAnswer]

    def answered(self, values: TryValues, catalogue: PublicCatalogue) -> TryAnswer:
        """The answer; where a choice has no options, as in a catalogue that is empty yet, that."""
        if "" in values.values():
            return TryAnswer(_("Nothing that this could be computed for is published yet."), ())
        return self.answer(values, catalogue)


@cache
def all_tries() -> Mapping[str, Try]:
    """By key, in the order of their modules."""
    tried = [module.TRY for module in modules_of(tries)]
    return {each.key: each for each in tried}


def read_values(
    attempt: Try, parameters: Mapping[str, str], catalogue: PublicCatalogue
) -> tuple[TryValues, tuple[Note, ...]]:
    """The values of an address; what cannot be used is the default, with a note."""
    reader = AddressReader(parameters)
    values: dict[str, float | str] = {}
    for each in attempt.inputs:
        if isinstance(each, NumberInput):
            values[each.name] = each.read(reader)
        else:
            options = each.options(catalogue)
            default = each.default if each.default in options else next(iter(options), "")
            values[each.name] = reader.choice(each.name, list(options), each.label, default)
    return values, reader.notes({each.name for each in attempt.inputs})


def accelerator_input(default: str, *fields: str) -> ChoiceInput:
    """A choice of the accelerators for which all these fields have a published figure."""

    def options(catalogue: PublicCatalogue) -> Mapping[str, Text]:
        def make() -> Mapping[str, Text]:
            return {
                item.slug: item.name
                for item in catalogue.accelerators
                if all(catalogue.preferred(item.pk, field) for field in fields)
            }

        return catalogue.once(("learn accelerators", fields), make)

    return ChoiceInput(name="accelerator", label=gettext_lazy("Accelerator"), default=default, options=options)

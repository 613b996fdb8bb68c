"""What was measured here, or by others, of the subjects of a comparison: decode rates, and rates in place of peaks.

Order of evidence: the machine itself, public machines with the accelerator, cited results. Only results of equal
parameters stand in one tile; each is marked by its kind.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from stackviz.base.units import quantity_label
from stackviz.pages.compare.answers import DECODE, Question, SubjectFigure
from stackviz.pages.compare.subjects import Loaded
from stackviz.pages.compare.tiles import Tile, tile_of
from stackviz.records.cited.best import DECODE_TEST, DecodeSetting, best_matmul, decode_rates
from stackviz.records.cited.cases import CitedCase
from stackviz.records.cited.words import benchmark_address, setting_text
from stackviz.records.series.comparability import is_rankable, rate_of_ranked
from stackviz.records.series.measured_settings import MeasuredSetting, measured_setting_key, measured_settings
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.public_runs import MeasuredSummary, measured
from stackviz.web.i18n.words import KINDS

MEASURED_DECODE = "llama-bench"
MachineResults = Mapping[int, Sequence[Measurement]]  # slot of a machine -> its newest results
Public = Mapping[int, MeasuredSummary]
Cited = Mapping[int, tuple[float, CitedCase]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """One decode setting. `name()`: in words, and the address of its ranking; `rates`: slot -> (token/s, kind)."""

    name: Callable[[], tuple[str, str]]
    rates: dict[int, tuple[float, str]] = field(default_factory=dict)


def decode_tile(chosen: Sequence[Loaded], results: MachineResults) -> Tile | None:
    """Tokens per second in the setting that most subjects have a result in; None for fewer than two to compare.

    `results`: what the machines compared measured themselves.
    """
    subjects = [(slot, loaded) for slot, loaded in enumerate(chosen) if loaded.accelerator or loaded.has_cards]
    if len(subjects) < 2:
        return None
    settings = _settings(chosen, results)
    if not settings:
        nothing = _("no result of one device alone in llama-bench, LocalScore or MLX; what to expect is below")
        return tile_of(
            DECODE, [SubjectFigure(subject=loaded.title, slot=slot, why=nothing) for slot, loaded in subjects]
        )
    fullest = max(settings, key=lambda setting: len(setting.rates))  # of equals the first, the best known
    figures = [_decode_figure(slot, loaded, fullest) for slot, loaded in subjects]
    return tile_of(DECODE, figures, *fullest.name())


def _decode_figure(slot: int, loaded: Loaded, setting: _Setting) -> SubjectFigure:
    if slot not in setting.rates:
        why = _("no result in this setting; what to expect is below")
        return SubjectFigure(subject=loaded.title, slot=slot, why=why)
    rate, kind = setting.rates[slot]
    text = quantity_label(rate, "token/s", digits=3)
    return SubjectFigure(subject=loaded.title, slot=slot, amount=rate, text=text, kind=str(KINDS[kind]))


def _settings(chosen: Sequence[Loaded], of_machines: MachineResults) -> list[_Setting]:
    """Every decode setting that any of them has a result in: cited ones first, as they are best known."""
    by_pk: dict[int, list[int]] = {}
    for slot, loaded in enumerate(chosen):
        if loaded.accelerator is not None:
            by_pk.setdefault(loaded.accelerator.pk, []).append(slot)
    settings: dict[str, _Setting] = {}
    for cited in decode_rates(tuple(by_pk)):
        setting = settings.setdefault(cited.case.params_key, _Setting(name=partial(_cited_name, cited)))
        for pk, rate in cited.rates.items():
            setting.rates.update(dict.fromkeys(by_pk[pk], (rate, "cited")))
    for of_public in measured_settings(MEASURED_DECODE):
        if _is_decode(of_public.example):
            _add_public(settings, of_public, by_pk)
    for slot, results in of_machines.items():
        for result in results:
            if _is_decode(result) and is_rankable(result):
                setting = settings.setdefault(
                    measured_setting_key(result), _Setting(name=partial(_machine_name, result))
                )
                setting.rates[slot] = rate_of_ranked(result).value, "measured"
    return list(settings.values())


def _add_public(settings: dict[str, _Setting], of_public: MeasuredSetting, by_pk: Mapping[int, Sequence[int]]) -> None:
    """Prefer what public machines measured in a setting to what is cited."""
    rows = [(row, by_pk[row.accelerator.pk]) for row in of_public.rows if row.accelerator.pk in by_pk]
    if rows:
        setting = settings.setdefault(of_public.key, _Setting(name=partial(_public_name, of_public)))
        for row, slots in rows:
            setting.rates.update(dict.fromkeys(slots, (row.best.rate.value, "measured")))


def _cited_name(cited: DecodeSetting) -> tuple[str, str]:
    """`llama-bench: tg128 · Llama 2 7B · Q4_0`, and its address."""
    words = f"{cited.benchmark.title}: {setting_text(cited.benchmark, cited.case.params)}"
    return words, f"{benchmark_address(cited.benchmark.key)}?{urlencode({'case': cited.case.params_key})}"


def _public_name(of_public: MeasuredSetting) -> tuple[str, str]:
    address = f"{benchmark_address(MEASURED_DECODE)}?{urlencode({'measured': of_public.key})}"
    return f"{of_public.example.title}: {of_public.words}", address


def _machine_name(result: Measurement) -> tuple[str, str]:
    return f"{result.title}: {result.setting}", ""


def _is_decode(result: Measurement) -> bool:
    return result.benchmark_key == MEASURED_DECODE and str(result.params.get("test", "")).startswith(DECODE_TEST)


# --- rates in place of peaks that nobody published ---


def with_reached(question: Question, figures: Sequence[SubjectFigure], chosen: Sequence[Loaded]) -> list[SubjectFigure]:
    """Where a subject has no figure, or one of another data type: the best that public machines measured, else that
    others did.

    Such a rate is reached, not a peak: it stands beside and is not compared.
    """
    if not question.matmul or all(figure.is_compared for figure in figures):
        return list(figures)
    of_public, cited = measured(question.fields[0]), best_matmul(question.matmul)
    return [
        figure if figure.is_compared else _reached(figure, chosen[figure.slot], of_public, cited) for figure in figures
    ]


def _reached(figure: SubjectFigure, loaded: Loaded, of_public: Public, cited: Cited) -> SubjectFigure:
    pk = loaded.accelerator.pk if loaded.accelerator else 0
    if pk in of_public:
        best = of_public[pk]
        amount, condition, kind, url = best.best, best.setting, "measured", best.url
    elif pk in cited:
        amount, case = cited[pk]
        condition, kind = _("matrix product"), "cited"
        url = f"{benchmark_address(case.benchmark)}?{urlencode({'case': case.params_key})}"
    else:
        return figure
    return replace(
        figure,
        amount=amount,
        text=quantity_label(amount, "FLOP/s", digits=3),
        condition=condition,
        kind=str(KINDS[kind]),
        is_beside=True,
        url=url,
    )

"""Entries of the search: catalogue, texts, error messages, pages of the site."""

import re
from collections.abc import Iterator

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, override
from django.utils.translation import gettext_lazy as _

from stackviz.base.units import format_number
from stackviz.draw.diagrams.layers import Layer, role_title
from stackviz.pages.accelerators.claims import read_claims
from stackviz.pages.accelerators.list_query import COLUMN_NAMES, column_field
from stackviz.pages.fit.language_models import language_models
from stackviz.pages.fit.precisions import PRECISIONS
from stackviz.pages.learn.chapters import read_chapters
from stackviz.pages.learn.glossary import read_glossary
from stackviz.pages.learn.text_files import without_sources
from stackviz.pages.learn.trying import all_tries
from stackviz.pages.search.index import SearchEntry, SearchKind
from stackviz.pages.search.words import CHINESE_ERRORS, chinese_names
from stackviz.records.catalog.costs import costs_now, leading_cost
from stackviz.records.catalog.fields import FIELDS, Field
from stackviz.records.catalog.figures import for_people, join_variants, usual_values
from stackviz.records.catalog.models import Accelerator, Alias
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.queries import benchmark_summaries
from stackviz.records.cited.words import benchmark_address
from stackviz.records.hosts.queries import public_hosts
from stackviz.records.series.measurement import benchmark_titles
from stackviz.records.stacks.models import Component
from stackviz.records.stacks.operators import operators
from stackviz.records.stacks.queries import public_stacks
from stackviz.report.measuring import BENCHMARKS
from stackviz.report.messages import SYMPTOMS, Symptom
from stackviz.report.rules.registry import RULES
from stackviz.report.rules.rule import Check
from stackviz.web.i18n.curated_text import curated_words
from stackviz.web.i18n.finding_text import finding_words

ENGLISH, CHINESE = "en", "zh-hans"
_OF_DESIGN = ("chip", "architecture", "form_factor", "metal_gpu_family")
_CAPABILITY = re.compile(r"(\d+)\.(\d)")
_MARKUP = re.compile(r"\{\{.*?\}\}|\]\([^)]*\)|\[\^[a-z0-9-]+\]")  # figures, addresses and notes of a chapter
_IS_A_MAC = re.compile(r"(?:MacBook|iMac|Mac )")


def accelerator_entries(catalogue: PublicCatalogue) -> Iterator[SearchEntry]:
    """The public accelerators. No query."""
    for row in catalogue.accelerators:
        design = [value.value for field in _OF_DESIGN for value in catalogue.preferred(row.pk, field)]
        keywords = (row.vendor.name, row.slug, str(row.get_kind_display()), *design)
        yield SearchEntry(
            kind=SearchKind.ACCELERATOR,
            title=row.name,
            url=row.get_absolute_url(),
            line=_accelerator_line(row, catalogue),
            names=tuple(dict.fromkeys(_reported_names(row, catalogue))),
            keywords=(*keywords, *_capabilities(row, catalogue), *chinese_names((row.name, row.vendor.name))),
        )


def _reported_names(row: Accelerator, catalogue: PublicCatalogue) -> Iterator[str]:
    """What cards and tools report, models of Macs, and the names these are sold under."""
    for alias in catalogue.names(row.pk):
        yield alias.name
        if alias.kind == Alias.Kind.MACHINE and _IS_A_MAC.match(alias.note):
            yield alias.note
    for value in catalogue.preferred(row.pk, "macs_shipped_in"):
        yield value.value


def _capabilities(row: Accelerator, catalogue: PublicCatalogue) -> Iterator[str]:
    """`sm_90` of the compute capability 9.0."""
    for value in catalogue.preferred(row.pk, "compute_capability"):
        if match := _CAPABILITY.fullmatch(value.value):
            yield f"sm_{match[1]}{match[2]}"
            yield value.value


def _accelerator_line(row: Accelerator, catalogue: PublicCatalogue) -> str:
    """`Ada Lovelace · 24 GB · 1,008 GB/s · 1,669.99 USD (street price, 2023-11-23)`"""
    texts = []
    for name in ("architecture", "memory_gb", "memory_bandwidth_gb_s"):
        values = usual_values(FIELDS[name], catalogue.preferred(row.pk, name))
        texts.append(join_variants([for_people(value).label for value in values]))
    cost = leading_cost(costs_now(row.pk, catalogue))
    if cost:
        texts.append(f"{cost.text} ({cost.remark})")
    return " · ".join(filter(None, texts)) or f"{row.vendor.name} · {row.get_kind_display()}"


def field_entries() -> Iterator[SearchEntry]:
    """Fields that the list of accelerators can show, which is where they lead."""
    for name in COLUMN_NAMES:
        field = column_field(name)
        yield SearchEntry(
            kind=SearchKind.FIELD,
            title=field.words[0],
            url=_column_url(field),
            line=field.words[1],
            names=tuple(_in_every_language(field)),
            keywords=(name, field.unit, *chinese_names((name.replace("_", " "),))),
        )


def _in_every_language(field: Field) -> Iterator[str]:
    """Its titles in other languages than the reader's."""
    shown = field.words[0]
    for language in (ENGLISH, CHINESE):
        with override(language):
            title = field.words[0]
        if title != shown:
            yield title


def _column_url(field: Field) -> str:
    """The list with this column, sorted by it, the better end first."""
    is_ascending = field.is_text or field.higher_is_better is False
    columns = "".join(f"&cols={name}" for name in dict.fromkeys(("memory_gb", field.name)))
    return f"{reverse('accelerators:list')}?sort={'' if is_ascending else '-'}{field.name}{columns}"


def _other_names(title: str, *names: str) -> tuple[str, ...]:
    """The names without the title, each once."""
    return tuple(dict.fromkeys(name for name in names if name != title))


def stack_entries() -> Iterator[SearchEntry]:
    for stack in public_stacks():
        yield SearchEntry(
            kind=SearchKind.STACK,
            title=stack.local_name,
            url=stack.get_absolute_url(),
            line=curated_words(stack.summary),
            names=_other_names(stack.local_name, stack.name),
            keywords=(stack.slug, stack.vendor, stack.system, *chinese_names((stack.name, stack.vendor))),
        )


def host_entries() -> Iterator[SearchEntry]:
    """Public hosts, found by card, system, driver and software: "rtx 5090 wsl2", "driver 580 h100". Three queries."""
    for host in public_hosts():
        cards = {card.reported_name: card for card in host.cards.all()}
        sheets = [card.accelerator.name for card in cards.values() if card.accelerator is not None]
        drivers = [f"driver {card.driver_version}" for card in cards.values() if card.driver_version]
        software = [f"{part.name} {part.value}" for part in host.components.all() if part.state != "absent"]
        about = (host.system, host.cpu, str(host.get_form_display()), str(host.get_virtualisation_display()))
        yield SearchEntry(
            kind=SearchKind.HOST,
            title=host.title,
            url=host.get_absolute_url(),
            line=curated_words(host.teaches or host.note) or " · ".join(filter(None, about)),
            keywords=(*cards, *sheets, *drivers, *filter(None, about), *software),
        )


def component_entries() -> Iterator[SearchEntry]:
    """One query."""
    for row in sorted(Component.objects.all(), key=lambda row: (row.name.casefold(), row.slug)):
        keywords = (row.maker, role_title(row.role), str(Layer(row.layer).label))
        yield SearchEntry(
            kind=SearchKind.COMPONENT,
            title=row.local_name,
            url=row.get_absolute_url(),
            line=curated_words(row.what_it_is),
            names=_other_names(row.local_name, row.slug, row.name),
            keywords=(*keywords, *chinese_names((row.name, row.maker))),
            text=row.what_it_does,
        )


def operator_entries() -> Iterator[SearchEntry]:
    for operator in operators().values():
        yield SearchEntry(
            kind=SearchKind.OPERATOR,
            title=operator.local_name,
            url=reverse("stacks:operator", args=[operator.slug]),
            line=curated_words(operator.what_it_is),
            names=_other_names(
                operator.local_name,
                operator.slug,
                operator.name,
                *operator.call.split(", "),
                *operator.aten,
                *chinese_names((operator.name, operator.slug)),
            ),
        )


def term_entries() -> Iterator[SearchEntry]:
    """The glossary, found by its English and its Chinese titles in either language."""
    address = reverse("learn:glossary")
    others = [_terms(language) for language in (ENGLISH, CHINESE)]
    for anchor, (title, text) in _terms(get_language() or ENGLISH).items():
        titles = dict.fromkeys(other[anchor][0] for other in others if anchor in other)
        yield SearchEntry(
            kind=SearchKind.TERM,
            title=title,
            url=f"{address}#{anchor}",
            line=text,
            names=tuple(name for name in titles if name != title),
            keywords=(anchor,),
        )


def chapter_entries() -> Iterator[SearchEntry]:
    """Chapters and their sections, and the calculations to try."""
    for chapter in read_chapters(get_language() or ENGLISH):
        address = reverse("learn:chapter", args=[chapter.slug])
        yield SearchEntry(kind=SearchKind.PAGE, title=chapter.title, url=address, line=chapter.lead)
        for section in chapter.sections:
            yield SearchEntry(
                kind=SearchKind.PAGE,
                title=section.title,
                url=f"{address}#{section.anchor}",
                line=chapter.title,
                text=_MARKUP.sub(" ", without_sources(section.body)),
            )
    for attempt in all_tries().values():
        yield SearchEntry(
            kind=SearchKind.PAGE,
            title=str(attempt.title),
            url=reverse("learn:try", args=[attempt.key]),
            line=str(attempt.question),
            names=(attempt.key,),
        )


def _terms(language: str) -> dict[str, tuple[str, str]]:
    """Anchor -> title, text."""
    return {term.anchor: (term.title, term.text) for chapter in read_glossary(language) for term in chapter.terms}


def claim_entries() -> Iterator[SearchEntry]:
    address = reverse("accelerators:claims")
    for claim in read_claims():
        yield SearchEntry(
            kind=SearchKind.CLAIM,
            title=f"{curated_words(claim.subject)}: {curated_words(claim.text)}",
            url=f"{address}#{claim.key}",
            line=f"{claim.verdict.label}: {curated_words(claim.answer)}",
        )


def benchmark_entries() -> Iterator[SearchEntry]:
    """Benchmarks that others published results of, then those that machines alone measure. One query after a change."""
    summaries = benchmark_summaries()
    for summary in summaries:
        benchmark = summary.benchmark
        with override(ENGLISH):
            english = str(benchmark.title)
        yield SearchEntry(
            kind=SearchKind.BENCHMARK,
            title=str(benchmark.title),
            url=benchmark_address(benchmark.key),
            line=str(benchmark.measures),
            names=tuple({english} - {str(benchmark.title)}),
            keywords=(benchmark.key,),
        )
    cited = {summary.benchmark.key for summary in summaries}
    for known in BENCHMARKS.values():
        if known.key not in cited:
            title = benchmark_titles()[known.key, known.version]
            yield SearchEntry(
                kind=SearchKind.BENCHMARK,
                title=title,
                url=benchmark_address(known.key),
                line=gettext(known.measures) if known.measures else "",
                names=_other_names(title, known.title),
                keywords=(known.key, known.key.replace("-", " ")),
            )


def model_entries() -> Iterator[SearchEntry]:
    address = reverse("fit:page")
    for model in language_models().values():
        size = format_number(model.parameters / 1e9, digits=3)
        yield SearchEntry(
            kind=SearchKind.MODEL,
            title=model.name,
            url=f"{address}?model={model.slug}",
            line=gettext("%(size)s billion parameters: does it fit, and how fast will it be?") % {"size": size},
            names=model.names,
            keywords=(model.slug, f"{size}B", *chinese_names((model.name,))),
        )


def format_entries() -> Iterator[SearchEntry]:
    """The formats of weights, and what else `/fit/` answers."""
    address = reverse("fit:page")
    for precision in PRECISIONS.values():
        bits = format_number(precision.usual, digits=3)
        yield SearchEntry(
            kind=SearchKind.MODEL,
            title=precision.name,
            url=f"{address}?precision={precision.slug}",
            line=gettext("%(bits)s bits per weight: which accelerators run a model in it, and how fast?")
            % {"bits": bits},
            names=_other_names(precision.name, precision.slug),
            keywords=("GGUF", "llama.cpp") if precision.runtime == "llama.cpp" else (precision.runtime,),
        )
    for task, title, names in FIT_TASKS:
        line = gettext("Whether an accelerator has the memory to train a model this way.")
        yield SearchEntry(kind=SearchKind.MODEL, title=str(title), url=f"{address}?task={task}", line=line, names=names)


FIT_TASKS: tuple[tuple[str, Promise, tuple[str, ...]], ...] = (
    ("lora", _("Training LoRA adapters"), ("LoRA", "QLoRA")),
    ("full", _("Training all weights"), ("full fine-tuning",)),
)


def rule_entries() -> Iterator[SearchEntry]:
    """What the diagnosis checks, by the texts of its rules; each leads to the component it is about."""
    names = dict(Component.objects.values_list("slug", "name"))
    for rule in RULES:
        if rule.component not in names:
            continue
        yield SearchEntry(
            kind=SearchKind.RULE,
            title=gettext("Whether %(statement)s") % {"statement": rule.asks},
            url=reverse("stacks:component", args=[rule.component]),
            line=gettext("Checked by the diagnosis; part of %(component)s.") % {"component": names[rule.component]},
            names=(rule.id,),
            text=" ".join(_texts_of(rule.check)),
        )


def _texts_of(check: Check) -> Iterator[str]:
    """The constant parts of what a check may answer: its titles, explanations and advice."""
    constants = getattr(check, "__code__", None)
    for constant in constants.co_consts if constants else ():
        if isinstance(constant, str):
            yield constant


# --- pages of the site, by what people call what they want there ---

# Name of the address, title, what it answers, other words for it.
PAGES: tuple[tuple[str, Promise, Promise, tuple[str, ...]], ...] = (
    (
        "plan:page", _("Plan a stack"), _("Which PyTorch, driver and CUDA fit an accelerator, and what to install."),
        ("install PyTorch", "pip install torch", "which torch", "which CUDA version", "安装 PyTorch"),
    ),
    (
        "fit:page", _("Does it fit?"), _("Which accelerators run a language model, and how fast."),
        ("tokens per second", "can I run", "LLM memory", "VRAM calculator", "显存计算"),
    ),
    (
        "diagnose:page", _("Diagnose"), _("What is wrong, from what a tool printed or an error message."),
        ("error", "collect_env", "nvidia-smi", "torch.cuda.is_available() returns False", "报错"),
    ),
    (
        "diagnose:causes", _("Error messages and their causes"), _("What each message means, and how to fix it."),
        ("error codes", "errors", "troubleshooting", "错误"),
    ),
    ("compare:page", _("Compare"), _("Two to six accelerators, stacks or machines side by side."), ("versus", "对比")),
    ("explore:ladder", _("Ladder"), _("Accelerators ranked by any field."), ("ranking", "fastest GPU", "tier list")),
    (
        "explore:scatter", _("Scatter"), _("Any two figures of all accelerators against each other."),
        ("performance per watt", "performance per dollar", "value for money", "性价比", "每瓦性能", "能效"),
    ),
    ("explore:heatmap", _("Heat map"), _("How close each accelerator comes to the best, field by field."), ()),
    ("explore:timeline", _("Timeline"), _("What each architecture introduced, and when."), ("release dates",)),
    ("benchmarks:index", _("Benchmarks"), _("What others measured, ranked like for like."), ("results", "leaderboard")),
    ("stacks:operators", _("Operators"), _("What happens below a PyTorch call, layer by layer."), ("kernels",)),
    (
        "learn:index", _("Learn"), _("Chapters and calculations to try."), ("tutorial", "introduction"),
    ),
    ("learn:glossary", _("Glossary"), _("What the figures and terms mean."), ("terms", "词汇表")),
    ("machines:add", _("Add a machine"), _("Run the agent on your own machine and see its stack here."), ("agent",)),
    ("accelerators:claims", _("Claims checked"), _("Widely copied statements, right or wrong."), ("myths",)),
    (
        "accelerators:changes", _("What is new"),
        _("New accelerators, releases, results and hosts, and every correction of a public value."),
        ("news", "feed", "log", "changes", "latest", "new this month", "最新消息", "更新"),
    ),
    ("data:index", _("Data"), _("Every public table as JSON Lines, CSV and Parquet."), ("download", "dataset")),
    ("api-docs", _("HTTP API"), _("What the pages show, as JSON, without a key."), ("REST", "OpenAPI")),
)  # fmt: skip


def page_entries() -> Iterator[SearchEntry]:
    """Each is found by its title in English and in Chinese, in either language."""
    yield SearchEntry(
        kind=SearchKind.PAGE,
        title=gettext("Accelerators in laptops"),
        url=f"{reverse('accelerators:list')}?q=laptop",
        line=gettext("Laptop GPUs, with memory, bandwidth and power."),
    )
    yield SearchEntry(
        kind=SearchKind.PAGE,
        title=gettext("Releases"),
        url=reverse("stacks:releases"),
        line=gettext("What each release needs, what needs it, and until when it is supported."),
    )
    for name, title, line, others in PAGES:
        titles = []
        for language in (ENGLISH, CHINESE):
            with override(language):
                titles.append(str(title))
        yield SearchEntry(
            kind=SearchKind.PAGE,
            title=str(title),
            url=reverse(name),
            line=str(line),
            names=(*(other for other in titles if other != str(title)), *others),
        )


# --- Entries of error messages: each leads to its page ---

_PLAIN = re.compile(r"[^\\\[\](){}?*+|^$]{8,}")  # a pattern that is a text


def message_entries() -> Iterator[SearchEntry]:
    """Titled as they are printed most often, found by their other wordings too."""
    for symptom in SYMPTOMS:
        yield SearchEntry(
            kind=SearchKind.MESSAGE,
            title=symptom.message,
            url=reverse("diagnose:cause", args=[symptom.key]),
            line=finding_words(symptom.meaning),
            names=(*wordings(symptom), *chinese_names((symptom.message,), CHINESE_ERRORS)),
            keywords=(symptom.key, *symptom.rules),
            text=" ".join(f"{cause.text} {cause.sign} {cause.remedy}" for cause in symptom.causes),
        )


def wordings(symptom: Symptom) -> tuple[str, ...]:
    """How else it is printed: the patterns that are plain text and say more than its title."""
    texts = (pattern for pattern in symptom.patterns if _PLAIN.fullmatch(pattern))
    return tuple(text for text in texts if text.lower() not in symptom.message.lower())

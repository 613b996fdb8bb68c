"""Entries of the site's own pages, by what people call what they want there."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from stackviz.pages.search.catalogue_entries import CHINESE, ENGLISH
from stackviz.pages.search.entries import SearchEntry, SearchKind

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
        "learn:index", _("Learn"), _("Chapters, calculations to try, and what the terms mean."),
        ("glossary", "terms", "tutorial", "introduction", "词汇表"),
    ),
    ("machines:add", _("Add a machine"), _("Run the agent on your own machine and see its stack here."), ("agent",)),
    ("accelerators:claims", _("Claims checked"), _("Widely copied statements, right or wrong."), ("myths",)),
    ("accelerators:changes", _("Changes"), _("Every correction of a public value."), ("news", "feed", "log")),
    ("data:index", _("Data"), _("Every public table as JSON Lines, CSV and Parquet."), ("download", "dataset")),
    ("api-docs", _("HTTP API"), _("What the pages show, as JSON, without a key."), ("REST", "OpenAPI")),
)  # fmt: skip


def page_entries() -> Iterator[SearchEntry]:
    """Each is found by its title in English and in Chinese, in either language."""
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

"""The site's own words about stacks and measurements."""

from django.utils.translation import gettext_lazy as _

from stackviz.pages.glossary.terms import Chapter, Term

STACKS = Chapter(
    "stacks",
    _("Stacks"),
    (
        Term(
            "stack",
            _("Stack and layers"),
            _(
                "All software between a program and the silicon. This site draws every stack on the same eight "
                "layers: application, framework, compiler, libraries, compute platform, driver, operating system, "
                "hardware."
            ),
        ),
        Term(
            "counterpart",
            _("Counterpart"),
            _(
                "The component that plays the same role on another stack: MPSGraph for cuDNN, Metal for CUDA. Same "
                "row, same job, not the same thing: what differs is said beside it. Some have none, such as NCCL on a "
                "Mac."
            ),
        ),
        Term(
            "finding",
            _("Finding"),
            _(
                "What a rule says about a machine's stack, with the facts it rests on, an explanation, what to do and "
                "a source. Broken: it cannot work. Warning: it works until it does not. Note: good to know. Cannot "
                "tell: the machine did not report what the rule needs."
            ),
        ),
    ),
)


MEASURING = Chapter(
    "measuring",
    _("Measuring"),
    (
        Term(
            "median",
            _("Median and interval"),
            _(
                "Each benchmark runs many times; every sample is kept. The figure shown is the median; the interval "
                "is where the true median lies with 95 % confidence, from the ranks of the samples, whatever their "
                "distribution. Under six samples there is no such interval, and none is shown."
            ),
            "Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2",
        ),
        Term(
            "noisy",
            _("Noisy"),
            _(
                "The middle half of the samples spreads over more than a tenth of the median: something else was "
                "running, or the clock moved. The figure is shown, and said to be noisy."
            ),
            "PyTorch: torch.utils.benchmark",
            "https://docs.pytorch.org/docs/stable/benchmark_utils.html",
        ),
        Term(
            "comparable",
            _("Comparable"),
            _(
                "Two results are compared only if they ran the same benchmark, version and parameters. Other torch "
                "versions, power limits, throttling or fallback are named beside the comparison. “Cannot tell” is an "
                "answer."
            ),
        ),
    ),
)

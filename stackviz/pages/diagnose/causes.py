"""`/causes/` and `/causes/<key>/`: a page for each error message that Diagnose knows, titled by the message itself."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from stackviz.base.advice import Part, blocks_of, parts_of
from stackviz.draw.diagrams.layers import Layer
from stackviz.records.stacks.models import Component
from stackviz.records.stacks.queries import names_of_components
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.messages import BY_KEY, FAMILIES, SYMPTOMS, Symptom
from stackviz.report.messages.symptom import FOLLOWS
from stackviz.report.rules import Tables
from stackviz.report.rules.compatibility import Requirement
from stackviz.report.rules.registry import RULES
from stackviz.report.rules.versions import numbers
from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.finding_text import finding_words
from stackviz.web.preview import Introduction, make_preview
from stackviz.web.shells import powershell_of

__all__ = ["VERSIONS", "Command", "message_questions", "shown_command", "urlpatterns", "version_tables"]

MOST_RELATED = 8
MOST_OPEN = 8  # messages of a layer that are listed open: a phone shows three of them
FEWEST_FOLDED = 6  # messages of a family: fewer are listed as they are
_PLANNED_RULES = frozenset({"kernels-missing", "cpu-wheel", "driver-too-old"})


@require_safe
def causes(request: HttpRequest) -> HttpResponse:
    """List all messages, layer by layer. One query."""
    answer = ngettext(
        "%(n)d error message of drivers, CUDA, ROCm, PyTorch and Macs: what it means, and how to fix it.",
        "%(n)d error messages of drivers, CUDA, ROCm, PyTorch and Macs: what each means, and how to fix it.",
        len(SYMPTOMS),
    ) % {"n": len(SYMPTOMS)}
    preview = make_preview(request, Introduction(gettext("Error messages and their causes"), answer), request.path)
    return render(
        request,
        "diagnose/causes.html",
        {"layers": _layers(), "most_open": MOST_OPEN, "answer": answer, "preview": preview},
    )


@dataclass(frozen=True, slots=True)
class ListedFamily:
    """Messages that differ by a code, as one entry. `start`: how all begin; `rows`: codes, and their message."""

    start: str
    rows: tuple[tuple[str, Symptom], ...]


@dataclass(frozen=True, slots=True)
class ListedLayer:
    """The messages of a layer: single ones, and families."""

    key: str
    title: str
    symptoms: tuple[Symptom, ...]
    families: tuple[ListedFamily, ...]

    @property
    def count(self) -> int:
        """How many messages there are, each of a family counted."""
        return len(self.symptoms) + sum(len(family.rows) for family in self.families)


def _layers() -> list[ListedLayer]:
    """From the hardware up: the lowest layer that complains is where to begin. One query."""
    layers = {"hardware": Layer.HARDWARE.value} | dict(Component.objects.order_by().values_list("slug", "layer"))
    families = _families()
    of_families = {symptom.key for family in families for _codes, symptom in family.rows}
    listed: dict[str, tuple[list[Symptom], list[ListedFamily]]] = {}
    for symptom in SYMPTOMS:
        if symptom.key not in of_families:
            listed.setdefault(layers.get(symptom.component, ""), ([], []))[0].append(symptom)
    for family in families:
        [(component, _count)] = Counter(symptom.component for _codes, symptom in family.rows).most_common(1)
        listed.setdefault(layers.get(component, ""), ([], []))[1].append(family)
    titles = {layer.value: layer.label for layer in reversed(Layer)} | {"": gettext("Other programs")}
    return [
        ListedLayer(key, title, tuple(listed[key][0]), tuple(listed[key][1]))
        for key, title in titles.items()
        if key in listed
    ]


@cache
def _families() -> tuple[ListedFamily, ...]:
    """Each with its codes; of families that read the same messages in another wording the first."""
    families: list[ListedFamily] = []
    seen: set[str] = set()
    for family in FAMILIES:
        codes: dict[str, list[str]] = {}
        for code, symptom in family.members.items():
            if symptom.key not in seen:
                codes.setdefault(symptom.key, []).append(code)
        seen |= codes.keys()
        rows = tuple((", ".join(named), BY_KEY[key]) for key, named in codes.items())
        if len(rows) >= FEWEST_FOLDED:
            families.append(ListedFamily(_shared_start([symptom.message for _codes, symptom in rows]), rows))
    return tuple(families)


def _shared_start(texts: Sequence[str]) -> str:
    """What all of them begin with: what the first and the last of them in order share."""
    first, last = min(texts), max(texts)
    at = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:at].rstrip(" :(")


@require_safe
def cause(request: HttpRequest, key: str) -> HttpResponse:
    """Show one message. Three queries, more after a change of the tables."""
    symptom = BY_KEY.get(key)
    if symptom is None:
        raise Http404(gettext("There is no error message “%(key)s”.") % {"key": key})
    introduction = Introduction(symptom.message, finding_words(symptom.meaning))
    rules = {rule.id: rule.asks for rule in RULES}
    names = names_of_components()
    context = {
        "symptom": symptom,
        "component": names.get(symptom.component, symptom.component),
        "component_is_described": symptom.component in names,
        "causes": [ShownCause(cause.text, cause.sign, cause.remedy) for cause in symptom.causes],
        "ask": shown_command(symptom.ask),
        "diagnose_url": _diagnose_url(symptom),
        "checks": [rules[rule] for rule in symptom.rules],
        "versions": version_tables(symptom.key, rule_tables()),
        "leads_to_plan": not _PLANNED_RULES.isdisjoint(symptom.rules),
        "related": _related(symptom),
        "preview": make_preview(request, introduction, request.path, data=_questions_data(symptom)),
    }
    return render(request, "diagnose/cause.html", context)


@dataclass(frozen=True, slots=True)
class Command:
    """A command for bash, and for PowerShell where that differs ("" elsewhere)."""

    bash: str
    powershell: str


def shown_command(typed: str) -> Command:
    """A command of bash with its form for PowerShell."""
    return Command(typed, powershell_of(typed))


@dataclass(frozen=True, slots=True)
class ShownCause:
    """One cause in English, with its sign and remedy in parts in the language of the page."""

    text: str
    english_sign: str
    english_remedy: str

    @property
    def sign(self) -> list[Part]:
        """How to tell this cause from the others; empty where nothing does."""
        return parts_of(finding_words(self.english_sign))

    @property
    def remedy(self) -> Iterator[tuple[Sequence[Part], Command | None]]:
        """Paragraphs of parts, and commands in a box: one of the two is empty."""
        for block in blocks_of(finding_words(self.english_remedy)):
            if block.typed or block.parts:
                yield block.parts, shown_command(block.typed) if block.typed else None


def _related(symptom: Symptom) -> list[Symptom]:
    """Of a log's series those that follow from this one, and those of its kind; by shared rules; by component."""
    others = [other for other in SYMPTOMS if other is not symptom]
    series = [other for other in others if symptom.series and other.series == symptom.series]
    following = [other for other in series if other.short and symptom.rank < other.rank == FOLLOWS]
    of_kind = [other for other in series if other.causes == symptom.causes]
    by_rule = [other for other in others if set(other.rules) & set(symptom.rules)]
    of_component = [other for other in others if other.component == symptom.component]
    return list({other.key: other for other in (*following, *of_kind, *by_rule, *of_component)}.values())[:MOST_RELATED]


def _diagnose_url(symptom: Symptom) -> str:
    """The form with the message in its box: the output of the command is pasted below it."""
    query = urlencode({"text": f"{symptom.message}\n\n"})
    return f"{address_by_name('diagnose:page')}?{query}#paste"


# For search engines.


def _questions_data(symptom: Symptom) -> Mapping[str, object]:
    """The page as a `FAQPage` of schema.org."""
    return {
        "@context": "https://schema.org",
        "@type": "FAQPage",
        "inLanguage": "en",
        "mainEntity": [_question(name, text) for name, text in message_questions(symptom)],
    }


def _question(name: str, text: str) -> Mapping[str, object]:
    return {"@type": "Question", "name": name, "acceptedAnswer": {"@type": "Answer", "text": text}}


def message_questions(symptom: Symptom) -> list[tuple[str, str]]:
    """The page as questions with answers, in English as its texts are."""
    reasons = [" ".join(filter(None, (cause.text, cause.sign))) for cause in symptom.causes]
    remedies = [f"{cause.text} {cause.remedy}" for cause in symptom.causes if cause.remedy]
    questions = [
        (f"What does “{symptom.message}” mean?", symptom.meaning),
        ("What causes it?", " ".join(f"({number}) {reason}" for number, reason in enumerate(reasons, 1))),
        ("Which command tells the cause?", f"Run: {symptom.ask}"),
    ]
    if remedies:
        mended = " ".join(f"({number}) {remedy}" for number, remedy in enumerate(remedies, 1))
        questions.insert(2, ("How is it mended?", mended))
    return questions


# Versions that a message concerns: rows of the compatibility tables, equal ones joined.

MOST_SHOWN = 8  # rows; the older ones are folded away


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """Which rows answer it. `releases`, `values`: what the two columns hold; `part` None: of any part."""

    title: str | Promise
    component: str
    relation: str
    subject: str
    releases: str | Promise
    values: str | Promise
    part: str | None = ""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """`releases`: `2.5.0 to 2.9.1`; `where`: build and platform, "" for all; `value`: what they need or have."""

    releases: tuple[str, str]
    where: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionTable:
    """The newest releases first. `older`: the rest. `sources`: (title, address), each once."""

    title: str | Promise
    releases: str | Promise
    values: str | Promise
    rows: tuple[VersionRow, ...]
    older: tuple[VersionRow, ...]
    sources: tuple[tuple[str, str], ...]

    @property
    def has_places(self) -> bool:
        """Whether builds or systems differ."""
        return any(row.where for row in (*self.rows, *self.older))


_CAPABILITIES = _("Compute capabilities")
_TORCH = "PyTorch"

_DRIVER = _Question(
    title=_("The lowest driver for each CUDA version"), component="cuda-runtime", relation="needs",
    subject="nvidia-driver", releases="CUDA", values=_("Driver, at least"),
)  # fmt: skip
_TORCH_CUDA = _Question(
    title=_("The CUDA versions that each release of PyTorch is built for"), component="pytorch", relation="offers",
    subject="cuda-runtime", releases=_TORCH, values="CUDA",
)  # fmt: skip
_KERNELS = _Question(
    title=_("The cards that each build of PyTorch has code for"), component="pytorch", relation="built-for",
    subject="compute-capability", releases=_TORCH, values=_CAPABILITIES,
)  # fmt: skip
_TOOLKIT = _Question(
    title=_("The first CUDA version for each compute capability"), component="compute-capability", relation="needs",
    subject="cuda-toolkit", releases=_("Compute capability"), values=_("CUDA, at least"),
)  # fmt: skip
_LAST_TOOLKIT = _Question(
    title=_("The last CUDA version for old cards"), component="compute-capability", relation="ends-with",
    subject="cuda-toolkit", releases=_("Compute capability"), values=_("last CUDA"),
)  # fmt: skip
_COMPAT = _Question(
    title=_("The branches of the driver that a compat package runs on"), component="cuda-compat", relation="supports",
    subject="nvidia-driver", releases="CUDA", values=_("Branches of the driver"),
)  # fmt: skip
_MACOS = _Question(
    title=_("The macOS that the device mps needs"), component="pytorch", relation="needs", subject="macos",
    part="mps", releases=_TORCH, values=_("macOS, at least"),
)  # fmt: skip
_PYTHON = _Question(
    title=_("The Python versions that each release of PyTorch has wheels for"), component="pytorch", relation="needs",
    subject="python", part="default wheel", releases=_TORCH, values="Python",
)  # fmt: skip
_GLIBC = _Question(
    title=_("The glibc that the wheels of PyTorch need"), component="pytorch", relation="needs", subject="glibc",
    part="default wheel", releases=_TORCH, values=_("glibc, at least"),
)  # fmt: skip
_VISION = _Question(
    title=_("The PyTorch that each release of TorchVision belongs to"), component="torchvision", relation="needs",
    subject="pytorch", releases="TorchVision", values=_TORCH,
)  # fmt: skip
_TRITON = _Question(
    title=_("The Triton that each release of PyTorch brings"), component="pytorch", relation="ships",
    subject="triton", part="default wheel", releases=_TORCH, values="Triton",
)  # fmt: skip
_CUDNN = _Question(
    title=_("The cuDNN that each release of PyTorch brings"), component="pytorch", relation="ships", subject="cudnn",
    part="default wheel", releases=_TORCH, values="cuDNN",
)  # fmt: skip
_GFX = _Question(
    title=_("The AMD cards that each build of PyTorch has code for"), component="pytorch", relation="built-for",
    subject="gfx-target", part=None, releases=_TORCH, values=_("Targets"),
)  # fmt: skip
_ROCM = _Question(
    title=_("The PyTorch that each release of ROCm is built into"), component="rocm", relation="supports",
    subject="pytorch", part="stable build", releases="ROCm", values=_TORCH,
)  # fmt: skip
_ORT_CUDA = _Question(
    title=_("The CUDA that ONNX Runtime needs"), component="onnxruntime-gpu", relation="needs",
    subject="cuda-runtime", releases="onnxruntime-gpu", values="CUDA",
)  # fmt: skip
_ORT_CUDNN = _Question(
    title=_("The cuDNN that ONNX Runtime needs"), component="onnxruntime-gpu", relation="needs", subject="cudnn",
    releases="onnxruntime-gpu", values="cuDNN",
)  # fmt: skip
_TENSORFLOW = _Question(
    title=_("The CUDA that TensorFlow was tested with"), component="tensorflow", relation="needs",
    subject="cuda-runtime", part="tested build", releases="TensorFlow", values="CUDA",
)  # fmt: skip
_JAX = _Question(
    title=_("The driver that JAX needs"), component="jax", relation="needs", subject="nvidia-driver", releases="JAX",
    values=_("Driver, at least"),
)  # fmt: skip
_FLASH = _Question(
    title=_("The cards that FlashAttention supports"), component="flash-attn", relation="supports",
    subject="compute-capability", releases="FlashAttention", values=_CAPABILITIES,
)  # fmt: skip
_BITSANDBYTES = _Question(
    title=_("The cards that bitsandbytes supports"), component="bitsandbytes", relation="supports",
    subject="compute-capability", releases="bitsandbytes", values=_CAPABILITIES,
)  # fmt: skip

VERSIONS: Mapping[str, tuple[_Question, ...]] = {
    "driver-too-old": (_DRIVER, _TORCH_CUDA),
    "container-cuda-requirement": (_DRIVER,),
    "ptx-toolchain": (_DRIVER, _TORCH_CUDA),
    "cuda-804": (_COMPAT,),
    "cuda-803": (_COMPAT,),
    "no-kernel-image": (_KERNELS, _TOOLKIT, _LAST_TOOLKIT),
    "capability-not-supported": (_KERNELS, _TOOLKIT, _LAST_TOOLKIT),
    "ptxas-unknown-arch": (_TOOLKIT, _LAST_TOOLKIT, _TRITON),
    "triton-missing": (_TRITON,),
    "mps-macos-too-old": (_MACOS,),
    "mps-not-built": (_MACOS,),
    "no-matching-torch": (_PYTHON, _TORCH_CUDA),
    "wheel-not-supported": (_PYTHON,),
    "cuda-index-never-existed": (_TORCH_CUDA,),
    "torch-without-cuda": (_TORCH_CUDA,),
    "deserialize-without-cuda": (_TORCH_CUDA,),
    "glibc-too-old": (_GLIBC,),
    "torchvision-nms": (_VISION,),
    "torchvision-nms-backend": (_VISION,),
    "cudnn-not-loaded": (_CUDNN,),
    "cudnn-mixed": (_CUDNN,),
    "hip-invalid-device-function": (_GFX, _ROCM),
    "rocblas-tensile": (_GFX,),
    "onnxruntime-cuda-provider": (_ORT_CUDA, _ORT_CUDNN),
    "tensorflow-no-cuda": (_TENSORFLOW,),
    "jax-cpu-only": (_JAX,),
    "flash-attn-card": (_FLASH,),
    "bitsandbytes-no-gpu": (_BITSANDBYTES,),
}
"""Key of a symptom -> what the tables answer about it."""


def version_tables(key: str, tables: Tables) -> tuple[VersionTable, ...]:
    """What the tables say about a message; none where they are silent."""
    answered = (_answered(question, tables) for question in VERSIONS.get(key, ()))
    return tuple(table for table in answered if table.rows)


def _answered(question: _Question, tables: Tables) -> VersionTable:
    rows = tables.rows(question.component, question.relation, question.subject, part=question.part)
    joined = tuple(_joined(rows))
    return VersionTable(
        title=question.title,
        releases=question.releases,
        values=question.values,
        rows=joined[:MOST_SHOWN],
        older=joined[MOST_SHOWN:],
        sources=tuple(dict.fromkeys((row.source.title, row.source.url) for row in reversed(rows)))[:3],
    )


@dataclass(slots=True)
class _Run:
    """Neighbouring releases with the same value in one build and platform."""

    first: str
    last: str
    value: str
    places: list[str] = field(default_factory=list)


def _joined(rows: Sequence[Requirement]) -> Iterator[VersionRow]:
    """Newest first; platforms with the same releases and value are one row."""
    runs: dict[tuple[str, str], list[_Run]] = {}
    for row in rows:
        of_place = runs.setdefault((row.variant, row.platform), [])
        value = _value(row)
        if of_place and of_place[-1].value == value:
            of_place[-1].last = row.version
        else:
            of_place.append(_Run(row.version, row.version, value))
    together: dict[tuple[str, str, str, str], list[str]] = {}
    for (variant, platform), of_place in runs.items():
        for run in of_place:
            together.setdefault((run.first, run.last, run.value, variant), []).append(platform)
    ordered = sorted(together.items(), key=lambda item: (numbers(item[0][1]), item[0][3]), reverse=True)
    for (first, last, value, variant), platforms in ordered:
        where = " · ".join(filter(None, (variant, ", ".join(sorted(filter(None, platforms))))))
        yield VersionRow((first, "" if last == first else last), where, value)


def _value(row: Requirement) -> str:
    return row.values or (f"≥ {row.low}" if row.low else row.note)


urlpatterns = [
    path("causes/", causes, name="causes"),
    path("causes/<slug:key>/", cause, name="cause"),
]

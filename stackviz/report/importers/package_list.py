"""Lists of packages: `pip list`, `pip freeze`, `uv pip list`, `conda list`, `pip show`, with their heads or without.

Formats: https://pip.pypa.io/en/stable/cli/pip_list/, https://pip.pypa.io/en/stable/cli/pip_freeze/,
https://docs.astral.sh/uv/pip/inspection/, https://docs.conda.io/projects/conda/en/stable/commands/list.html.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stackviz.report.format.components import component_of, version_with_build
from stackviz.report.importers.env_report import check_torch_versions
from stackviz.report.importers.importer import Importer, Span, runs_of
from stackviz.report.importers.reading import Reading
from stackviz.report.importers.torch_facts import state_torch_version

__all__ = ["IMPORTER"]

KIND = "package-list"

_NAME = r"[A-Za-z_][\w.-]{0,79}"
_MARK = r"[ \t>|]{0,8}(?:([-+~*•]) )?(\[(?:pip3?|conda)\] {1,4})?"
_VERSION = r"v?\d[\w.!+-]{0,60}"
_LINE = re.compile(
    rf"^{_MARK}(?:"
    rf"{_NAME}(?:\[[\w,-]{{1,60}}\])? ?== ?{_VERSION}(?:[ \t]{{0,4}}[;#\\][^\n]{{0,200}})?"  # freeze, requirements
    rf"|{_NAME} @ [^\s]{{4,300}}"  # freeze, of a file or an address
    rf"|{_NAME}[ \t]{{1,60}}{_VERSION}(?:[ \t]{{1,60}}[\w.*:/\\~<>-]{{1,200}}){{0,2}}"  # list; conda has two more
    r"|(?:Package|Name)[ \t]{1,60}Version(?:[ \t]{1,60}[A-Z][A-Za-z ]{0,40})?"
    r"|#[ \t]{1,4}(?:packages in environment|Name {2,60}Version)[^\n]{0,200}|#|-{3,80}(?:[ \t]{1,8}-{3,80}){1,3}"
    r")[ \t]{0,8}$",
    re.MULTILINE,
)
_PINNED = re.compile(rf"{_MARK}({_NAME})(?:\[[\w,-]{{1,60}}\])? ?== ?({_VERSION})")
_WHEEL = re.compile(rf"[ \t>|]{{0,8}}({_NAME}) @ \S{{0,300}}?/\1-(\d[\w.!+]{{0,60}})-[^\s/]{{0,120}}$", re.IGNORECASE)
_COLUMNS = re.compile(
    rf"{_MARK}({_NAME})[ \t]{{1,60}}({_VERSION})"
    r"(?:[ \t]{1,60}(\S{1,200}))?(?:[ \t]{1,60}(\S{1,200}))?[ \t]{0,8}$"
)
_CONDA = re.compile(r"# packages in environment|# Name {2,60}Version")
_SHOW = re.compile(
    r"^Name: ([\w.-]{1,80})\nVersion: (\d\S{0,60})(?:\n(?:Summary|Home-page|Author|Author-email|License"
    r"|License-Expression|Location|Editable project location|Requires|Required-by):[^\n]{0,1000}){0,12}",
    re.MULTILINE,
)
_INSTALLED = re.compile(r"^Successfully installed ([^\n]{1,20000})$", re.MULTILINE)
_CHECK = re.compile(
    rf"^(?P<name>{_NAME}) (?P<version>{_VERSION}) has requirement [^\n]{{2,200}}, but you have "
    rf"(?P<other>{_NAME}) (?P<there>{_VERSION})\.$",
    re.MULTILINE,
)
_LEAST_KNOWN = 2
_LEAST_LINES = 8


def find_package_lists(text: str) -> list[Span]:
    """Runs of lines of which one at least is a package that is known here."""
    spans = [span for span in runs_of(_LINE, text) if _is_list(text[span.start : span.end])]
    if "\nVersion: " in text:
        spans += [Span(*match.span()) for match in _SHOW.finditer(text) if component_of(match[1])]
    if "has requirement " in text:
        spans += [Span(*match.span()) for match in _CHECK.finditer(text)]
    if "Successfully installed" in text:
        spans += [Span(*match.span()) for match in _INSTALLED.finditer(text)]
    return sorted(spans)[:64]


def _is_list(text: str) -> bool:
    """A pinned package is enough; of lines in columns two have to be known, or eight to be there: others are prose."""
    packages = list(_packages(text))
    known = [package for package in packages if component_of(package.name)]
    is_pinned = any(package.is_pinned for package in known)
    return bool(known) and (
        is_pinned or bool(_CONDA.search(text[:4_000])) or len(known) >= _LEAST_KNOWN or len(packages) >= _LEAST_LINES
    )


class _Package(NamedTuple):
    """One line. `lister`: pip or conda; `build`: conda's name of the build."""

    lister: str
    name: str
    version: str
    build: str = ""
    is_pinned: bool = False


def _packages(text: str) -> Iterator[_Package]:
    is_conda = bool(_CONDA.search(text[:4_000]))
    is_update = "\n + " in f"\n{text}"  # uv: what it removed has a minus
    for line in text.splitlines()[:4_000]:
        if pinned := _PINNED.match(line):
            if not (is_update and pinned[1] == "-"):
                yield _Package(_lister(pinned[2], is_conda=False), pinned[3], pinned[4], is_pinned=True)
        elif wheel := _WHEEL.match(line):
            yield _Package("pip", wheel[1], wheel[2], is_pinned=True)
        elif columns := _COLUMNS.match(line):
            channel = (columns[6] or columns[5] or "").lower()
            lister = _lister(columns[2], is_conda=is_conda and channel != "pypi")
            yield _Package(lister, columns[3], columns[4], columns[5] or "")


def _lister(mark: str | None, *, is_conda: bool) -> str:
    return "conda" if is_conda or (mark or "").startswith("[conda") else "pip"


def read_package_list(text: str) -> Reading:
    """Never raises. torch's version is stated as a fact too, conda's own line before pip's of the same environment."""
    reading = Reading(kind=KIND)
    for package in sorted(_listed(text), key=lambda package: package.lister != "conda"):
        found_by = f"packages of {package.lister}"
        component = "python" if package.name == "python" else component_of(package.name)
        if component == "pytorch":
            _take_conda_build(reading, package.build)
            state_torch_version(reading, package.version, found_by)
        elif component:
            reading.sheet.state("python.version", package.version if component == "python" else None)
            reading.add_software(component, version_with_build(package.name, package.version), found_by)
    check_torch_versions(reading)
    return reading


def _listed(text: str) -> Iterable[_Package]:
    if show := _SHOW.match(text):
        return [_Package("pip", show[1], show[2])]
    if check := _CHECK.match(text):
        return [_Package("pip", check["name"], check["version"]), _Package("pip", check["other"], check["there"])]
    if installed := _INSTALLED.match(text):
        parts = (part.rpartition("-") for part in installed[1].split()[:400])
        return [_Package("pip", name, version) for name, _, version in parts if version[:1].isdigit()]
    return _packages(text)


def _take_conda_build(reading: Reading, build: str) -> None:
    """`py3.11_cuda12.4_cudnn9.1.0_0` of its own channel, `cuda126_py312h...` and `cpu_mkl_py312...` of conda-forge."""
    if re.match(r"(?:py[\d.]{1,5}_)?cpu_", build):
        reading.sheet.mark_missing("torch.cuda_version", "not_applicable", f"conda lists the build {build}")
    elif match := re.search(r"(?:^|_)cuda_?(\d{1,2}\.\d|\d{3})(?![\d.])", build):
        cuda = match[1] if "." in match[1] else f"{match[1][:-1]}.{match[1][-1]}"
        reading.sheet.state("torch.cuda_version", cuda)


IMPORTER = Importer(
    kind=KIND,
    tool="pip list, pip freeze, uv pip list, conda list, pip show",
    tells="versions of torch and of the packages around it",
    trust=53,
    find=find_package_lists,
    read=read_package_list,
    answers=("python -m pip list", "conda list", "echo $LD_LIBRARY_PATH; python -m pip list"),
    command=r"(?:(?:\S{0,80}/)?python[\w.]{0,6} -m pip|uv pip|pip3?|conda|mamba) (?:list|freeze|show|install|check)",
    yields=True,
)

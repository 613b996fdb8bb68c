"""The texts of findings and error messages that are translated: sentences in the code of the rules.

For tools/translations.py. A sentence that is put together (`f"torch {torch} needs macOS {row.low}"`) is a text with
places, `torch {torch} needs macOS {low}`; one that begins with `n_` holds a number. Where a word depends on a number
(`card{'s' if many else ''}`), there is a text for each. A constant of the module that is no sentence, such as an
address, is part of the text.
"""

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

__all__ = ["COMPOSED", "FOLDERS", "finding_texts", "texts_of_code"]

FOLDERS = ("stackviz/report/rules", "stackviz/report/messages/messages", "stackviz/report/dumps/agreement.py")
OF_MESSAGES = FOLDERS[1]  # there a constant is the title of a source, unless it is a whole sentence
PROBES = ("stackviz/report/format/facts", "stackviz/agent/probing")
_SAY_WHY = frozenset({"MissingFact", "mark_missing"})
LEFT_OUT = frozenset({"Apple M3 Max", "Max-Q Design", "integrated graphics", "new in its ptxas"})  # of names and tables

# Sentences that are put together from words of a list, where no part of the code has the whole of them.
COMPOSED = (
    "Most likely:",
    "Also possible:",
    "Less likely:",
    "torch is built with {version}",
    "the toolkit is {version}",
    "total {size}",
    "free {size}",
    "in use by PyTorch {size}",
    "reserved and unused {size}",
    "held by this process {size}",
    "{kernel} is not a kernel of {name}",
    "card {n_index} {fact}",
    "Error correction (ECC)",
    "disabled",
    "enabled",
    "new feature",
    "production",
    "in Windows, not in WSL, {kind}",
    "in Windows {kind}",
    "on the host {kind}",
    "the NVML library, part of the NVIDIA driver, is not installed",
    "neither is nvidia-smi",
    "nor is nvidia-smi",
    "package metadata",
    "part of torch",
    "unnamed hypervisor",
)

# Calls whose arguments are no sentences, and arguments that are none.
_NOT_OF = frozenset(
    {
        "RuleSource", "NotReported", "compile", "get", "need", "mentions", "states_none", "reason_of", "is_true",
        "number", "software", "rows", "releases_of", "startswith", "endswith", "partition", "rpartition",
        "removeprefix", "removesuffix", "replace", "split", "fullmatch", "search", "match", "sub", "TypeVar",
        "ParamSpec", "packages", "files", "is_from_conda", "cards", "field", "frozenset",
    }
)  # fmt: skip
_NOT_NAMED = frozenset(
    {
        "patterns", "anchors", "key", "component", "message", "source_title", "source_url", "states", "lacks", "rules",
        "excluded_by", "needs", "source", "severity", "platform", "part", "cards", "order",
    }
)  # fmt: skip
_TEXTS_OF_A_RULE = frozenset({"asks"})
_LOWER_CASE = re.compile(r"(?:^|(?<=[\s(\"]))[A-Z]?[a-z']{2,}(?=$|[\s,.;:?)])")
_SPACED = re.compile(r"\S\s+\S")
_PATTERN = re.compile(r"\(\?|\\[bswd]")
_GAP = re.compile(r"\{\w+\}")
MOST_BRANCHES = 8  # of one sentence


def finding_texts(root: Path) -> Iterator[str]:
    """Every such text of a repository, each once."""
    if not (root / FOLDERS[0]).exists():  # the repository of a test
        return
    texts = list(COMPOSED)
    for folder in FOLDERS:
        for path in _files_of(root / folder):
            texts += texts_of_code(path.read_text(encoding="utf-8"), has_constants=folder != OF_MESSAGES)
    yield from dict.fromkeys([*texts, *_meanings(), *_reasons_of_absence(root), *_tools_in_words()])


def _meanings() -> Iterator[str]:
    """What the facts of a report mean, which pages show beside them."""
    from stackviz.report.format.facts import CARD_FACTS, CONDITIONS, FACTS

    meanings = (fact.meaning for facts in (FACTS, CARD_FACTS, CONDITIONS) for fact in facts.values())
    yield from (meaning for meaning in meanings if meaning not in LEFT_OUT and _is_sentence(meaning))


def _tools_in_words() -> Iterator[str]:
    """What pages call a tool whose name is no command: "an error message"."""
    from stackviz.report.dumps.machines import is_in_words
    from stackviz.report.importers import IMPORTERS

    yield from (importer.tool for importer in IMPORTERS if is_in_words(importer.tool))


def _reasons_of_absence(root: Path) -> Iterator[str]:
    """Why a fact is missing: `MissingFact("not_applicable", "asked on Linux only")`."""
    for path in (path for folder in PROBES for path in _files_of(root / folder)):
        module = ast.parse(path.read_text(encoding="utf-8"))
        constants = dict(_constants(module, spaced=True))
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and _name_of(node.func) in _SAY_WHY and len(node.args) > 1:
                yield from filter(_is_sentence, _written(node.args[-1], constants))


def _files_of(path: Path) -> list[Path]:
    return [path] if path.suffix else sorted(path.rglob("*.py"))


def texts_of_code(code: str, *, has_constants: bool = True) -> Iterator[str]:
    """The sentences of a module, in its order. `has_constants`: also those that stand in a constant of the module."""
    module = ast.parse(code)
    module.body = [node for node in module.body if not _is_no_text(node, has_constants=has_constants)]
    constants = dict(_constants(module))
    for node in _sentences(module):
        texts = (text.strip() for text in _written(node, constants))
        yield from (text for text in texts if text not in LEFT_OUT and _is_sentence(text))


def _is_no_text(node: ast.stmt, *, has_constants: bool) -> bool:
    """Whether a statement of a module makes a table of words that rules look for, or of other things to compare."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    match node.value:
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return not any(isinstance(element, ast.Call) for element in elements)
        case ast.Dict():
            return True
        case ast.Constant(value=str() as text):
            return not has_constants and not text.endswith(".")
    return False


def _constants(module: ast.Module, *, spaced: bool = False) -> Iterator[tuple[str, str]]:
    """Texts that the module names; `spaced`: sentences too."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str() as text)):
                if spaced or " " not in text:
                    yield name, text


def _is_sentence(text: str) -> bool:
    """Whether it has words of its own, and is no pattern, name or command."""
    from stackviz.base.advice import parts_of

    words = _GAP.sub(" ", text)
    if not _LOWER_CASE.search(words) or not _SPACED.search(text) or _PATTERN.search(text):
        return False
    return not all(part.is_typed or not _LOWER_CASE.search(_GAP.sub("", part.text)) for part in parts_of(text))


def _sentences(node: ast.AST) -> Iterator[ast.expr]:
    """The strings of a module that may be sentences; a joined one is one."""
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            yield node
            yield from _inside(node)
        case ast.BinOp(op=ast.Add()) if _is_text(node):
            yield node
            yield from _inside(node)
        case ast.Call():
            yield from _of_call(node)
        case ast.FunctionDef() | ast.ClassDef():
            yield from _of_all(node.decorator_list)
            yield from _of_all(_without_docstring(node.body))
        case ast.Module():
            yield from _of_all(_without_docstring(node.body))
        case ast.Compare() | ast.Subscript() | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Raise():
            return
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return
        case ast.Dict():
            yield from _of_all(node.values)
        case _:
            yield from _of_all(ast.iter_child_nodes(node))


def _of_all(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        yield from _sentences(node)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Nor what stands as a sentence below a constant."""
    return [node for node in body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]


def _of_call(node: ast.Call) -> Iterator[ast.expr]:
    name = _name_of(node.func)
    if name == "rule":
        yield from _of_all(each.value for each in node.keywords if each.arg in _TEXTS_OF_A_RULE)
    elif name not in _NOT_OF:
        yield from _of_all(node.args)
        yield from _of_all(each.value for each in node.keywords if each.arg not in _NOT_NAMED)
    match node.func:
        case ast.Call():  # RULES.rule(...)(check(...))
            yield from _sentences(node.func)
        case ast.Attribute(value=ast.JoinedStr() as text):  # f"...".rstrip()
            yield from _sentences(text)


def _inside(node: ast.AST) -> Iterator[ast.expr]:
    """Sentences at the places of one."""
    match node:
        case ast.JoinedStr():
            places = [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
            yield from _of_all(gap for gap in places if not _is_choice(gap))
        case ast.BinOp():
            for side in (node.left, node.right):
                yield from _inside(side) if _is_text(side) or _is_choice(side) else _sentences(side)


def _is_text(node: ast.expr) -> bool:
    """Whether a sum is of texts: one of its ends is written out."""
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(op=ast.Add()):
            return _is_text(node.left) or _is_text(node.right)
    return False


def _is_choice(node: ast.expr) -> bool:
    """Whether an expression chooses between two texts, of which one at least is written out."""
    return isinstance(node, ast.IfExp) and (_is_text(node.body) or _is_text(node.orelse))


def _written(node: ast.expr, constants: Mapping[str, str]) -> Iterator[str]:
    """A string as it may read, with the names of its places in braces."""
    wholes = list(itertools.islice(itertools.product(*_parts(node, constants)), MOST_BRANCHES))
    for parts in wholes:
        yield _numbered("".join(parts))


def _parts(node: ast.expr, constants: Mapping[str, str]) -> Iterator[list[str]]:
    """For each part of a string what may stand there."""
    match node:
        case ast.Constant(value=str() as text):
            yield [text]
        case ast.JoinedStr():
            for value in node.values:
                yield from _parts(value, constants)
        case ast.FormattedValue() if _is_number(node):
            yield [f"{{n_{_gap(node.value)}}}"]
        case ast.FormattedValue():
            yield from _parts(node.value, constants)
        case ast.BinOp(op=ast.Add()) if _is_text(node):
            yield from _parts(node.left, constants)
            yield from _parts(node.right, constants)
        case ast.IfExp() if _is_choice(node):
            yield [*_branch(node.body, constants), *_branch(node.orelse, constants)]
        case ast.Name() if node.id in constants:
            yield [constants[node.id]]
        case _:
            yield [f"{{{_gap(node)}}}"]


def _is_number(node: ast.FormattedValue) -> bool:
    return node.format_spec is not None or (isinstance(node.value, ast.Call) and _name_of(node.value.func) == "len")


def _branch(node: ast.expr, constants: Mapping[str, str]) -> list[str]:
    return ["".join(parts) for parts in itertools.product(*_parts(node, constants))]


def _gap(node: ast.expr) -> str:
    """What stands at a place, in a word."""
    match node:
        case ast.Name():
            return node.id.strip("_").lower()
        case ast.Attribute():
            return "n_index" if node.attr == "index" else node.attr.strip("_").lower()
        case ast.Call():
            return _gap_of_call(node)
        case ast.Subscript() | ast.Starred():
            return _gap(node.value)
        case ast.BinOp(left=first) | ast.BoolOp(values=[first, *_]) | ast.IfExp(body=first):
            return _gap(first)
        case ast.GeneratorExp() | ast.ListComp():
            return _gap(node.elt)
    return "value"


def _gap_of_call(node: ast.Call) -> str:
    """`", ".join(names)` is `names`, `look.need("torch.version")` is `torch_version`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="join") | ast.Name(id="len"), args=[only]):
            return _gap(only)
        case ast.Call(func=ast.Attribute(attr="get" | "need"), args=[ast.Constant(value=str() as fact), *_rest]):
            return fact.replace(".", "_")
        case ast.Call(func=ast.Attribute(value=ast.JoinedStr())):
            return "sentence"
    return _name_of(node.func).strip("_").lower() or "value"


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _numbered(text: str) -> str:
    """Places of one name are told apart: `{torch}`, `{torch_2}`."""
    counts: dict[str, int] = {}

    def number(gap: re.Match[str]) -> str:
        name = gap[0][1:-1]
        counts[name] = counts.get(name, 0) + 1
        return gap[0] if counts[name] == 1 else f"{{{name}_{counts[name]}}}"

    return _GAP.sub(number, text)

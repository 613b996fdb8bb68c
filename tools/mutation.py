"""Small faults that can be put into a Python file, one at a time: a test suite that is worth its time notices each.

The file's text is edited in place of one expression or statement, so that everything else stays as it was written.
Left alone: annotations, docstrings and other prose, `__all__`, what is written to a log, and code for type checkers.
"""

import ast
import re
from dataclasses import dataclass
from itertools import pairwise

OPPOSITES = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not", "is not": "is",
    "in": "not in", "not in": "in", "and": "or", "or": "and", "+": "-", "-": "+", "*": "/", "/": "*", "//": "/",
    "|": "&", "&": "|",
}  # fmt: skip
_COMPARISON = re.compile(rb"<=|>=|==|!=|<|>|\bis\s+not\b|\bnot\s+in\b|\bis\b|\bin\b")
_JUNCTION = re.compile(rb"\band\b|\bor\b")
_ARITHMETIC = re.compile(rb"//|\*\*|<<|>>|[-+*/|&%^@]")
_CODE_WORD = re.compile(r"[\w.:/-]{1,40}")  # a key, a state, a unit: not a sentence
_SKIPPED_CALLS = {"_", "gettext", "gettext_lazy", "ngettext", "TypeVar", "NewType", "cast", "getLogger", "lru_cache"}
_LOGS = {"log", "logger", "warnings"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit of a file: these bytes of it are replaced."""

    start: int
    end: int
    replacement: bytes
    line: int
    change: str

    def of(self, source: bytes) -> bytes:
        """The file's text with the fault in it."""
        return source[: self.start] + self.replacement + source[self.end :]


def mutants_of(source: bytes) -> list[Mutant]:
    """Every fault this module knows for a file, in the order of its text. A few may not parse."""
    return sorted(_Finder(source).mutants, key=lambda mutant: (mutant.start, mutant.end, mutant.replacement))


def parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


class _Finder(ast.NodeVisitor):
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.mutants: list[Mutant] = []
        self._lines = [0, *(match.end() for match in re.finditer(rb"\n", source))]
        self.visit(ast.parse(source))

    # --- the text of a node ---

    def _start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        assert node.end_lineno is not None  # noqa: S101 - for types: nodes of a parsed text have ends
        assert node.end_col_offset is not None  # noqa: S101 - the same
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def _add(self, start: int, end: int, replacement: bytes) -> None:
        line = self.source.count(b"\n", 0, start) + 1
        before = " ".join(self.source[start:end].decode().split())
        change = f"{before[:60]} -> {replacement.decode()[:60] or 'nothing'}"
        self.mutants.append(Mutant(start, end, replacement, line, change))

    def _replace(self, node: ast.expr | ast.stmt, replacement: bytes) -> None:
        self._add(self._start(node), self._end(node), replacement)

    def _swap_between(self, left: ast.expr, right: ast.expr, operators: re.Pattern[bytes]) -> None:
        match = operators.search(self.source, self._end(left), self._start(right))
        if match and (other := OPPOSITES.get(" ".join(match[0].decode().split()))):
            self._add(match.start(), match.end(), other.encode())

    # --- what is left alone ---

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self._negate(node.test)
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(target, ast.Name) and target.id.startswith("__") for target in node.targets):
            self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        """An annotation of a parameter."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A text with values in it: before Python 3.12 its parts do not know where they stand."""

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast.NodeVisitor's names

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Without its decorators and bases: `frozen` and `slots` of a dataclass are held by the type checker."""
        for part in node.body:
            self.visit(part)

    # --- expressions ---

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, right in pairwise([node.left, *node.comparators]):
            self._swap_between(left, right, _COMPARISON)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in pairwise(node.values):
            self._swap_between(left, right, _JUNCTION)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._swap_between(node.left, node.right, _ARITHMETIC)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(self._start(node), self._start(node) + len(b"not"), b"")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._negate(condition)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        """Conditions that have no operator to swap."""
        if isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.NamedExpr):
            text = self.source[self._start(test) : self._end(test)]
            self._replace(test, b"(not (" + text + b"))")

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replace(node, str(not value).encode())
        elif isinstance(value, int):
            self._replace(node, str(value + 1).encode())
        elif isinstance(value, float):
            self._replace(node, repr(float(f"{value * 1.1:.12g}") or 1.0).encode())
        elif isinstance(value, str) and _CODE_WORD.fullmatch(value):
            self._replace(node, repr(value + "_").encode())

    def visit_Call(self, node: ast.Call) -> None:
        if _called_name(node) in _SKIPPED_CALLS:
            return
        for keyword in node.keywords:
            if keyword.arg:
                self._remove(self._start(keyword), self._end(keyword))
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            self._remove_each(node.args)
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        self._remove_each(node.elts)
        self.generic_visit(node)

    visit_List = visit_Set = visit_Tuple  # noqa: N815 - ast.NodeVisitor's names

    def _remove_each(self, elements: list[ast.expr]) -> None:
        if len(elements) > 1 and not isinstance(elements[0], ast.Constant):
            for element in elements:
                self._remove(self._start(element), self._end(element))

    def _remove(self, start: int, end: int) -> None:
        """With the comma after it: one that is left before it does no harm."""
        comma = re.compile(rb"\s*,").match(self.source, end)
        self._add(start, comma.end() if comma else end, b"")

    # --- statements ---

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) or (isinstance(node.value, ast.Call) and _is_logged(node.value)):
            return  # a docstring, or a line for the log
        if isinstance(node.value, ast.Call):
            self._replace(node, b"pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace(node, b"pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace(node, b"pass")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace(node, b"break")

    def visit_Break(self, node: ast.Break) -> None:
        self._replace(node, b"continue")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._add(self._start(node), self._end(node), b"return None")
        self.generic_visit(node)


def _called_name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _is_logged(call: ast.Call) -> bool:
    called = call.func
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in _LOGS

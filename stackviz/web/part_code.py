"""The Python that Jinja2 writes for the parts of pages: its own, without steps that none of them needs.

A page escapes two thousand values, reads four thousand attributes and makes three hundred calls: Jinja2 makes an object
of each escaped value, which is joined with others at once, tries for each attribute whether it is a key, and looks for
each call whether its function wants the context.
"""

from typing import Any

import markupsafe
from django.utils.safestring import SafeString
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from markupsafe import Markup, escape

_escape_text = markupsafe._escape_inner  # type: ignore[attr-defined]  # noqa: SLF001 - the work of `escape`


def html_of(value: object) -> str:
    """The value as HTML, to be joined with other HTML: what `escape` returns, as a plain text where it was one."""
    if type(value) is str:
        return _escape_text(value)
    return value if type(value) is Markup or type(value) is SafeString else escape(value)


class PartCode(CodeGenerator):
    """Writes `html_of(…)` for `escape(…)`, reads attributes and calls functions that want no context directly.

    `x.name` is an attribute and nothing else: a key is `x["name"]`.
    """

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802 (Jinja2's name)
        self.writeline(f"from {__name__} import {html_of.__name__}")
        super().visit_Template(node, frame)

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ANN401 (not public)
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape or finalize.src is not None:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write(f"{html_of.__name__}(")

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802
        self.visit(node.node, frame)
        self.write(f".{node.attr}")

    def visit_Call(self, node: nodes.Call, frame: Frame, **options: Any) -> None:  # type: ignore[override]  # noqa: ANN401, N802
        if options or node.dyn_args or node.dyn_kwargs or self._wants_context(node.node):
            super().visit_Call(node, frame, **options)
            return
        self.visit(node.node, frame)
        self.write("(")
        for index, argument in enumerate((*node.args, *node.kwargs)):
            self.write(", " if index else "")
            self.visit(argument, frame)
        self.write(")")

    def _wants_context(self, called: nodes.Expr) -> bool:
        """Whether Jinja2 must hand it the context: macros and methods never want it."""
        if not isinstance(called, nodes.Name):
            return not isinstance(called, nodes.Getattr)
        return hasattr(self.environment.globals.get(called.name), "jinja_pass_arg")

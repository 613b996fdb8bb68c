"""Loads a site and prints the files of ours that had a part in it: `python watched_load.py ROOT FOLDER_OF_CITED`.

Each module, class, function and lambda of ours is compiled with a call in front that notes its file. A tracer would be
told of every call inside Django too, which takes three times as long.
"""

import ast
import builtins
import importlib.machinery
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

OURS = ("accelweb", "stackviz", "tests")
NOTE = "_note_file"


class Noting(ast.NodeTransformer):
    def __init__(self, file: str) -> None:
        self.note = ast.parse(f"{NOTE}({file!r})").body[0]

    def with_note(self, node):
        self.generic_visit(node)
        node.body.insert(self._after_heading(node.body), self.note)
        return node

    visit_Module = visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = with_note  # noqa: N815 (ast's names)

    def visit_Lambda(self, node):
        self.generic_visit(node)
        node.body = ast.BoolOp(ast.Or(), [self.note.value, node.body])  # a note is None
        return node

    def _after_heading(self, body: list[ast.stmt]) -> int:
        return next((place for place, line in enumerate(body) if not self._is_heading(line)), len(body))

    def _is_heading(self, line: ast.stmt) -> bool:
        """A docstring, or what Python wants before all else."""
        is_text = isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
        return is_text or getattr(line, "module", "") == "__future__"


class NotingLoader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):  # noqa: ARG002 (Python's signature)
        tree = Noting(self.path).visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)


class NotingFinder(MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname.partition(".")[0] not in OURS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = NotingLoader(spec.loader.name, spec.loader.path)
        return spec


def main(root: str, cited: str) -> None:
    setattr(builtins, NOTE, lambda _file: None)
    sys.meta_path.insert(0, NotingFinder())
    import django
    from django.core.management import call_command

    django.setup()
    seen: set[str] = set()
    setattr(builtins, NOTE, seen.add)
    sys.addaudithook(
        lambda event, arguments: seen.add(arguments[0]) if event == "open" and isinstance(arguments[0], str) else None
    )
    for command in ("migrate", "load_catalogue", "load_stacks", "load_hosts"):
        call_command(command, verbosity=0, skip_checks=True)
    from stackviz.records.cited.load import load_cited

    load_cited(Path(cited))
    setattr(builtins, NOTE, lambda _file: None)
    print("\n".join(sorted(file for file in seen if file.startswith(f"{root}/"))))


if __name__ == "__main__":
    main(*sys.argv[1:])

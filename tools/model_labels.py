"""Texts of labels that Django derives from names of models and fields. For tools/translations.py."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def model_labels(root: Path) -> Iterator[str]:
    """Every such text of a repository, from the code of its models."""
    bases = {"Model"}
    for path in (
        *root.glob("stackviz/records/curated/rows.py"),
        *sorted(root.glob("stackviz/**/models.py")),
        *sorted(root.glob("stackviz/**/models/*.py")),
        *root.glob("stackviz/records/prices/price.py"),
    ):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and any(_name(base) in bases for base in node.bases):
                bases.add(node.name)
                yield from _field_labels(node)
                yield from _names(node)


def _field_labels(model: ast.ClassDef) -> Iterator[str]:
    for node in model.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
            continue
        kind, target = _name(node.value.func), node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        is_relation = kind in ("ForeignKey", "OneToOneField", "ManyToManyField")
        is_labelled = (node.value.args and not is_relation) or _keyword(node.value, "verbose_name")
        if (is_relation or kind.endswith("Field")) and not is_labelled:
            yield _name(target).replace("_", " ")


def _names(model: ast.ClassDef) -> Iterator[str]:
    """Singular and plural, unless the model is abstract or its names are marked where they stand."""
    meta = next((node for node in model.body if isinstance(node, ast.ClassDef) and node.name == "Meta"), None)
    options = {_name(node.targets[0]): node.value for node in meta.body if isinstance(node, ast.Assign)} if meta else {}
    singular = options.get("verbose_name", ast.Constant(_CAPITALS.sub(" ", model.name).lower()))
    if "abstract" in options or not isinstance(singular, ast.Constant):
        return
    plural = options.get("verbose_name_plural", ast.Constant(f"{singular.value!s}s"))
    yield str(singular.value)
    if isinstance(plural, ast.Constant):
        yield str(plural.value)


def _name(node: ast.expr) -> str:
    """`models.Model` -> `Model`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _keyword(call: ast.Call, name: str) -> bool:
    return any(keyword.arg == name for keyword in call.keywords)

"""The site's texts in other languages: the `.po` files of `locale/<language>/LC_MESSAGES/` and the `.mo` made of them.

python -m tools.translations             take new texts of templates and code into every .po, drop texts that are gone,
                                         compile, list what is not translated yet, of chapters and glossary
                                         too; fails if there is any
python -m tools.translations --check     write nothing; fails too where a .po is not as the first command would write it
python -m tools.translations --compile   compile only, and only what is older than its .po
"""

import argparse
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog, Message

ROOT = Path(__file__).resolve().parent.parent
TEXTS = "stackviz/pages/learn/texts"
FOLDERS = ("accelweb", "stackviz", "templates")
Keywords = Mapping[str, Any]  # a function's name -> which arguments are texts, as Babel writes it
KEYWORDS: Keywords = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
SENTENCES: Keywords = {"say": (1,)}  # `stackviz/base/sentence.py`
MISSING: Keywords = {"MissingFact": (2,), "mark_missing": (3,)}  # why a fact is missing
_WORD = re.compile(r"(?:^|(?<=[\s(\"]))[a-z']{2,}(?=$|[\s,.;:?)])")
_PLACE = re.compile(r"\{\w+\}")


def po_files(root: Path) -> list[Path]:
    """Texts of the interface."""
    return sorted(root.glob("locale/*/LC_MESSAGES/django.po"))


def curated_files(root: Path) -> list[Path]:
    """Texts of the data files (`stackviz/web/i18n/curated_text.py`)."""
    return sorted(root.glob("locale/*/LC_MESSAGES/curated.po"))


def finding_files(root: Path) -> list[Path]:
    """Texts of findings and error messages (`stackviz/web/i18n/finding_text.py`)."""
    return sorted(root.glob("locale/*/LC_MESSAGES/findings.po"))


def all_files(root: Path) -> list[Path]:
    return [*po_files(root), *curated_files(root), *finding_files(root)]


def read_catalog(path: Path) -> "Catalog":
    """Raises PoFileError where the file is not well formed."""
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        return read_po(file, ignore_obsolete=True, abort_invalid=True)


def is_translated(message: "Message") -> bool:
    forms = message.string if isinstance(message.string, (list, tuple)) else [message.string]
    return not message.fuzzy and all(forms)


def extract_template(
    file: IO[bytes], keywords: Keywords, comment_tags: Sequence[str], options: dict[str, Any]
) -> Iterator[Any]:
    """Texts of a Django template: Django turns its tags into calls of gettext, Babel reads these as Python."""
    from babel.messages.extract import extract_python
    from django.utils.translation.template import templatize

    encoding = options.get("encoding", "utf-8")
    code = "\n".join(line.strip() for line in templatize(file.read().decode(encoding)).splitlines())
    return extract_python(io.BytesIO(code.encode()), keywords, comment_tags, {"encoding": "utf-8"})


def extract_catalog(root: Path) -> "Catalog":
    """Every text of templates and code, without translations."""
    import django
    from babel.messages.catalog import Catalog
    from babel.messages.extract import extract_from_dir
    from django.conf import settings

    from stackviz.web.i18n.model_labels import CONTEXT
    from tools.model_labels import model_labels

    if not settings.configured:  # the template lexer asks for DEBUG
        settings.configure()
        django.setup()
    methods: list[tuple[str, Any]] = [("**.py", "python"), ("**.html", extract_template), ("**.txt", extract_template)]
    methods.append(("**.jinja", "jinja2"))
    options = {"**.jinja": {"trimmed": "true", "newstyle_gettext": "true"}}
    catalog = Catalog()
    for folder in FOLDERS:
        for _file, _line, text, _comments, context in extract_from_dir(
            root / folder, methods, options, keywords=KEYWORDS
        ):
            catalog.add(text, context=context)
    for text in model_labels(root):
        catalog.add(text, context=CONTEXT)
    return catalog


def finding_texts(root: Path) -> Iterator[str]:
    """Sentences of the rules, by their keys; texts of error messages, of facts and of what agents say is missing."""
    from stackviz.base.sentence import Sentence
    from stackviz.report.dumps.machines import is_in_words
    from stackviz.report.format.agent_texts import AGENT_TEXTS
    from stackviz.report.format.facts import CARD_ABSENT_NAMES, CARD_FACTS, CONDITIONS, FACTS
    from stackviz.report.importers import IMPORTERS
    from stackviz.report.messages import SYMPTOMS
    from stackviz.report.rules import RULES

    texts = [fact.meaning for facts in (FACTS, CARD_FACTS, CARD_ABSENT_NAMES, CONDITIONS) for fact in facts.values()]
    texts += [importer.tool for importer in IMPORTERS if is_in_words(importer.tool)]
    texts += [rule.asks.key for rule in RULES]
    for symptom in SYMPTOMS:
        texts += [symptom.meaning, symptom.ask]
        texts += [text for cause in symptom.causes for text in (cause.text, cause.sign, cause.remedy)]
    for folder in ("stackviz/agent/probing", "stackviz/report/format"):
        texts += _extracted(root / folder, MISSING)
    texts = [text for text in texts if " " in text and not isinstance(text, Sentence) and _is_prose(text)]
    keys = [
        key for key in _extracted(root / "stackviz/report", SENTENCES) if re.search("[A-Za-z]", _PLACE.sub("", key))
    ]
    yield from dict.fromkeys([*texts, *AGENT_TEXTS, *keys])


def _is_prose(text: str) -> bool:
    """Whether it is more than a name and commands."""
    from stackviz.base.advice import parts_of

    return text.endswith(".") or any(not part.is_typed and _WORD.search(part.text) for part in parts_of(text))


def _extracted(folder: Path, keywords: Keywords) -> list[str]:
    from babel.messages.extract import extract_from_dir

    found = extract_from_dir(folder, [("**.py", "python")], {}, keywords=keywords)
    return [text.strip() for _file, _line, text, _comments, _context in found if isinstance(text, str)]


def catalog_of(texts: Iterable[str]) -> "Catalog":
    """Texts that stand in data files or rules, without translations."""
    from babel.messages.catalog import Catalog

    catalog = Catalog()
    for text in texts:
        catalog.add(text)
    return catalog


def merge(path: Path, extracted: "Catalog") -> tuple[str, list[str]]:
    """-> the .po file with exactly the extracted texts, and what is left to translate.

    The header is kept as it stands. Entries are sorted by text and name no place, so two branches that add texts or
    move code rarely touch the same lines.
    """
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import write_po

    translated = read_catalog(path)
    merged = Catalog(locale=translated.locale)
    missing: list[str] = []
    for message in extracted:
        if not message.id:
            continue
        known = translated.get(message.id, message.context)
        if known and is_translated(known) and known.pluralizable == message.pluralizable:
            merged.add(message.id, known.string, context=message.context)
        else:
            merged.add(message.id, context=message.context)
            missing.append(message.id if isinstance(message.id, str) else message.id[0])
    entries = io.BytesIO()
    write_po(entries, merged, width=0, no_location=True, omit_header=True, sort_output=True)
    header = path.read_text().partition("\n\n")[0].rstrip()
    return f"{header}\n\n{entries.getvalue().decode().strip()}\n", sorted(missing)


def compile_catalog(path: Path) -> None:
    """Write the .mo beside a .po in one step: a running site never reads half a file."""
    from babel.messages.mofile import write_mo

    new = path.with_suffix(f".mo.{os.getpid()}")
    with new.open("wb") as file:
        write_mo(file, read_catalog(path))
    new.replace(path.with_suffix(".mo"))


def compile_changed(root: Path) -> None:
    for path in all_files(root):
        compiled = path.with_suffix(".mo")
        if not compiled.exists() or compiled.stat().st_mtime_ns < path.stat().st_mtime_ns:
            compile_catalog(path)


def update(root: Path, *, write: bool) -> list[str]:
    """-> what is left to do."""
    from stackviz.pages.learn.chapters import CHAPTERS
    from stackviz.pages.learn.glossary import GLOSSARY
    from stackviz.pages.learn.text_files import list_untranslated
    from tools.curated_texts import curated_texts

    extracted = {
        "django": extract_catalog(root),
        "curated": catalog_of(curated_texts(root)),
        "findings": catalog_of(finding_texts(root)),
    }
    problems = []
    for path in all_files(root):
        name = path.relative_to(root)
        text, missing = merge(path, extracted[path.stem])
        if write:
            path.write_text(text)
        elif text != path.read_text():
            problems.append(f"{name}: differs from the texts of templates and code; run: make translations")
        problems += [f"{name}: not translated: {text}" for text in missing]
    for locale in sorted({path.parent.parent.name for path in po_files(root)}):
        for kind in (CHAPTERS, GLOSSARY):
            problems += [f"{TEXTS}/{locale}/{kind}/{line}" for line in list_untranslated(kind, locale, root / TEXTS)]
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--compile", action="store_true")
    choice.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    if chosen.compile:
        compile_changed(ROOT)
        return 0
    problems = update(ROOT, write=not chosen.check)
    if not chosen.check:
        compile_changed(ROOT)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} to do" if problems else "every text is translated")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

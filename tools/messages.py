"""The site's texts in other languages, `locale/<language>/LC_MESSAGES/django.po`, and the `.mo` files Django reads.

python tools/messages.py             takes new texts of templates and code into every .po, drops texts that are gone,
                                     writes the .mo files, names what is not translated yet   (needs GNU gettext)
python tools/messages.py --compile   writes the .mo files only                                (needs nothing but Python)
python tools/messages.py --check     writes nothing; fails where one of the two has something to do
"""

import argparse
import ast
import os
import re
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "locale"
SEARCHED = {"templates": ("*.html", "*.txt"), "stackviz": ("*.py", "*.html"), "accelweb": ("*.py",)}
GETTEXT = ("xgettext", "msgmerge", "msguniq", "msgattrib")


@dataclass
class Entry:
    """One text of a .po file. `forms` has one translation, or one per plural form; the header is the empty text."""

    text: str = ""
    context: str | None = None
    plural: str | None = None
    forms: dict[int, str] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)

    @property
    def is_header(self) -> bool:
        return self.text == ""

    @property
    def is_translated(self) -> bool:
        return "fuzzy" not in self.flags and bool(self.forms) and all(self.forms.values())

    @property
    def key(self) -> str:
        """How a .mo file, and Python's gettext, name it."""
        named = self.text if self.plural is None else f"{self.text}\0{self.plural}"
        return named if self.context is None else f"{self.context}\4{named}"


# --- reading and writing the files ---


def read_po(text: str) -> list[Entry]:
    """Entries in their order, the header among them; obsolete ones (`#~`) are left out."""
    return [entry for block in text.split("\n\n") if (entry := _entry(block)).forms]


def _entry(block: str) -> Entry:
    entry, part = Entry(), ""
    texts: dict[str, str] = {}
    for line in block.splitlines():
        if line.startswith("#,"):
            entry.flags |= {flag.strip() for flag in line[2:].split(",")}
        elif match := re.fullmatch(r'(?:(msg\w+(?:\[\d+\])?) )?(".*")', line):
            part = match[1] or part
            texts[part] = texts.get(part, "") + ast.literal_eval(match[2])
    entry.text = texts.pop("msgid", "")
    entry.context, entry.plural = texts.pop("msgctxt", None), texts.pop("msgid_plural", None)
    entry.forms = {int(name[7:-1] or 0) if "[" in name else 0: text for name, text in texts.items()}
    return entry


def compiled(entries: list[Entry]) -> bytes:
    """The .mo file: magic, counts and offsets, tables of texts and of translations, the strings."""
    pairs = sorted(
        (entry.key.encode(), "\0".join(entry.forms[n] for n in sorted(entry.forms)).encode())
        for entry in entries
        if entry.is_translated
    )
    start = 7 * 4
    place = start + len(pairs) * 16
    tables, strings = b"", b""
    for column in (0, 1):
        for pair in pairs:
            tables += struct.pack("<2I", len(pair[column]), place + len(strings))
            strings += pair[column] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), start, start + len(pairs) * 8, 0, place)
    return head + tables + strings


def po_files() -> list[Path]:
    return sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


# --- looking for texts ---


def extracted() -> Iterator[tuple[Path, str]]:
    """Each .po file as it is when templates and code are searched anew. Nothing is written beside them."""
    import django
    from django.conf import settings
    from django.core.management import call_command
    from django.core.management.commands.makemessages import Command

    missing = [name for name in GETTEXT if not shutil.which(name)]
    if missing:
        sys.exit(f"messages: GNU gettext is needed to look for texts; not on PATH: {', '.join(missing)}")
    settings.configure(LOCALE_PATHS=[])
    django.setup()
    # A guessed translation is worse than none: it would pass for one.
    command = Command()
    command.msgmerge_options = [*Command.msgmerge_options, "--no-fuzzy-matching"]
    files = [(path, path.parent.parent.name) for path in po_files()]
    with tempfile.TemporaryDirectory() as folder:
        _copy_searched(Path(folder))
        before = Path.cwd()
        os.chdir(folder)  # makemessages searches where it stands, and leaves work files beside the templates
        try:
            call_command(
                command,
                locale=[language for _path, language in files],
                add_location="file",
                no_wrap=True,
                no_obsolete=True,
                verbosity=0,
            )
            for path, _language in files:
                yield path, _without_dates((Path(folder) / path.relative_to(ROOT)).read_text())
        finally:
            os.chdir(before)


def _copy_searched(folder: Path) -> None:
    for name, patterns in SEARCHED.items():
        for path in (found for pattern in patterns for found in (ROOT / name).rglob(pattern)):
            copy = folder / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    shutil.copytree(LOCALE, folder / "locale")


def _without_dates(text: str) -> str:
    """A file that changes when its texts do, not at every search."""
    return re.sub(r'^"(POT-Creation|PO-Revision)-Date:.*\n', "", text, flags=re.MULTILINE)


# --- what one types ---


def update(*, search: bool) -> list[str]:
    """-> what is left to translate."""
    if search:
        for path, text in extracted():
            path.write_text(text)
    left = []
    for path in po_files():
        entries = read_po(path.read_text())
        path.with_suffix(".mo").write_bytes(compiled(entries))
        left += [f"{path.relative_to(ROOT)}: not translated: {entry.text}" for entry in _untranslated(entries)]
    return left


def check() -> list[str]:
    """-> what is not as it should be."""
    found = []
    for path, text in extracted():
        name = path.relative_to(ROOT)
        kept, now = read_po(path.read_text()), read_po(text)
        keys, new_keys = {entry.key for entry in kept}, {entry.key for entry in now}
        found += [f"{name}: new text, not in the file: {entry.text}" for entry in now if entry.key not in keys]
        found += [f"{name}: text that is gone: {entry.text}" for entry in kept if entry.key not in new_keys]
        found += [f"{name}: not translated: {entry.text}" for entry in _untranslated(kept)]
        if compiled(kept) != path.with_suffix(".mo").read_bytes():
            found.append(f"{name}: the .mo beside it is older")
    return found


def _untranslated(entries: list[Entry]) -> list[Entry]:
    return [entry for entry in entries if not entry.is_translated]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--compile", action="store_true")
    choice.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    problems = check() if chosen.check else update(search=not chosen.compile)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} to do" if problems else "every text is translated")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

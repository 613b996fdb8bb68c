"""What wraps a pasted dump is taken off; a clean dump stays as it was."""

import html
import json

import pytest

from stackviz.report.importers import read_all
from stackviz.report.importers.tidy import tidy
from tests.report.importers import nvidia_dumps as dumps

LINES = dumps.TABLE.splitlines()
CLEAN = {
    "table": dumps.TABLE,
    "q": dumps.Q_TEXT.lstrip("\n"),
    "xml": dumps.XML,
    "csv": dumps.CSV,
    "topology": dumps.TOPOLOGY,
    "amp in xml": "<?xml version='1.0'?>\n<nvidia_smi_log><a>x &amp; y &lt;br&gt;</a></nvidia_smi_log>",
    "json": json.dumps([{"path": "C:\\new\\table", "log": "a\nb", "name": "é"}], indent=2, ensure_ascii=False),
    "prose": 'He said "no".\nIt costs 5 > 3 & a < b.\nname: Ångström – café ± 1\n',
    "markdown table": "| model | size | t/s |\n| --- | ---: | --: |\n| llama | 4.58 GiB | 94.48 ± 0.13 |\n",
}


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_dump_stays_as_it_was(name):
    assert tidy(CLEAN[name]) == CLEAN[name]


def _literal(lines):
    return "\n".join([f'    "{line}\\n"'.replace("bin\\s", "bin\\\\s") for line in lines])


WRAPPINGS = {
    "crlf": "\r\n".join(LINES),
    "ansi": "\n".join(f"\x1b[1;32m{line}\x1b[0m" for line in LINES),
    "ansi without its escape": "\n".join(f"[32m{line}[0m" for line in LINES),
    "quoted": "\n".join(f"> {line}" for line in LINES),
    "quoted twice": "\n".join(f"> > {line}" for line in LINES),
    "quoted in html": "\n".join(f"&gt; {line}" for line in LINES),
    "fenced": f"```text\n{dumps.TABLE}```\n",
    "fenced and quoted": "\n".join(f"> {line}" for line in ["```", *LINES, "```"]),
    "actions log": "\n".join(f"2026-03-03T09:15:00.1234567Z {line}" for line in LINES),
    "gh log": "\n".join(f"build\tRun nvidia-smi\t2026-03-03T09:15:00.1234567Z {line}" for line in LINES),
    "clock": "\n".join(f"[09:15:00] {line}" for line in LINES),
    "kernel log": "\n".join(f"[  123.456789] {line}" for line in LINES),
    "syslog": "\n".join(f"Mar  3 09:15:00 node7 job[42]: {line}" for line in LINES),
    "prompt": f"me@node7:~/work$ nvidia-smi\n{dumps.TABLE}me@node7:~/work$ exit\n",
    "windows prompt": f"PS C:\\Users\\me> nvidia-smi\n{dumps.TABLE}",
    "python literal": f"TEXT = (\n{_literal(LINES)}\n)\n",
    "notebook": json.dumps({"text": [f"{line}\n" for line in LINES]}, indent=1),
    "one line": repr(dumps.TABLE),
    "recording": "\n".join(json.dumps([at / 8, "o", f"{line}\r\n"]) for at, line in enumerate(LINES)),
    "html": f"<p>My cards:</p><pre><code>{html.escape(dumps.TABLE)}</code></pre>",
    "br": "<br>".join(LINES),
    "no-break spaces": dumps.TABLE.replace(" ", "\xa0"),
    "utf-16": dumps.TABLE.encode("utf-16").decode("latin-1"),
    "byte order mark": f"\ufeff{dumps.TABLE}",
    "indented": "\n".join(f"        {line}" for line in LINES),
}


@pytest.mark.parametrize("name", WRAPPINGS)
def test_a_wrapped_dump_tells_what_the_bare_one_tells(name):
    bare, (wrapped, *others) = read_all(dumps.TABLE).readings[0], read_all(WRAPPINGS[name]).readings
    assert others == []
    assert wrapped.cards == bare.cards
    assert wrapped.facts == bare.facts
    assert len(tidy(WRAPPINGS[name])) <= len(WRAPPINGS[name])


def test_indentation_below_a_quote_mark_is_kept():
    quoted = "\n".join(f"> {line}" for line in dumps.Q_TEXT.splitlines())
    assert read_all(quoted).readings[0].cards == read_all(dumps.Q_TEXT).readings[0].cards


@pytest.mark.parametrize("word", ["94.48 ± 0.13", "41.0°C", "Café – “x”", "中文"])
@pytest.mark.parametrize("wrong", ["latin-1", "cp1252"])
def test_mojibake_is_repaired_where_certain(word, wrong):
    broken = "".join(bytes([byte]).decode(wrong, "ignore") or chr(byte) for byte in word.encode("utf-8"))
    assert tidy(broken).replace("\xa0", " ") == word


@pytest.mark.parametrize("line", ["Windows 10 רҵ��", "Ã and nothing more", "â€"])
def test_what_is_no_certain_mistake_stays(line):
    assert tidy(line) == line


@pytest.mark.parametrize(
    "text", ["", "\x00" * 9, "\x1b[" * 50, "&#xD800;&#0;", '"\\ud800\\n"\n' * 4, "> " * 40, "```" * 9, "\n" * 50]
)
def test_nothing_raises_or_grows(text):
    assert len(tidy(text)) <= len(text)

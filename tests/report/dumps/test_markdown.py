"""The answer as Markdown: whatever a dump states, it is text; nobody is mentioned, and a comment can hold it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from stackviz.agent.diagnose import diagnosed
from stackviz.report.dumps.markdown import MOST_CHARS, code_span, escape_text, fence, to_markdown
from stackviz.report.importers import read_all
from tests.pages.diagnose.conftest import CPU_WHEEL, MAC_JSON

JOINER = "\N{WORD JOINER}"
HOSTILE = (
    "![x](https://evil.example/p.png) [click](javascript:alert(1)) <img src=x onerror=alert(1)> @octocat #1 `a` | b"
)


def markdown_of(text):
    return to_markdown(diagnosed(read_all(text)))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("torch 2.12.0+cpu (cu128)", "torch 2.12.0+cpu (cu128)"),
        ("sm_120 * 2", r"sm\_120 \* 2"),
        ("[x](y)", r"\[x\](y)"),
        ("<b>", r"\<b\>"),
        ("# head", r"\# head"),
        ("- item", r"\- item"),
        ("12. item", r"12\. item"),
        ("===", r"\==="),
        ("a | b", r"a \| b"),
        ("https://x.example", r"https\://x.example"),
        ("@octocat", f"@{JOINER}octocat"),
        ("a@x.org", f"a@{JOINER}x.org"),
        ("o/r#12", f"o/r\\#{JOINER}12"),
        ("GH-12", f"GH-{JOINER}12"),
        ("www.x.example", f"www{JOINER}.x.example"),
        ("a\nb\x00c\u202ed", "a b c d"),
        ("&lt;", r"\&lt;"),
        ("x" * 9_000, "x" * 1_999 + "…"),
        ("", ""),
    ],
)
def test_a_text_reads_as_it_is(text, escaped):
    assert escape_text(text) == escaped


@given(st.text(max_size=300))
def test_no_text_leaves_a_sign_or_a_mention(text):
    escaped = escape_text(text)
    assert "\n" not in escaped
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>|#]", escaped)
    assert not re.search(r"@\w", escaped)


@given(st.text(alphabet="`ab \n", max_size=60))
def test_no_code_ends_its_own_fence_or_span(text):
    block = fence(text)
    opening = block.partition("\n")[0]
    assert all(not line.startswith(opening) for line in block.split("\n")[1:-1])
    span = code_span(text)
    ticks = re.match("`+", span)[0]
    assert not re.search(rf"(?<!`){ticks}(?!`)", span[len(ticks) : -len(ticks)])


def test_findings_come_worst_first_with_their_source():
    text = markdown_of(CPU_WHEEL)
    assert text.startswith("## Diagnosis: 1 broken")
    assert "**broken: torch 2.12.0+cpu is built without CUDA" in text
    assert "`torch.version` 2.12.0+cpu" in text
    assert re.search(r"- source: \[[^\]]+\]\(<https://[^>]+>\)", text)
    assert text.index("**broken") < text.index("**note")


def test_a_message_has_its_command_in_a_block():
    assert "collect_env" in markdown_of("AssertionError: Torch not compiled with CUDA enabled")


def test_hostile_names_stay_names():
    text = markdown_of(CPU_WHEEL.replace("Frobnicator 9000", HOSTILE))
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    drawn = set(re.findall(r"<(\w+)", shown))
    assert drawn <= {"h2", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "a", "ul", "li", "code", "pre"}
    assert all(address.startswith("https://") for address in re.findall(r'href="([^"]+)"', shown))
    assert "evil.example" not in "".join(re.findall(r'href="([^"]+)"', shown))
    assert "@octocat" not in re.sub(r"<code>.*?</code>", "", shown)


def test_several_machines_have_a_heading_each():
    text = markdown_of(f"{CPU_WHEEL}\n{MAC_JSON}")
    assert "### Machine 1: 1 broken" in text
    assert "### Machine 2: nothing in this text could be checked" in text


def test_nothing_recognised_is_said():
    assert "No supported dump" in markdown_of("hello")


def test_a_comment_can_hold_it():
    dumps = [CPU_WHEEL.replace("550.54.15", f"5{number}.54.15") for number in range(10, 74)]
    assert len(markdown_of("\n".join(dumps))) <= MOST_CHARS + 200

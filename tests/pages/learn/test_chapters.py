"""Chapters: what they refer to is there, what they show is what the catalogue says, and a fault names file and line."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html import unescape
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString

from stackviz.pages.learn import checks
from stackviz.pages.learn.chapters import CHAPTERS, read_chapters
from stackviz.pages.learn.drawing import all_drawings
from stackviz.pages.learn.drawings.generations import NVIDIA, NVIDIA_RATES, generations
from stackviz.pages.learn.markup import Drawers, references, render_section
from stackviz.pages.learn.spec_figures import (
    UnreadableFigure,
    draw_figure,
    draw_street_price,
    priced_accelerator,
    read_figure,
)
from stackviz.pages.learn.text_files import TEXTS, read_texts
from stackviz.pages.learn.trying import all_tries
from stackviz.records.catalog.queries import public_catalogue
from stackviz.web.i18n.languages import address_in

ENGLISH = read_chapters("en")
slugs = pytest.mark.parametrize("slug", [chapter.slug for chapter in ENGLISH])

SNIPPET = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

CHAPTER = """\
# Walls {{#walls}}

Of memory.

## One {{#one}}

Text[^a] and {text}

[^a]: [A paper](https://example.org/a), Somebody, 1995
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one chapter, which `write` fills, read by the check in place of ours."""
    for locale in ("en", "zh_Hans"):
        (tmp_path / locale / CHAPTERS).mkdir(parents=True)
    monkeypatch.setattr(checks, "read_chapters", lambda language: read_chapters.__wrapped__(language, tmp_path))
    return tmp_path


def write(folder, text):
    (folder / "en" / CHAPTERS / "1-walls.md").write_text(CHAPTER.format(text=text))


def test_texts_refer_to_what_is_there_and_drawings_are_used_once():
    assert list(checks.list_faults()) == []
    used = set()
    for chapter in ENGLISH:
        drawn = [(each.kind, each.text.split()[0]) for section in chapter.sections for each in references(section)
                 if each.kind in ("figure", "try")]  # fmt: skip
        assert len(drawn) == len(set(drawn)) >= 2, chapter.slug
        used |= set(drawn)
    assert {name for kind, name in used if kind == "figure"} == set(all_drawings())
    assert {name for kind, name in used if kind == "try"} == set(all_tries())


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES if code != "en"])
@slugs
def test_a_translation_has_the_same_references_and_code(language, slug):
    english = next(each for each in ENGLISH if each.slug == slug)
    translated = next(each for each in read_chapters(language) if each.slug == slug)
    for ours, theirs in zip(english.sections, translated.sections, strict=True):
        assert _referred(theirs) == _referred(ours), ours.anchor
        assert SNIPPET.findall(theirs.body) == SNIPPET.findall(ours.body), ours.anchor


def _referred(section):
    return Counter((each.kind, each.text) for each in references(section))


SNIPPETS = [code for chapter in ENGLISH for section in chapter.sections for code in SNIPPET.findall(section.body)]
FRAMEWORKS = ("torch", "tensorflow", "jax", "mlx")


def _packages(code):
    nodes = ast.walk(ast.parse(code))
    return {name.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for name in node.names}


def test_every_snippet_is_python_for_one_framework():
    assert len(SNIPPETS) > 10
    assert all(len(_packages(code) & set(FRAMEWORKS)) == 1 for code in SNIPPETS)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_snippets_run_where_their_framework_is(framework, tmp_path):
    python = os.environ.get("ACCELWEB_TORCH_PYTHON") or sys.executable

    def run(code):
        return subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)

    if run(f"import {framework}").returncode:
        without = f"{framework} is not installed, and ACCELWEB_TORCH_PYTHON names no Python with it"
        pytest.skip(f"snippets of chapters: {without}")
    for code in (code for code in SNIPPETS if framework in _packages(code)):
        done = run(code)
        assert done.returncode == 0, code + done.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a hole[^b]", "no source is called 'b'"),
        ("[a page](/nowhere/)", "no page has the address '/nowhere/'"),
        ("[a chapter](/learn/nowhere/)", "there is no chapter '/learn/nowhere/'"),
        ("[a term](/learn/#nothing)", "'/learn/' has no anchor 'nothing'"),
        ("[itself](/learn/walls/#two)", "'/learn/walls/' has no anchor 'two'"),
        ("[plain](http://example.org/)", "'http://example.org/' is not an https address"),
        ("[script](javascript:alert)", ""),  # markdown-it makes no link of it
        ("{{ nvidia-h100-sxm5-80gb:speed }}", "'nvidia-h100-sxm5-80gb:speed' is not accelerator:field"),
        ("{{ nvidia-t4:memory_gb[scope=moon] }}", "the catalogue has no memory_gb of 'nvidia-t4' under 'scope=moon'"),
        ("{{ nvidia-h999:memory_gb }}", "the catalogue has no memory_gb of 'nvidia-h999'"),
        ("\n\n```figure nothing\nA caption.\n```\n", "no drawing is called 'nothing'"),
        ("\n\n```try nothing\nLook.\n```\n", "there is nothing to try called 'nothing'"),
        ("\n\n```try amdahl cards=2\nLook.\n```\n", "amdahl has no input called 'cards'"),
        ("\n\n```try amdahl cores\nLook.\n```\n", "'try amdahl cores' is not a name and pairs"),
    ],
)
def test_a_fault_names_file_and_line(folder, text, problem):
    write(folder, text)
    faults = list(checks.list_faults())
    line = 7 + (2 if text.startswith("\n") else 0)
    assert [fault.partition(problem)[0] for fault in faults] == ([f"en/1-walls.md:{line}: "] if problem else [])


@pytest.mark.parametrize(
    ("line", "words"),
    [("[^a]: A paper", r"1-walls.md:10: a source is"), ("[^a]: [A](https://example.org/a)", r"1-walls.md:10: .*twice")],
)
def test_a_source_is_named_once_and_with_an_address(folder, line, words):
    write(folder, "no more.")
    path = folder / "en" / CHAPTERS / "1-walls.md"
    path.write_text(path.read_text() + line + "\n")
    (fault,) = checks.list_faults()
    assert re.search(words, fault)


@pytest.mark.django_db
@slugs
def test_a_page_shows_sections_drawings_and_sources(client, curated, slug, django_assert_num_queries):
    chapter = next(each for each in ENGLISH if each.slug == slug)
    client.get(f"/learn/{slug}/")
    with django_assert_num_queries(1):  # the edition of the catalogue
        text = client.get(f"/learn/{slug}/").content.decode()
    assert text.count('<figure class="drawing"') + text.count("try-box") >= 2
    assert all(f'<h2 id="{section.anchor}">' in text for section in chapter.sections)
    assert len(re.findall(r'<li id="source-\d+">', text)) == len(chapter.sources)
    cited = set(re.findall(r'href="#source-(\d+)"', text))
    assert cited == {str(source.number) for source in chapter.sources.values()}
    assert "{{" not in text
    assert 'class="miss"' not in text


@pytest.mark.django_db
@slugs
def test_every_link_within_the_site_answers_and_has_its_anchor(client, curated, slug):
    page = client.get(f"/learn/{slug}/").content.decode()
    links = set(re.findall(r'<a href="(/[^"]*)"', page.partition('<article class="chapter">')[2]))
    assert len(links) >= 3
    for link in sorted(links):
        address = urlsplit(link.replace("&amp;", "&"))
        answer = client.get(address.path + (f"?{address.query}" if address.query else ""))
        assert answer.status_code == 200, link
        if address.fragment:
            assert f'id="{address.fragment}"' in answer.content.decode(), link


@pytest.mark.django_db
def test_figures_and_prices_are_those_of_the_catalogue(curated):
    catalogue = public_catalogue()
    assert ">3,350 GB/s</a>" in draw_figure("nvidia-h100-sxm5-80gb:memory_bandwidth_gb_s", catalogue)
    ratio = "nvidia-h100-sxm5-80gb:memory_bandwidth_gb_s / nvidia-a100-sxm4-80gb:memory_bandwidth_gb_s"
    assert ">1.64</a>" in draw_figure(ratio, catalogue)  # 3,350 / 2,039
    ridge = "nvidia-h100-sxm5-80gb:bf16_tensor_tflops / nvidia-h100-sxm5-80gb:memory_bandwidth_gb_s"
    assert ">295 FLOP/B</a>" in draw_figure(ridge, catalogue)  # 989.4e12 / 3.35e12
    assert ">99 USD</a>" in draw_figure("nvidia-jetson-nano:launch_price_usd[price=kit]", catalogue)
    assert 'class="miss"' in draw_figure("nvidia-h100-sxm5-80gb:launch_price_usd", catalogue)
    assert 'class="miss"' in draw_figure("apple-m1-8:fp8_tensor_tflops", catalogue)
    with pytest.raises(UnreadableFigure):
        read_figure("a:memory_gb / b:memory_gb / c:memory_gb")
    price = draw_street_price("nvidia-h100-sxm5-80gb", catalogue)
    assert ">30,000 USD, undated</a>" in price
    assert 'href="/accelerators/nvidia-h100-sxm5-80gb/#prices"' in price
    assert 'class="miss"' in draw_street_price("apple-m1-8", catalogue)
    assert priced_accelerator("nvidia-h20:street_price") == "nvidia-h20"
    assert priced_accelerator("nvidia-h20:memory_gb") == ""


@pytest.mark.django_db
def test_growth_is_relative_to_the_first_generation(curated):
    found = generations(public_catalogue(), NVIDIA, NVIDIA_RATES)
    assert [each.slug for each in found] == list(NVIDIA)
    assert [each.field for each in found] == ["fp16_tflops", *["fp16_tensor_tflops"] * 4]
    factors = [round(each.rate / found[0].rate, 1) for each in found]
    assert factors[:4] == [1, 5.9, 14.7, 46.7]  # 125, 312, 989.4 over 21.2
    assert all(after.speed > before.speed for before, after in pairwise(found))
    assert all(after.ridge > before.ridge for before, after in pairwise(found[:4]))


def _head(page):
    """name -> content of the page's `<meta>`, and the canonical address."""
    tags = dict(re.findall(r'<meta (?:property|name)="([\w:]+)" content="(.*?)">', page))
    return {name: unescape(text) for name, text in tags.items()}, re.findall(
        r'<link rel="canonical" href="(.*?)">', page
    )


@pytest.mark.django_db
@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_a_chapter_introduces_itself_by_title_and_lead(client, curated, language):
    for chapter in read_chapters(language):
        address = address_in(language, f"/learn/{chapter.slug}/")
        page = client.get(address).content.decode()
        tags, canonical = _head(page)
        assert (tags["og:title"], tags["og:description"]) == (chapter.title, chapter.lead)
        assert canonical == [f"http://testserver{address}"]


@pytest.mark.django_db
def test_a_calculation_introduces_itself_by_its_answer(client, curated):
    tags, canonical = _head(client.get("/learn/try/amdahl/?cores=20&parallel=95.0&utm=x").content.decode())
    assert tags["og:title"] == "Amdahl's law"
    assert "if some of the work cannot be divided? 20 cores make it 10× as fast" in tags["og:description"]
    assert canonical == ["http://testserver/learn/try/amdahl/?cores=20"]  # 95 % is the default
    assert _head(client.get("/learn/").content.decode())[0]["og:title"] == "Learn"


@pytest.mark.django_db
def test_html_in_a_text_is_text(client, curated, folder, monkeypatch):
    write(folder, "<script>alert(1)</script> & `<b>`")
    monkeypatch.setattr("stackviz.pages.learn.chapter_page.read_chapters", checks.read_chapters)
    page = client.get("/learn/walls/").content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; <code>&lt;b&gt;</code>" in page


def test_a_long_name_breaks_after_its_marks(folder):
    write(folder, "`torch.set_x(a=1)` and `&.x`")
    (chapter,) = checks.read_chapters("en")
    drawers = Drawers(value=SafeString, source=SafeString, figure=format_html, attempt=format_html)
    html = render_section(chapter.sections[0], drawers)
    assert "<code>torch.<wbr>set_<wbr>x(<wbr>a=<wbr>1)</code> and <code>&amp;.<wbr>x</code>" in html


@pytest.mark.django_db
def test_what_is_not_translated_is_english_and_says_so(client, curated, folder, monkeypatch):
    write(folder, "no more.\n\n## Two {#two}\n\nMore.")
    monkeypatch.setattr("stackviz.pages.learn.chapter_page.read_chapters", checks.read_chapters)
    (english,) = read_texts(CHAPTERS, "en", folder)
    (folder / "zh_Hans" / CHAPTERS / "1-walls.md").write_text(
        f"# 墙 {{#walls of={english.fingerprint}}}\n\n内存。\n\n"
        f"## 一 {{#one of={english.sections[0].fingerprint}}}\n\n文字[^a]。\n"
    )
    page = client.get(address_in("zh-hans", "/learn/walls/")).content.decode()
    assert "文字<sup>" in page
    assert page.count('lang="en"') >= 1
    assert "A paper" in page


@pytest.mark.django_db
@slugs
def test_an_empty_catalogue_breaks_no_chapter(client, slug):
    assert client.get(f"/learn/{slug}/").status_code == 200


def test_files_are_named_for_their_place_and_their_address():
    numbers = list(range(1, len(ENGLISH) + 1))
    for language, _name in settings.LANGUAGES:
        assert [chapter.number for chapter in read_chapters(language)] == numbers
    names = [path.name for path in sorted((TEXTS / "en" / CHAPTERS).glob("*.md"))]
    assert [int(name.partition("-")[0]) for name in names] == numbers


def test_minutes_count_prose_after_code_and_no_sources():
    sections = [replace(ENGLISH[0].sections[0], body=body) for body in (
        "```python\nimport torch\n```\n" + "word " * 220, "```figure f\nx\n```\n" + "word " * 220 + "\n\n[^a]: " + "source " * 220,
    )]  # fmt: skip
    assert replace(ENGLISH[0], lead="", sections=sections).minutes == 2

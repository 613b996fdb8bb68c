"""Simplified Chinese: every text of the interface is there, says the same with the same figures, and is what Django reads."""

import gettext
import io
import re
from collections import Counter
from html import unescape

import pytest
from django.utils import translation

from stackviz.records.catalog.models import Accelerator, Source, SpecValue, Vendor
from tests.languages import chinese
from tests.live import ROOT
from tests.pages.machines.factories import START, gemm, h100, make_lab, make_machine, make_report
from tools.translations import is_translated, po_files, read_catalog

PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%%|%s|\{\w+\}|</?\w+[^>]*>")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
# Names, and frames with nothing but a name in them.
SAME_EVERYWHERE = {
    "English", "%s", "%s CPU", "Mac", "fp64", "fp32", "GPU", "CPU", "SM", "L2", "Infinity Cache", "Python", "PyTorch", "gzip", "kernel",
    "API", "MLPerf", "webhook", "Webhook", "%(above)s ÷ %(below)s", "%(low)s–%(high)s %%", "PCIe %(n)s",
}  # fmt: skip

files = pytest.mark.parametrize("path", po_files(ROOT), ids=lambda path: path.parts[-3])


def forms_of(message):
    """Its translations: one, or one per plural form; empty ones left out."""
    forms = message.string if isinstance(message.string, tuple | list) else [message.string]
    return [form for form in forms if form]


def translations_of(path):
    """(English text, translation) pairs; of a plural, each form beside the English plural."""
    return [
        (message.id[1] if message.pluralizable else message.id, form)
        for message in read_catalog(path)
        if message.id
        for form in forms_of(message)
    ]


# --- the files ---


def test_each_language_but_english_has_its_file(settings):
    written = {translation.to_locale(code) for code, _name in settings.LANGUAGES} - {"en"}
    assert {path.parts[-3] for path in po_files(ROOT)} == written == {"zh_Hans"}


@files
def test_translation_files_are_well_formed(path):
    catalog = read_catalog(path)  # raises on a line it does not understand
    assert len(translations_of(path)) > 800
    assert [message.id for message in catalog if message.id and message.fuzzy] == []


@files
def test_only_names_are_left_in_english(path):
    assert {text for text, form in translations_of(path) if form == text} <= SAME_EVERYWHERE


@files
def test_a_translation_keeps_placeholders_and_markup(path):
    """Templates print translated texts as they are: a character HTML knows is in both texts or in neither."""
    both = translations_of(path)
    assert [pair for pair in both if len({tuple(sorted(PLACEHOLDER.findall(text))) for text in pair}) > 1] == []
    assert [pair for pair in both if len({tuple(map(text.count, '<>&"')) for text in pair}) > 1] == []
    assert [text for text, form in both if form != form.strip()] == []


@files
def test_what_django_reads_is_what_the_file_says(path):
    """Read with Python's own gettext, as Django does."""
    read = gettext.GNUTranslations(io.BytesIO(path.with_suffix(".mo").read_bytes()))
    for message in read_catalog(path):
        if not message.id or not is_translated(message):
            continue
        if message.pluralizable:
            assert {read.ngettext(*message.id, 1), read.ngettext(*message.id, 7)} == {message.string[0]}
        elif message.context is not None:
            assert read.pgettext(message.context, message.id) == message.string
        else:
            assert read.gettext(message.id) == message.string


# --- the pages ---


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/", "能跑什么、跑多快"),
        ("/accelerators/", "0 款加速器"),
        ("/stacks/", "还没有软件栈说明"),
        ("/machines/", "还没有机器上报"),
        ("/machines/add/", "在机器上运行采集程序"),
        ("/learn/", "稠密与稀疏"),
        ("/compare/", "并排比较两到 6 个加速器"),
        ("/no/such/page/", "此页面不存在。"),
    ],
)
def test_a_page_below_the_prefix_is_chinese(client, db, address, words):
    text = client.get(chinese(address)).content.decode()
    assert '<html lang="zh-hans">' in text
    assert words in text


def main_text(client, address):
    response = client.get(address)
    assert response.status_code == 200
    main = re.search(r"<main.*</main>", response.content.decode(), re.DOTALL)[0]
    shortened_ids = re.compile(
        r">[0-9a-f]+(…|\.\.\.)<"
    )  # Django cuts a text with three dots in Chinese, with one sign in English
    return unescape(re.sub(r"<[^>]+>", " ", shortened_ids.sub("><", main)))  # an apostrophe is no number


def figures(text):
    return Counter(re.findall(r"\d[\d,.]*\d|\d", text))


@pytest.fixture
def sheet(db):
    card = Accelerator.objects.create(
        slug="acme-one", name="Acme One", vendor=Vendor.objects.create(slug="acme", name="Acme"), kind="gpu"
    )
    source = Source.objects.create(key="acme", title="Acme data sheet", url="https://acme.example/one", kind="maker")
    for field, value, unit, condition in [
        ("memory_bandwidth_gb_s", "3350", "GB/s", ""),
        ("bf16_tensor_tflops", "989.4", "TFLOPS", "sparsity=dense"),
        ("bf16_tensor_tflops", "1978.9", "TFLOPS", "sparsity=sparse"),
        ("tdp_w", "700", "W", ""),
    ]:
        SpecValue.objects.create(
            accelerator=card, field=field, value=value, unit=unit, condition=condition, source=source,
            status="public", is_preferred=True,
        )  # fmt: skip
    return card


def test_figures_look_the_same_in_both_languages(client, sheet):
    # The address of a version is that of the full second after the last change, which must be over on both pages.
    sheet.history.update(history_date=START)
    SpecValue.history.update(history_date=START)
    machine = make_machine(make_lab(), "dgx-07")
    make_report(machine, cards=[h100(0, sheet), h100(1, sheet)], results=[gemm("bf16", [0.00141] * 8)])
    for address in ("/accelerators/", sheet.get_absolute_url(), machine.get_absolute_url(), "/machines/"):
        translated, english = main_text(client, chinese(address)), main_text(client, address)
        assert figures(translated) == figures(english) != Counter()
        assert CHINESE.search(translated)
        assert not CHINESE.search(english), "a page kept for one language was given to a reader of the other"


def test_words_of_pages_are_translated_and_units_are_not(client, sheet):
    text = main_text(client, chinese(sheet.get_absolute_url()))
    assert re.search(r"bf16 张量.*989\.4 TFLOPS\s+稠密\s", text, re.DOTALL)
    assert "3,350 GB/s" in text
    assert "显存带宽" in text
    machine = make_machine(make_lab(), "dgx-07")
    make_report(machine, cards=[h100(0, sheet)])
    text = main_text(client, chinese(machine.get_absolute_url()))
    assert re.search(r"内存\s+1\.968 TiB", text)
    assert "显存" in text


def test_a_plural_is_chosen_by_a_number():
    """Of a part, the first value decides: a name there is an error in every language but English."""
    with_plural = re.compile(r"\{% trans (\w+)=[^%]*%\}(?:(?!\{% endtrans).)*\{% pluralize(?: (\w+))?", re.DOTALL)
    chosen = [
        (path.name, counted or first)
        for path in sorted((ROOT / "templates").rglob("*.jinja"))
        for first, counted in with_plural.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(chosen) > 20
    assert {name for _path, name in chosen} <= {"n", "count", "rows"}, chosen

"""Findings, advice and causes in Chinese: whole, with their commands and with what a machine reported as it was."""

import re
from collections import Counter
from html import escape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from stackviz.report.messages import SYMPTOMS
from stackviz.report.rules import RULES, judge, packaged_tables
from stackviz.web.finding_text import advice_of, finding_text, finding_words, translate_finding
from stackviz.web.languages import address_in
from stackviz.web.phrasebook import MOST_CHARS, MOST_STEPS, MOST_TRIES, Phrasebook
from tests.finding_texts import entries, unknown_texts
from tests.languages import chinese
from tests.pages.machines.factories import make_lab, make_machine, make_report
from tests.report.dumps.threads import OWN_TEXTS
from tests.responses import words_of
from tools.finding_texts import texts_of_code

PLACE = re.compile(r"\{\w+\}")
NUMBER = re.compile(r"\d[\d,.]*\d|\d")
ENGLISH = "torch {} needs macOS 14 to use the GPU; this Mac has 13"
CHINESE = "torch {} 需要 macOS 14 才能使用 GPU；这台 Mac 是 13"
LOST = "LD_LIBRARY_PATH puts another cuDNN before torch's own: {}"


@pytest.fixture
def in_chinese():
    with translation.override("zh-hans"):
        yield


# --- the entries ---


def test_translations_keep_places_figures_and_signs():
    """No place or number is lost, and nothing that HTML or a template would read is added."""
    for english, text in entries().items():
        assert Counter(PLACE.findall(text)) == Counter(PLACE.findall(english)), english
        assert not Counter(NUMBER.findall(english)) - Counter(NUMBER.findall(text)), english
        assert [sign for sign in '<>&"%{}' if text.count(sign) != english.count(sign)] == [], english
        assert text == text.strip(), english


def test_what_a_text_is_made_of_is_read_from_the_code():
    code = '''
"""A docstring is no text of a page."""
WORDS = ("driver not loaded", "no devices were found")
DOWNLOADS = "https://www.nvidia.com/drivers"
REBOOT = "reboot, which ends every program"
PATTERN = re.compile(r"not a text: (?P<name>.+)")

@RULES.rule("id", "pytorch", asks="torch sees the card", source=RuleSource("key", "A title of a source", "https://x"))
def check(look):
    """Nor this."""
    if look.get("os.name") == "no text of a page":
        return f"{count} card{'s' if count > 1 else ''} of {len(cards)}, see {DOWNLOADS}"
    title = "Cards run on " + str(width) + f" of {most:g} lanes, {torch} and {torch}"
    return Conclusion(title=title, advice="pip install torch", component="not a text")
'''
    assert list(texts_of_code(code)) == [
        "reboot, which ends every program",
        "torch sees the card",
        "{count} cards of {n_cards}, see https://www.nvidia.com/drivers",
        "{count} card of {n_cards}, see https://www.nvidia.com/drivers",
        "Cards run on {str} of {n_most} lanes, {torch} and {torch_2}",
    ]


@pytest.mark.parametrize("path", sorted(OWN_TEXTS.glob("*.txt")), ids=lambda path: path.stem)
def test_findings_of_pasted_texts_are_recognised(path):
    reports = [machine.report() for machine in machines(read_all(path.read_text()))]
    findings = [finding for report in reports for finding in judge(report, packaged_tables())]
    assert [text for finding in findings for text in unknown_texts(finding)] == []


def test_causes_and_questions_are_in_chinese(in_chinese):
    texts = [text for symptom in SYMPTOMS for text in (symptom.meaning, *_texts_of(symptom))]
    texts += [rule.asks for rule in RULES]
    untranslated = [text for text in texts if text in entries() and translate_finding(text) == text]
    assert len(texts) > 600
    assert [text for text in untranslated if advice_of(text).blocks[0].parts and not _is_code(text)] == []


def _texts_of(symptom):
    return [text for cause in symptom.causes for text in (cause.text, cause.sign, cause.remedy) if text]


def _is_code(text):
    return re.fullmatch(r"[\w./ =*'-]+", text) is not None


# --- what a machine reported ---


@pytest.mark.parametrize(
    "value",
    [
        "<script>alert(1)</script>",
        "x" * 5_000,
        "2.1\n2.2",
        "{low}",
        "%(n)s %s",
        "reboot",
        "; then reboot, which ends every program",
        "Ünïcødé ⟨x⟩",
        '" onmouseover="alert(1)',
    ],
)
def test_what_a_machine_reported_comes_through_as_it_is(in_chinese, value):
    translated = translate_finding(ENGLISH.format(value))
    assert translated == CHINESE.format(value)
    assert finding_text(ENGLISH.format(value)) == escape(translated)


def test_a_value_that_is_a_sentence_is_translated_in_turn(in_chinese):
    text = "Cannot tell whether torch sees the card: card 3 throttle_reasons not reported"
    assert translate_finding(text) == "无法判断是否成立：torch 看得到该卡（未上报卡 3 throttle_reasons）"


def test_sentences_that_are_joined_are_translated_one_by_one(in_chinese):
    text = "Driver 580 is new enough for it. The machine slept. It worked before."
    assert translate_finding(text) is None  # one of them is nobody's
    assert (
        translate_finding(text.replace("The machine slept", "End them"))
        == "驱动 580 对它够新。结束它们。之前是正常的。"
    )


def test_a_place_for_a_number_holds_nothing_else():
    book = Phrasebook({"{n_count} cards no longer answer": "{n_count} 张卡不再响应"})
    assert book.translate("3 cards no longer answer") == "3 张卡不再响应"
    assert book.translate("the last cards no longer answer") is None


def test_what_has_no_translation_is_english_and_marked(in_chinese):
    assert translate_finding("A sentence of <nobody>.") is None
    assert finding_words("A sentence of <nobody>.") == "A sentence of <nobody>."
    assert finding_text("A sentence of <nobody>.") == '<span lang="en">A sentence of &lt;nobody&gt;.</span>'
    assert advice_of("A sentence of nobody.").lang == "en"
    with translation.override("en"):
        assert finding_text("A sentence of <nobody>.") == "A sentence of &lt;nobody&gt;."
        assert advice_of("A sentence of nobody.").lang == ""


def test_commands_of_an_advice_stay_commands(in_chinese):
    advice = advice_of("Compare with: sw_vers -productVersion")
    assert [(block.typed, [part.text for part in block.parts]) for block in advice.blocks] == [
        ("", ["对照："]),
        ("sw_vers -productVersion", []),
    ]
    assert advice_of("nvidia-smi").lang == ""
    assert advice_of("").blocks == ()


class CountingBook(Phrasebook):
    looked_up = 0

    def patterns_in(self, text):
        self.looked_up += 1
        return super().patterns_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "End them. " * 500,
        "torch needs macOS, " * 300,
        LOST.format("; torch 1 needs macOS 2; this Mac has 3: " * 100),
        "Cannot tell whether " * 250,
        ". then reboot (card " * 250,
    ],
)
def test_a_hostile_text_costs_a_bounded_number_of_look_ups(text):
    book = CountingBook(entries())
    book.translate(text[:MOST_CHARS])
    assert book.looked_up <= MOST_TRIES + 1
    assert book.translate(text[:MOST_CHARS] + "x" * MOST_CHARS) is None


def nested(text, times):
    """Sentences in sentences: each of them has two readings of what stands within."""
    for _ in range(times):
        text = (
            f"Cannot tell whether {text}: torch {text[:40]} is built for another build of torch: this is torch {text}"
        )
    return text[:4_000]


def test_readings_of_readings_are_bounded():
    book = Phrasebook(entries())
    _translated, steps = book.translate_counted(nested("torch x y needs macOS 14, this Mac has 13 instances", 6))
    assert steps == MOST_STEPS


def test_a_machine_that_states_hostile_texts_costs_no_more_than_a_page_may(client, db, monkeypatch):
    spent = []
    count = Phrasebook.translate_counted

    def counting(book, text):
        translated, steps = count(book, text)
        spent.append(steps)
        return translated, steps

    monkeypatch.setattr(Phrasebook, "translate_counted", counting)
    monkeypatch.setattr("stackviz.web.finding_text.MOST_STEPS_A_REQUEST", 2 * MOST_STEPS)
    absent = {
        f"test.fact_{number}": {"reason": "failed", "detail": nested(f"torch {number} needs macOS 14 x y", 6)}
        for number in range(40)
    }
    make_report(make_machine(make_lab()), facts={}, absent=absent, software=[])
    page = client.get("/zh-hans/machines/north/dgx-07/")
    assert page.status_code == 200
    assert 2 * MOST_STEPS <= sum(spent) <= 3 * MOST_STEPS
    assert '<span lang="en">Cannot tell whether' in page.content.decode()
    detail = absent["test.fact_39"]["detail"]
    with translation.override("zh-hans"):
        assert translate_finding(detail)  # not remembered as a text without a translation


# --- pages ---


def test_a_page_of_findings_is_chinese_for_as_many_queries(client, curated, db):
    text = (OWN_TEXTS / "driver_below_cuda.txt").read_text()
    counts = {}
    for language in ("en", "zh-hans", "en", "zh-hans"):
        with CaptureQueriesContext(connection) as counted:
            response = client.post(address_in(language, "/diagnose/"), {"text": text})
        counts[language] = len(counted)
        said = words_of(response)
    assert counts["en"] == counts["zh-hans"]
    assert "这台机器是" in said
    assert "升级 NVIDIA 驱动" in said
    assert "this machine has" not in said


def test_a_cause_is_chinese_and_its_message_is_not(client, curated, db):
    response = client.get(chinese("/causes/no-nvidia-driver/"))
    page = response.content.decode()
    assert "Found no NVIDIA driver on your system" in page
    assert "容器启动时没有带 GPU。" in page
    assert "nvidia-smi 能访问驱动" in page
    assert "whether" not in words_of(response)


def test_a_sentence_is_read_as_its_own_entry_before_a_shorter_one_with_its_full_stop():
    book = Phrasebook({"{a} no longer supports {b}": "{a} 已不再支持 {b}", "{a} supports {b}.": "{a} 支持 {b}。"})
    assert book.translate("cuDNN 9 no longer supports V100.") == "cuDNN 9 已不再支持 V100。"

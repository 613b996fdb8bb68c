"""Findings, advice and causes in Chinese: whole, with their commands and with what a machine reported as it was."""

import re
from collections import Counter
from html import escape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from stackviz.base.sentence import join_sentences, say
from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from stackviz.report.messages import SYMPTOMS
from stackviz.report.rules import RULES, judge, packaged_tables
from stackviz.web.i18n.finding_text import advice_of, finding_text, finding_words, translate_finding
from stackviz.web.i18n.languages import address_in
from tests.languages import chinese
from tests.report.dumps.threads import OWN_TEXTS
from tests.report.rules.chinese import entries, untranslated
from tests.responses import words_of

PLACE = re.compile(r"\{\w+\}")
NUMBER = re.compile(r"\d[\d,.]*\d|\d")
LOST = "LD_LIBRARY_PATH puts another cuDNN before torch's own: {hidden}"


@pytest.fixture
def in_chinese():
    with translation.override("zh-hans"):
        yield


def test_translations_keep_places_figures_and_signs():
    """No place or number is lost, and nothing that HTML or a template would read is added."""
    for english, text in entries().items():
        assert Counter(PLACE.findall(text)) == Counter(PLACE.findall(english)), english
        assert not Counter(NUMBER.findall(english)) - Counter(NUMBER.findall(text)), english
        assert [sign for sign in '<>&"%{}' if text.count(sign) != english.count(sign)] == [], english
        assert text == text.strip(), english


@pytest.mark.parametrize("path", sorted(OWN_TEXTS.glob("*.txt")), ids=lambda path: path.stem)
def test_findings_of_pasted_texts_are_in_chinese(path):
    reports = [machine.report() for machine in machines(read_all(path.read_text()))]
    findings = [finding for report in reports for finding in judge(report, packaged_tables())]
    assert [text for finding in findings for text in untranslated(finding)] == []


def test_causes_and_questions_are_in_chinese(in_chinese):
    texts = [text for symptom in SYMPTOMS for text in (symptom.meaning, *_texts_of(symptom))]
    texts += [rule.asks for rule in RULES]
    unchanged = [text for text in texts if (translate_finding(text) or text) == text]
    assert len(texts) > 600
    assert [text for text in unchanged if advice_of(text).blocks[0].parts and not _is_code(text)] == []


def _texts_of(symptom):
    return [text for cause in symptom.causes for text in (cause.text, cause.sign, cause.remedy) if text]


def _is_code(text):
    return re.fullmatch(r"[\w./ =*'()-]+", text) is not None


OF_AGENTS = "reboot, which ends every program and every login on this machine"
MARKUP = ["<script>alert(1)</script>", '" onmouseover="alert(1)', "{hidden}", "%(n)s %s {0}"]


@pytest.mark.parametrize("value", [*MARKUP, "x" * 6_000, "2.1\n2.2", "NUL \0 and more", OF_AGENTS])
def test_a_reported_value_is_put_in_once(in_chinese, value):
    sentence = say(LOST, value)
    translated = translate_finding(sentence)
    assert translated.startswith("LD_LIBRARY_PATH")
    assert translated.count(value) == 1
    assert translated != sentence
    assert finding_text(sentence) == escape(translated)


def test_nested_and_joined_sentences_are_chinese_as_a_whole(in_chinese):
    name = say("card {n_index} {fact}", 3, "throttle_reasons")
    text = say("Cannot tell whether {asks}: {name} not reported", say("torch sees the card"), name)
    assert translate_finding(text) == "无法判断是否成立：torch 看得到该卡（未上报卡 3 throttle_reasons）"
    driver = say("Driver {driver} is new enough for it.", "580")
    joined = join_sentences([driver, "nvidia-smi", say("End them.")])
    assert translate_finding(joined) == "驱动 580 对它够新。nvidia-smi 结束它们。"
    assert translate_finding(join_sentences([driver, say("The machine {slept}.", "slept")])) is None


def test_what_has_no_translation_is_marked_as_english(in_chinese):
    for text in ("A sentence of <nobody>.", say("A sentence of {whom}.", "<nobody>")):
        assert translate_finding(text) is None
        assert finding_words(text) == text
        assert finding_text(text) == '<span lang="en">A sentence of &lt;nobody&gt;.</span>'
        assert advice_of(text).lang == "en"
        with translation.override("en"):
            assert finding_text(text) == "A sentence of &lt;nobody&gt;."
            assert advice_of(text).lang == ""


def test_a_text_and_a_sentence_that_read_alike_are_told_apart(in_chinese):
    """Whatever remembers translations: two equal texts may have a key, another or none."""
    sentence = say("Driver {driver} is new enough for it.", "580")
    translated = [translate_finding(text) for text in (str(sentence), sentence, str(sentence))]
    assert translated == [None, "驱动 580 对它够新。", None]


def test_commands_of_an_advice_stay_commands(in_chinese):
    advice = advice_of(say("Compare with: sw_vers -productVersion"))
    assert [(block.typed, [part.text for part in block.parts]) for block in advice.blocks] == [
        ("", ["对照："]),
        ("sw_vers -productVersion", []),
    ]
    assert advice_of("nvidia-smi").lang == ""
    assert advice_of("").blocks == ()


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("CUDA_VISIBLE_DEVICES is not set", "未设置 CUDA_VISIBLE_DEVICES"),
        ("part of torch", "torch 的一部分"),
        ("{name} is not set", "未设置 {name}"),
        (" is not set", None),
        ("x" * 5_000 + " is not set", None),
    ],
)
def test_texts_of_agents_are_recognised_by_their_ends(in_chinese, text, translated):
    assert translate_finding(text) == translated


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

"""`/causes/`: a page for each message; what it says is in the table of messages and in the compatibility tables."""

import json
import re

import pytest
from django.urls import reverse

from stackviz.pages.diagnose.causes import VERSIONS, message_questions, version_tables
from stackviz.report.messages import BY_KEY, SYMPTOMS
from stackviz.report.rules import packaged_tables
from tests.languages import chinese
from tests.pages.diagnose.conftest import CPU_WHEEL
from tests.responses import words_of

pytestmark = pytest.mark.django_db
DATA = re.compile(r'<script type="application/ld\+json">(.*?)</script>')


@pytest.fixture
def show(client, curated):
    return lambda key: client.get(f"/causes/{key}/")


def test_the_list_leads_to_every_message(client, curated):
    page = client.get("/causes/").content.decode()
    assert all(f'href="{reverse("diagnose:cause", args=[symptom.key])}"' in page for symptom in SYMPTOMS)
    layers = client.get("/causes/").context["layers"]
    titles = [layer.title for layer in layers]
    assert titles[0] == "Hardware"
    assert titles.index("Driver") < titles.index("Framework")
    assert sum(layer.count for layer in layers) == len(SYMPTOMS)


def test_messages_that_differ_by_a_code_are_one_entry(client, curated):
    families = [family for layer in client.get("/causes/").context["layers"] for family in layer.families]
    [xids] = [family for family in families if "Xid" in family.start]
    assert any("79" in codes.split(", ") for codes, _symptom in xids.rows)
    assert len({symptom.key for _codes, symptom in xids.rows}) == len(xids.rows)


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=lambda symptom: symptom.key)
def test_a_page_says_what_its_row_says(show, symptom):
    response = show(symptom.key)
    assert response.status_code == 200
    said = words_of(response)
    for text in (symptom.message, symptom.meaning, symptom.ask, symptom.source_title):
        assert " ".join(text.split()) in said
    places = [said.index(" ".join(cause.text.split())) for cause in symptom.causes]
    assert places == sorted(places)
    for cause in symptom.causes:
        assert cause.sign[-1:] in (*".!?)", ""), "the remedy behind it begins a sentence"
        assert all(word in said for word in f"{cause.sign} {cause.remedy}".split())


def test_the_page_describes_itself_as_questions_with_answers(show):
    [data] = DATA.findall(show("driver-too-old").content.decode())
    document = json.loads(data)
    assert document["@type"] == "FAQPage"
    questions = document["mainEntity"]
    assert [question["name"] for question in questions] == [
        name for name, _ in message_questions(BY_KEY["driver-too-old"])
    ]
    assert all(question["acceptedAnswer"]["text"] for question in questions)
    assert "11040 is CUDA 11.4" in questions[0]["acceptedAnswer"]["text"]


def test_commands_that_differ_in_powershell_are_shown_in_both(show):
    page = words_of(show("cuda-100"))
    assert "unset CUDA_VISIBLE_DEVICES" in page
    assert "Remove-Item Env:CUDA_VISIBLE_DEVICES" in page
    assert "PowerShell" not in words_of(show("driver-too-old"))


def test_a_page_is_titled_by_its_message_and_leads_on(client, show):
    response = show("no-kernel-image")
    page, address = response.content.decode(), response.context["diagnose_url"]
    assert "<title>CUDA error: no kernel image is available for execution on the device · accelweb</title>" in page
    assert '<meta property="og:title" content="CUDA error: no kernel image' in page
    assert '<link rel="canonical" href="http://testserver/causes/no-kernel-image/">' in page
    assert page.count("<h1") == 1
    assert f'href="{address.replace("&", "&amp;")}"' in page
    assert BY_KEY["no-kernel-image"].message in client.get(address.partition("#")[0]).context["text"]
    to_plan = 'class="chip" href="/plan/"'  # another build may mend it
    assert to_plan in page
    assert to_plan not in show("nvml-version-mismatch").content.decode()
    assert 'href="/causes/"' in client.get("/diagnose/").content.decode()
    assert [show(unknown).status_code for unknown in ("no-such-message", "%3Cscript%3E")] == [404, 404]


def test_versions_come_from_the_tables(show):
    said = words_of(show("driver-too-old"))
    [row] = [
        row for row in packaged_tables().rows("cuda-runtime", "needs", "nvidia-driver", platform="linux")
        if row.version == "13"
    ]  # fmt: skip
    assert f"13 linux ≥ {row.low}" in said
    assert "2.4.0 to 2.5.1 11.8 12.1 12.4" in said
    assert "Versions concerned" not in words_of(show("externally-managed"))
    assert VERSIONS.keys() <= BY_KEY.keys()
    for key, asked in VERSIONS.items():
        assert len(version_tables(key, packaged_tables())) == len(asked), key


def test_a_page_takes_three_queries(show, client, django_assert_max_num_queries):
    show("no-kernel-image")
    client.get("/causes/")
    with django_assert_max_num_queries(3):
        show("no-kernel-image")
    with django_assert_max_num_queries(1):
        client.get("/causes/")


def test_the_chinese_page_marks_its_message_as_english(client, curated):
    response = client.get(chinese("/causes/cuda-999/"))
    page = response.content.decode()
    assert "如何判断" in page
    assert '<h1 class="message" lang="en">' in page
    assert '<ol class="cause-reasons">' in page
    assert "机器休眠过，模块 nvidia_uvm 保留了失效的状态。" in page


def test_every_message_is_in_the_sitemap(client, curated):
    found = set(re.findall(r"<loc>http://testserver(.*?)</loc>", client.get("/sitemap-messages.xml").content.decode()))
    english = {reverse("diagnose:cause", args=[symptom.key]) for symptom in SYMPTOMS}
    assert found == english | {chinese(address) for address in english}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("RuntimeError: CUDA error: device-side assert triggered", "device-side-assert"),
        (CPU_WHEEL, "torch-without-cuda"),
        ("Failed to initialize NVML: Driver/library version mismatch", "nvml-version-mismatch"),
    ],
    ids=["message", "rule", "nvml"],
)
def test_a_finding_leads_to_the_page_of_its_message(client, curated, text, key):
    assert f'href="/causes/{key}/"' in client.post("/diagnose/", {"text": text}).content.decode()


def test_an_error_of_a_log_leads_to_what_follows_from_it(show):
    related = show("xid-off-bus").context["related"]
    assert [symptom.key for symptom in related[:2]] == ["xid-45", "xid-154"]
    kind = [symptom for symptom in related if symptom.causes == BY_KEY["xid-off-bus"].causes]
    assert related[2 : 2 + len(kind)] == kind != []

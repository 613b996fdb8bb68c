"""A text that takes too much work: a partial answer that says so, on the page and by the API, and a client that waits."""

import pytest

from stackviz.intake.report_parts import pasted
from stackviz.intake.report_parts.pasted import Refused, mask_pasted, read_pasted, work_cost
from stackviz.pages.diagnose.diagnosis import diagnose
from stackviz.report.importers import BY_KIND
from stackviz.report.importers.deadline import NEVER, Deadline
from stackviz.web.http import rate_limit
from tests.report.importers import nvidia_dumps as dumps

URL = "/api/v1/diagnose/"
TEXT = f"{dumps.TABLE}\n{dumps.NVCC}"


@pytest.fixture
def in_part(monkeypatch):
    """Reading stops before the second dump."""
    real = pasted.read_all

    def stopped(text, deadline):
        whole = real(text, NEVER)
        assert isinstance(deadline, Deadline)
        kept = tuple(reading for reading in whole.readings if reading.kind == "nvidia-smi-table")
        return type(whole)(kept, (), ("nvcc-version", "error-message"))

    monkeypatch.setattr(pasted, "read_all", stopped)


def api(client, text, **headers):
    return client.post(URL, text, content_type="text/plain", headers=headers)


def test_page_and_api_say_what_was_left_out(in_part, client, db):
    said = api(client, TEXT).json()
    assert said["kinds"] == ["nvidia-smi-table"]
    assert said["left_out"] == ["nvcc-version", "error-message"]
    assert said["problems"][0] == (
        "Reading was stopped after 1.5 s of work: the output of tools never takes so long. Read: nvidia-smi. Not looked "
        "for or not read: nvcc --version, an error message. Paste only what one or two commands printed."
    )
    markdown = api(client, TEXT, Accept="text/markdown").content.decode()
    assert "Reading was stopped after 1.5 s of work" in markdown
    page = client.post("/diagnose/", {"text": TEXT}).content.decode()
    assert "Not looked for or not read: nvcc --version" in page
    assert "Everything in the text was understood" not in page
    chinese = client.post("/zh-hans/diagnose/", {"text": TEXT}).content.decode()
    assert "读取在 1.5 秒的处理后停止" in chinese


def test_an_answer_to_the_end_does_not_speak_of_it(client, db):
    said = api(client, TEXT).json()
    assert "left_out" not in said
    assert not any("stopped" in problem for problem in said["problems"])


def test_nothing_read_in_time_is_refused_and_said_why(db):
    with pytest.raises(Refused, match=r"Nothing was found until then\. Paste only what one or two commands printed\."):
        read_pasted(TEXT, Deadline(0.0))
    with pytest.raises(Refused, match="Nothing was found until then"):
        mask_pasted(TEXT, Deadline(0.0))
    assert diagnose(read_pasted(TEXT, NEVER)).stopped == ""
    stopped = pasted.Pasted((), (), tuple(BY_KIND)).stopped  # each importer is named
    assert stopped.count(",") >= len(BY_KIND) - 1


# --- the pace ---


@pytest.fixture
def slow(monkeypatch):
    """Every text takes a second of work."""
    monkeypatch.setattr(Deadline, "spent_s", property(lambda _self: 1.0))


@pytest.mark.parametrize("path", [URL, "/diagnose/"])
def test_a_client_whose_texts_are_much_work_waits_sooner(slow, client, settings, path, db):
    settings.DIAGNOSES_PER_MINUTE = 50

    def post():
        if path == URL:
            return api(client, TEXT).status_code
        return client.post(path, {"text": TEXT}).status_code

    answers = [post() for _ in range(5)]
    assert answers == [200, 200, 200, 429, 429], "20 for each, and what was let through is answered"


def test_usual_texts_pay_by_their_length_alone(monkeypatch, client, settings, db):
    monkeypatch.setattr(Deadline, "spent_s", property(lambda _self: pasted.FREE_S - 0.01))
    settings.DIAGNOSES_PER_MINUTE = 12
    assert [api(client, TEXT).status_code for _ in range(13)] == [200] * 12 + [429]
    assert work_cost(0.2) == 0
    assert work_cost(1.5) == 30


def test_a_long_text_is_not_paid_twice(monkeypatch, client, settings, db):
    """A megabyte counts as 16 by its length: only what its work comes to beyond that is added."""
    settings.DIAGNOSES_PER_MINUTE = 60
    monkeypatch.setattr(Deadline, "spent_s", property(lambda _self: 1.0))
    monkeypatch.setattr(pasted, "text_cost", lambda _text: 16)
    assert [api(client, TEXT).status_code for _ in range(4)] == [200, 200, 200, 429]


@pytest.mark.parametrize(
    ("proxies", "same", "others"),
    [
        (0, {"X-Forwarded-For": "203.0.113.{n}"}, None),
        (1, {"X-Forwarded-For": "203.0.113.{n}, 198.51.100.7"}, {"X-Forwarded-For": "203.0.113.{n}"}),
        (2, {"X-Forwarded-For": "10.9.8.{n}, 198.51.100.7, 10.0.0.2"}, {"X-Forwarded-For": "203.0.113.{n}, 10.0.0.2"}),
    ],
)
def test_a_forged_address_gives_no_more_room(slow, client, settings, db, proxies, same, others):
    """Our proxies append; what a client writes stands before that, and is not looked at."""
    settings.DIAGNOSES_PER_MINUTE = 30
    settings.PROXIES = proxies

    def answers(headers):
        filled = [{name: value.format(n=n) for name, value in headers.items()} for n in range(1, 5)]
        return [api(client, TEXT, **each).status_code for each in filled]

    assert answers(same) == [200, 200, 429, 429]
    if others:
        rate_limit._batches.clear()
        assert answers(others) == [200] * 4, "different clients behind the same proxies"

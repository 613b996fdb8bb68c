"""The public change log: what is told, what is never told, in pages, as a file and as a feed."""

import json
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from stackviz.pages.accelerators.changes import BULK, NAMES, PER_PAGE, SHEETS, LogFilter, LogPosition, read_log
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, Alias, CatalogueEdition, CatalogueLoad, SpecValue
from stackviz.records.curated.change import loading

EVIL = "<script>alert(1)</script>"
WHOLE = LogFilter()


@pytest.fixture
def mira(db) -> User:
    return User.objects.create_user("mira", first_name="Mira", last_name="Okonkwo")


def saved(row, reason="", user=None, **changes):
    for name, value in changes.items():
        setattr(row, name, value)
    row._change_reason, row._history_user = reason, user
    row.save()
    return row


def told(asked=WHOLE, **parts):
    """The log's entries as (what, old, new), newest first."""
    return [(entry.what, entry.old, entry.new) for entry in read_log(asked, **parts).entries]


# --- what is told ---


def test_a_correction_says_who_when_what_and_why(bandwidth, mira):
    saved(bandwidth, "the data sheet says so", mira, value="3352")
    entry = read_log(LogFilter()).entries[0]
    assert (entry.what, entry.old, entry.new) == ("changed", "3350 GB/s", "3352 GB/s")
    assert (entry.who, entry.reason) == ("Mira Okonkwo", "the data sheet says so")
    assert (entry.accelerator, entry.slug, entry.title) == ("Acme One", "acme-one", "Memory bandwidth")
    assert (entry.source_title, entry.source_url) == ("Acme data sheet", "https://acme.example/one")
    assert timezone.now() - entry.when < timedelta(minutes=5)


def test_a_value_is_told_with_its_condition(card, sheet_source):
    SpecValue.objects.create(
        accelerator=card, field="bf16_tensor_tflops", value="989.4", unit="TFLOPS", condition="sparsity=dense", source=sheet_source, status="public"
    )  # fmt: skip
    entry = read_log(LogFilter()).entries[0]
    assert (entry.what, entry.condition, entry.new) == ("added", "dense", "989.4 TFLOPS")


@pytest.mark.parametrize(
    ("changes", "what", "old", "new"),
    [
        ({"status": "retired", "is_preferred": False}, "retired", "3350 GB/s", ""),
        ({"status": "unreviewed", "is_preferred": False}, "withdrawn", "3350 GB/s", ""),
        ({"status": "draft", "is_preferred": False, "value": "9999"}, "withdrawn", "3350 GB/s", ""),
        ({"is_preferred": False}, "alternative", "", "3350 GB/s"),
        ({"unit": "GB/s", "value": "3360"}, "changed", "3350 GB/s", "3360 GB/s"),
    ],
)
def test_a_step_is_told_for_what_it_was_to_the_public(bandwidth, changes, what, old, new):
    saved(bandwidth, **changes)
    assert told()[0] == (what, old, new)


def test_removals_are_told_with_what_was_there(bandwidth, mira):
    bandwidth._history_user, bandwidth._change_reason = mira, "another product"
    bandwidth.delete()
    entry = read_log(LogFilter()).entries[0]
    assert (entry.what, entry.old, entry.new) == ("removed", "3350 GB/s", "")
    assert (entry.who, entry.reason, entry.source_title) == ("Mira Okonkwo", "another product", "Acme data sheet")


def test_what_changed_beside_the_figure_is_told(bandwidth):
    saved(bandwidth, condition="scope=gpu", note="per GPU")
    entry = read_log(LogFilter()).entries[0]
    assert entry.details == ("condition: none → per GPU", "note: per GPU")
    assert (entry.old, entry.new) == ("", "3350 GB/s")


def test_names_and_accelerators_are_told_too(card, sheet_source):
    alias = Alias.objects.create(accelerator=card, name="ACME 1", memory_bytes=24 * 10**9, source=sheet_source)
    saved(alias, name="ACME One")
    alias.delete()
    saved(card, name="Acme Uno")
    assert told(LogFilter(field=NAMES)) == [
        ("removed", "ACME One, with 24 GB of memory", ""),
        ("changed", "ACME 1, with 24 GB of memory", "ACME One, with 24 GB of memory"),
        ("added", "", "ACME 1, with 24 GB of memory"),
    ]
    assert [(entry.what, entry.details) for entry in read_log(LogFilter(field=SHEETS)).entries] == [
        ("changed", ("name: Acme One → Acme Uno",)),
        ("added", ()),
    ]


def test_removed_accelerator_is_logged_without_link(bandwidth, card):
    card.delete()
    entries = read_log(LogFilter()).entries
    assert {(entry.field, entry.what, entry.accelerator, entry.slug) for entry in entries[:2]} == {
        (SHEETS, "removed", "Acme One", ""),
        ("memory_bandwidth_gb_s", "removed", "Acme One", ""),
    }


def test_saving_without_a_change_is_no_entry(bandwidth, card):
    Alias.objects.create(accelerator=card, name="ACME 1", source=bandwidth.source).save()
    before = len(read_log(LogFilter()).entries)
    bandwidth.save()
    card.save()
    assert len(read_log(LogFilter()).entries) == before


# --- what is never told ---


def everything(**parts) -> str:
    return repr(read_log(LogFilter(), **parts)) + repr(read_log(LogFilter(each=True), **parts))


def test_what_is_not_public_is_never_logged(card, sheet_source, bandwidth):
    for status in ("draft", "unreviewed", "retired"):
        value = SpecValue.objects.create(
            accelerator=card, field="tdp_w", value="451", unit="W", source=sheet_source, status=status, said_by="a friend"
        )  # fmt: skip
        saved(value, value="452")
        value.delete()
    assert not re.search(r"\b45[12]\b|friend", everything())
    value = SpecValue.objects.create(
        accelerator=card, field="tdp_w", value="451", unit="W", source=sheet_source, status="draft"
    )
    saved(value, status="public", value="450", said_by="a friend")
    assert told()[0] == ("added", "", "450 W")
    assert not re.search(r"\b451\b|friend", everything())
    saved(bandwidth, said_by="a friend")
    saved(bandwidth, value="3351")
    assert "friend" not in everything()


def test_unsourced_name_is_not_in_the_answer(client, card, sheet_source):
    alias = Alias.objects.create(accelerator=card, name="Projekt Geheim")
    saved(alias, name="Projekt Geheim 9000")
    saved(alias, name="Acme 9000", source=sheet_source)
    assert told(LogFilter(field=NAMES)) == [("added", "", "Acme 9000")]
    saved(alias, source=None, name="Projekt Geheim 9001")
    assert told(LogFilter(field=NAMES))[0] == ("withdrawn", "Acme 9000", "")
    saved(alias, name="Projekt Geheim 9002")
    alias.delete()
    assert len(told(LogFilter(field=NAMES))) == 2
    assert "Geheim" not in everything()
    for address in ("/changes/", "/changes/?format=json", "/changes/?format=csv", "/changes/feed/"):
        assert "Geheim" not in client.get(address).content.decode()


def test_hidden_accelerator_logs_only_its_withdrawal(card, bandwidth, sheet_source):
    hidden = Accelerator.objects.create(slug="secret", name="Secret", vendor=card.vendor, kind="gpu", is_public=False)
    value = SpecValue.objects.create(
        accelerator=hidden, field="tdp_w", value="451", unit="W", source=sheet_source, status="public"
    )
    Alias.objects.create(accelerator=hidden, name="Code name", source=sheet_source)
    assert not re.search(r"Secret|Code name|\b451\b", everything())
    saved(hidden, is_public=True)
    assert not re.search(r"Code name|\b451\b", everything())  # done before it was shown
    saved(value, value="450")
    assert told()[0] == ("changed", "451 W", "450 W")
    saved(hidden, is_public=False)
    entry = read_log(LogFilter()).entries[0]
    assert (entry.what, entry.accelerator, entry.slug) == ("withdrawn", "Secret", "")
    assert not re.search(r"\b450\b", everything())


# --- many at once ---


@pytest.fixture
def load(db) -> CatalogueLoad:
    return CatalogueLoad.objects.create(version="abcdef0123456789")


def loaded_values(card, source, n, reason="Loaded from the curated files, version abcdef012345"):
    for number in range(n):
        value = SpecValue(
            accelerator=card, field="tdp_w", value=str(100 + number), unit="W", source=source, status="public", data_key=f"k{number}"
        )  # fmt: skip
        saved(value, reason)


def test_a_load_of_the_files_is_one_entry_with_its_counts(card, sheet_source):
    loaded_values(card, sheet_source, 12)
    CatalogueLoad.objects.create(version="abcdef0123456789")
    first, *rest = read_log(LogFilter()).entries
    assert (first.who, first.counts, first.reason) == (
        "the catalogue's files",
        ("12 values added",),
        "version abcdef012345",
    )
    assert [entry.what for entry in rest] == ["added"]  # the accelerator itself, made by hand
    steps = read_log(LogFilter(load=first.load)).entries
    assert [entry.new for entry in steps[:2]] == ["111 W", "110 W"]
    assert {entry.who for entry in steps} == {"the catalogue's files"}


@pytest.mark.parametrize("later", ["0123456789abcdef", "abcdef0123456789"])
def test_loads_are_logged_apart_even_of_one_version(card, sheet_source, later):
    loaded_values(card, sheet_source, 2)
    CatalogueLoad.objects.create(version="abcdef0123456789")
    with loading(later):
        SpecValue.objects.filter(data_key="k0").delete()
    CatalogueLoad.objects.create(version=later)
    assert [entry.counts for entry in read_log(LogFilter()).entries[:2]] == [("1 value removed",), ("2 values added",)]


def test_a_load_that_changed_nothing_public_is_no_entry(load):
    assert read_log(LogFilter()).entries == ()


def test_bulk_steps_are_one_expandable_entry(card, sheet_source, mira):
    for number in range(BULK):
        value = SpecValue(accelerator=card, field="tdp_w", value=str(number), unit="W", source=sheet_source)
        saved(value, "import of acme.csv", mira, value=str(100 + number), status="public")
    entry = read_log(LogFilter()).entries[0]
    assert (entry.counts, entry.accelerator, entry.reason) == (
        (f"{BULK} values added",),
        "Acme One",
        "import of acme.csv",
    )
    assert len(read_log(LogFilter(each=True)).entries) == BULK + 1


def test_fewer_steps_are_told_one_by_one(card, sheet_source, mira):
    for number in range(BULK - 1):
        value = SpecValue(accelerator=card, field="tdp_w", value="100", unit="W", source=sheet_source, status="public")
        saved(value, "import of acme.csv", mira, condition=f"configuration=m{number}")
    assert len(read_log(LogFilter()).entries) == BULK


def test_many_steps_that_go_on_beyond_the_page_say_so(card, sheet_source, mira, monkeypatch):
    monkeypatch.setattr("stackviz.pages.accelerators.changes.steps.READ", 20)
    for number in range(30):
        value = SpecValue(accelerator=card, field="tdp_w", value=str(100 + number), unit="W", source=sheet_source)
        saved(value, "import of acme.csv", mira, status="public")
    first = read_log(LogFilter())
    assert first.entries[0].counts == ("20 values added", "continued on the next page")
    rest = read_log(LogFilter(), first.next_place)
    assert rest.entries[0].counts == ("10 values added",)


def test_entry_names_who_changed_and_who_approved_never_logins(bandwidth, mira):
    ada = User.objects.create_user("login-of-ada", first_name="ada")
    nameless = User.objects.create_user("login-of-bo")
    now = timezone.now()
    for number, (who, checked_by, said) in enumerate(
        [
            (mira, ada, "Mira Okonkwo, approved by ada"),
            (mira, None, "Mira Okonkwo"),
            (mira, mira, "Mira Okonkwo"),
            (nameless, None, f"curator {nameless.pk}"),
        ]
    ):
        changes = {"checked_by": checked_by, "checked_at": now + timedelta(seconds=number)} if checked_by else {}
        saved(bandwidth, "", who, value=str(3352 + number), **changes)
        assert read_log(LogFilter()).entries[0].who == said


# --- pages ---


@pytest.fixture
def long_log(bandwidth, mira) -> list[str]:
    """150 corrections, the newest first, as the log should tell them."""
    now = timezone.now()
    for number in range(150):
        bandwidth._history_date = now + timedelta(minutes=number)
        saved(bandwidth, f"reason {number}", mira, value=str(3400 + number))
    return [f"{3400 + number} GB/s" for number in reversed(range(150))]


def read_pages(most=PER_PAGE, **parts):
    """The entries of all pages, each page at most so long."""
    found, before = [], None
    for _page in range(40):
        log = read_log(WHOLE, before, **parts)
        assert len(log.entries) <= most
        found += log.entries
        before = log.next_place
        if before is None:
            break
    assert before is None
    assert len({entry.key for entry in found}) == len(found)
    return found


@pytest.mark.parametrize("read_at_once", [None, 40])
def test_log_pages_cover_all_entries_once(long_log, card, sheet_source, monkeypatch, read_at_once):
    if read_at_once:
        monkeypatch.setattr("stackviz.pages.accelerators.changes.steps.READ", read_at_once)
    Alias.objects.create(accelerator=card, name="ACME 1", source=sheet_source)
    found = read_pages()
    assert [entry.new for entry in found if entry.field != NAMES][:150] == long_log
    assert len(found) == 153
    assert [entry.when for entry in found] == sorted((entry.when for entry in found), reverse=True)


def test_simultaneous_entries_page_correctly(card, bandwidth):
    moment = timezone.now() + timedelta(hours=1)
    for number in range(30):
        bandwidth._history_date = moment
        saved(bandwidth, f"reason {number}", value=str(3400 + number))
        alias = Alias(accelerator=card, name=f"ACME {number}", source=bandwidth.source)
        alias._history_date = moment
        saved(alias, f"name {number}")
    assert len(read_pages(7, length=7)) == 62


def test_a_position_is_read_as_it_is_written_and_nothing_else_is():
    place = LogPosition(datetime(2026, 11, 20, 16, 15, 0, 123456, UTC), 1, 345)
    assert LogPosition.read(str(place)) == place
    other = ("", "x", "2026", "20261120T161500.1-9-1", "20261320T161500.1-1-1", "20261120T161500.1-1-x", "--", "1-1-1")
    assert [text for text in other if LogPosition.read(text)] == []


@pytest.mark.parametrize(
    "asked", [LogFilter(), LogFilter(accelerator="acme-one", vendor="acme", field="memory_bandwidth_gb_s")]
)
def test_the_log_costs_as_many_queries_however_long_it_is(long_log, load, asked, django_assert_max_num_queries):
    with django_assert_max_num_queries(13):
        read_log(asked)


def test_log_page_query_count_is_constant(client, long_log, bandwidth, django_assert_max_num_queries):
    with django_assert_max_num_queries(22):  # five of them for news
        page = client.get("/changes/")
    assert page.content.count(b"<li id=") == PER_PAGE
    assert len(page.content) < 100_000
    with django_assert_max_num_queries(2):  # the editions of the catalogue and of cited results
        client.get("/changes/")
    saved(bandwidth, "typed wrongly", value="3352")
    assert "typed wrongly" in client.get("/changes/").content.decode()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("a=acme-one", True),
        ("a=acme%20one", True),
        ("accelerator=acme-one", True),
        ("vendor=acme", True),
        ("field=memory_bandwidth_gb_s", True),
        ("field=tdp_w", False),
        ("a=acme-one&field=name", False),
    ],
)
def test_the_log_is_filtered_by_accelerator_vendor_and_field(client, bandwidth, query, found):
    page = client.get(f"/changes/?{query}")
    assert ("3350 GB/s" in page.content.decode()) is found
    assert page.content.count(b"note warning") == 0
    assert not {NAMES, SHEETS} & FIELDS.keys()


def test_renamed_accelerators_keep_their_log(client, bandwidth, card):
    saved(card, slug="acme-uno")
    assert "3350 GB/s" in client.get("/changes/?a=acme-one").content.decode()
    card.delete()
    assert "3350 GB/s" in client.get("/changes/?a=acme-uno").content.decode()


@pytest.mark.parametrize(
    "query",
    ["a=nothing", "vendor=nothing", "field=nothing", "load=99", "load=x", "before=yesterday", "colour=red", "a=%00", "load=²"],
)  # fmt: skip
def test_what_does_not_exist_is_left_out_with_a_note(client, bandwidth, query):
    page = client.get(f"/changes/?{query}")
    assert page.status_code == 200
    assert "3350 GB/s" in page.content.decode()
    assert b"note warning" in page.content or query == "a=%00"


def test_the_page_shows_text_as_text(client, bandwidth, card):
    saved(bandwidth, EVIL, note=EVIL)
    Alias.objects.create(accelerator=card, name=EVIL, source=bandwidth.source)
    assert EVIL not in client.get("/changes/").content.decode()


# --- as a file ---


def test_json_log_links_to_older_entries(client, long_log):
    found, address = [], "/changes/?format=json"
    for _page in range(5):
        data = json.loads(client.get(address).content)
        found += data["entries"]
        if data["next"] is None:
            break
        address = data["next"].removeprefix("http://testserver")
    assert len(found) == 152
    assert found[0] | {"key": "", "when": "", "source_title": "", "source_url": ""} == {
        "key": "", "when": "", "who": "Mira Okonkwo", "what": "changed", "accelerator": "Acme One", "slug": "acme-one", "field": "memory_bandwidth_gb_s",
        "title": "Memory bandwidth", "condition": "", "old": "3548 GB/s", "new": "3549 GB/s", "details": [], "reason": "reason 149", "source_title": "",
        "source_url": "", "count": 1, "counts": [], "load": None, "url": "",
    }  # fmt: skip


def test_the_log_as_csv_has_no_formulas(client, bandwidth):
    saved(bandwidth, "=1+1", value="3352")
    text = client.get("/changes/?format=csv").content.decode()
    assert "'=1+1" in text
    assert text.splitlines()[0].startswith("key,when,who,what,accelerator")


# --- the feed ---


def items(answer) -> list[dict[str, str]]:
    return [{part.tag: part.text or "" for part in item} for item in ET.fromstring(answer.content).iter("item")]


def test_the_feed_has_the_entries_with_absolute_links(client, bandwidth, mira):
    saved(bandwidth, "the data sheet says so", mira, value="3352")
    answer = client.get("/changes/feed/")
    assert answer.headers["Content-Type"] == "application/rss+xml; charset=utf-8"
    first = items(answer)[0]
    assert first["title"] == "Acme One: Memory bandwidth changed: 3350 GB/s → 3352 GB/s"
    assert first["link"] == "http://testserver/accelerators/acme-one/"
    assert "the data sheet says so" in first["description"]
    assert first["pubDate"]
    channel = ET.fromstring(answer.content)[0]
    assert channel.find("link").text == "http://testserver/changes/"
    assert all(item["link"].startswith("http://testserver/") for item in items(answer))


def test_feed_entry_keeps_its_guid(client, bandwidth, card):
    before = {item["guid"] for item in items(client.get("/changes/feed/"))}
    saved(card, name="Acme Uno", slug="acme-uno")
    after = [item["guid"] for item in items(client.get("/changes/feed/"))]
    assert before < set(after)
    assert len(set(after)) == len(after)


@pytest.mark.parametrize("text", [EVIL, "a & b ]]> c", "bell \x07 and \x0c \x1b \ufffe", "🦊 漢字"])
def test_the_feed_stays_well_formed_whatever_people_type(client, bandwidth, card, text):
    saved(bandwidth, text, note=text)
    Alias.objects.create(accelerator=card, name=f"name {text}", source=bandwidth.source)
    found = items(client.get("/changes/feed/"))
    assert len(found) == 4
    assert EVIL not in "".join(item["description"] for item in found)


def test_a_feed_is_written_once_for_each_state(client, bandwidth, django_assert_num_queries):
    first = client.get("/changes/feed/")
    with django_assert_num_queries(1):
        again = client.get("/changes/feed/")
    assert (again.content, again.headers["Content-Type"]) == (first.content, first.headers["Content-Type"])
    assert client.get("/changes/feed/?vendor=acme").content != first.content


@pytest.mark.parametrize("query", ["vendor=%20acme", "vendor=acme%20%20", "vendor=%00acme", "vendor=acme&a=ACME+one"])
def test_a_feed_has_one_address_and_others_lead_to_it(client, bandwidth, monkeypatch, query):
    monkeypatch.setattr("stackviz.pages.accelerators.feeds.cache.set", lambda *_given: pytest.fail("kept"))
    answer = client.get(f"/changes/feed/?{query}")
    assert answer.status_code == 302
    assert answer.headers["Location"] in ("/changes/feed/?vendor=acme", "/changes/feed/?a=acme-one&vendor=acme")


@pytest.mark.parametrize("query", ["", "before=20261120T180000.000001-0-1", "vendor=acme&field=tdp_w"])
def test_unknown_parameters_do_not_read_the_log_again(client, bandwidth, monkeypatch, query):
    client.get(f"/changes/?{query}")
    monkeypatch.setattr("stackviz.pages.accelerators.changes_page.read_log", lambda *_given: pytest.fail("read again"))
    assert "Unknown parameter “_”" in client.get(f"/changes/?{query}&_=1").content.decode()


def test_an_accelerator_has_a_feed_that_its_page_names(client, bandwidth, card):
    other = Accelerator.objects.create(slug="acme-two", name="Acme Two", vendor=card.vendor, kind="gpu")
    assert {item["link"] for item in items(client.get(f"/changes/feed/?a={other.slug}"))} == {
        "http://testserver/accelerators/acme-two/"
    }
    assert "Acme Two" in client.get("/changes/feed/?a=acme-two").content.decode()
    assert client.get("/changes/feed/?a=nothing").status_code == 404
    assert '<link rel="alternate" type="application/rss+xml"' in client.get("/changes/").content.decode()
    assert 'href="/changes/feed/?a=acme-one"' in client.get("/changes/?a=acme-one").content.decode()


def test_an_empty_catalogue_has_an_empty_log_and_feed(client, db):
    assert "No changes of this kind" in client.get("/changes/").content.decode()
    titles = [item["title"] for item in items(client.get("/changes/feed/"))]
    assert [title for title in titles if not title.endswith(": released")] == []  # releases are in files
    assert CatalogueEdition.current() == ""


@pytest.mark.parametrize(
    ("query", "field"), [("field=nonsense", "field"), ("vendor=nope", "vendor"), ("before=garbage", "before")]
)
@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_file_with_a_filter_that_is_not_understood_is_refused(client, bandwidth, query, field, ending):
    answer = client.get(f"/changes/?{query}&format={ending}")
    assert (answer.status_code, answer.json()["field"]) == (422, field)

"""Claims checked: the files, the verdicts against the catalogue, the page."""

import json
import re
import shutil
from dataclasses import replace

import pytest
from django.conf import settings
from django.core.cache import cache

from stackviz.pages.accelerators.claims import (
    ClaimsError,
    ClaimVerdict,
    checked,
    claim_disagreements,
    matching,
    read_claims,
)
from stackviz.pages.learn.templatetags.chapters import chapter_link
from stackviz.records.catalog.files import DATA
from stackviz.records.catalog.models import SpecValue
from stackviz.web.i18n.languages import address_in


@pytest.fixture
def folder(tmp_path):
    for name in ("claims.csv", "claim_sources.csv"):
        shutil.copy(DATA / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_each_verdict_leads_to_the_section_that_explains_it(curated, client, db, language):
    headings = {"en": "Cards and rules: Dense and sparse", "zh-hans": "显卡与规则：稠密与稀疏"}
    page = client.get(address_in(language, "/claims/")).content.decode()
    book = address_in(language, "/learn/")
    links = re.findall(rf'<a href="{book}([a-z0-9-]+/#[a-z0-9-]+)">', page)
    assert sorted(links) == sorted(claim.chapter.replace("#", "/#") for claim in read_claims())
    assert f'<a href="{book}cards-and-rules/#sparse">{headings[language]}</a>' in page
    chapters = {link.partition("#")[0] for link in links}
    anchors = {slug: client.get(book + slug).content.decode() for slug in chapters}
    assert [link for link in links if f'id="{link.partition("#")[2]}"' not in anchors[link.partition("#")[0]]] == []


def test_every_claim_has_verdict_and_support():
    claims = read_claims()
    assert len(claims) >= 110
    assert {claim.verdict for claim in claims} == set(ClaimVerdict)
    assert all(claim.figures or claim.sources for claim in claims)
    subjects = [claim.subject for claim in claims]  # what is asked for most comes first
    assert subjects[0] == "NVIDIA H100 SXM"
    assert subjects.index("Apple M3 Max") < subjects.index("Apple M3") < subjects.index("PyTorch MPS")
    for place in ("cards-and-rules#nothing", "nothing#sparse", "sparse"):
        with pytest.raises(LookupError, match=place):
            chapter_link(place)


def test_the_page_tells_search_engines_questions_and_answers(curated, client, db):
    page = client.get("/claims/").content.decode()
    data = json.loads(page.split('<script type="application/ld+json">')[1].split("</script>")[0])
    assert data["@type"] == "FAQPage"
    first, *others = data["mainEntity"]
    assert len(others) >= 10
    claim = read_claims()[0]
    assert first["name"] == f"{claim.subject}: {claim.text}"
    assert first["acceptedAnswer"]["text"] == f"{claim.verdict.label}: {claim.answer}"
    assert "application/ld+json" not in client.get("/claims/?verdict=wrong").content.decode()


def test_the_catalogue_bears_out_every_verdict(curated, db):
    found = checked(read_claims())
    assert claim_disagreements(found) == []
    without = [item.claim.key for item in found for figure in item.figures if not figure.text or not figure.source]
    assert without == []
    assert all(len(item.figures) == len(item.claim.figures) for item in found)


def test_a_verdict_the_catalogue_no_longer_bears_out_is_named(curated, db):
    claim = next(claim for claim in read_claims() if claim.key == "m3-38-tops")
    value = SpecValue.objects.get(
        accelerator__slug="apple-m3-10", field="neural_engine_tops", condition="", is_preferred=True
    )
    value.value = "38"
    value.save()
    assert [problem.split(":")[0] for problem in claim_disagreements(checked([claim]))] == ["m3-38-tops"]
    assert claim_disagreements(checked([replace(claim, verdict=ClaimVerdict.RIGHT)])) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x,S,c,maybe,a,,,apple-m3-10:gpu_cores,a#b", "'maybe' is not a verdict"),
        ("x,S,c,wrong,a,,,,a#b", "x has neither a figure nor a source"),
        ("x,S,c,wrong,a,,,apple-m3-10,a#b", "is not a figure"),
        ("x,S,c,wrong,a,,,apple-m3-10:horns,a#b", "is not a figure"),
        ("x,S,c,wrong,a,,,apple-m3-10:gpu_cores,names", "'names' is not slug#anchor"),
        ("x,S,c,wrong,a,,,apple-m3-10:gpu_cores,", "'' is not slug#anchor"),
        ("m3-38-tops,S,c,wrong,a,,,apple-m3-10:gpu_cores,a#b", "duplicate key"),
        # sources of claims
        ("tvm-relay,source,T,ftp://example.org/", "is not a web address"),
        ("tvm-relay,rumour,T,https://example.org/", "'rumour' is not a role"),
        ("nobody,source,T,https://example.org/", "unknown claim nobody"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(folder, line, problem):
    name = "claim_sources.csv" if line.count(",") == 3 else "claims.csv"
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(ClaimsError, match=problem):
        read_claims(folder)


def test_claims_are_found_by_words_of_the_language_of_the_page(curated, client, db):
    keys = [claim.key for claim in matching(read_claims(), "", "H100 1,979")]
    assert "h100-1979-tflops" in keys
    assert {claim.verdict for claim in matching(read_claims(), "outdated", "")} == {ClaimVerdict.OUTDATED}
    assert matching(read_claims(), "wrong", "no such words") == []
    page = client.get("/claims/?q=1979").content.decode()
    for shown in ("989.4", "wrong", 'href="/accelerators/nvidia-h100-sxm5-80gb/"'):
        assert shown in page
    address = address_in("zh-hans", "/claims/")
    page = client.get(address, {"q": "稀疏 1,979"}).content.decode()
    assert 'id="h100-1979-tflops"' in page
    page = client.get(address, {"q": "批大小"}).content.decode()
    assert '<a href="#batch-power-of-two">批大小</a>' in page
    assert "Batch size" not in page
    answer = client.get("/claims/?verdict=right", headers={"HX-Request": "true"})
    assert answer["HX-Push-Url"] == "/claims/?verdict=right"
    page = answer.content.decode()
    assert "<html" not in page
    # `.right` alone pushes what has it to the right edge
    assert page.count('class="claim"') == sum(claim.verdict == ClaimVerdict.RIGHT for claim in read_claims())


def test_the_page_costs_the_same_whatever_it_shows(curated, client, db, django_assert_num_queries):
    client.get("/claims/")  # reads what stays in memory: the public catalogue, when tables were checked
    for address in ("/claims/", "/claims/?verdict=wrong"):
        cache.clear()
        with django_assert_num_queries(2):  # the edition, the public catalogue being in memory
            answer = client.get(address)
        assert len(answer.content) < 150_000
    with django_assert_num_queries(1):  # rendered before
        client.get("/claims/?verdict=wrong")
    with django_assert_num_queries(2):
        client.get("/claims/?q=h100")


def test_what_does_not_exist_is_left_out_with_a_note(curated, client, db):
    answer = client.get("/claims/?verdict=perhaps&q=%00%3Cb%3E")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Unknown verdict “perhaps”" in page
    assert "<b>" not in page.split('id="found"')[1].split("<ol")[0]


def test_the_list_as_a_file_is_what_the_page_shows(curated, client, db):
    answer = client.get("/claims/?format=json&verdict=right")
    claims = json.loads(answer.content)["claims"]
    assert {claim["verdict"] for claim in claims} == {"right"}
    figures = [figure for claim in claims for figure in claim["figures"]]
    assert figures
    assert all(figure["source"].startswith("http") for figure in figures)
    text = client.get("/claims/?format=csv&verdict=right").content.decode()
    assert text.splitlines()[0] == "key,subject,claim,verdict,answer,figures,sources,chapter"
    assert len(text.splitlines()) == len(claims) + 1

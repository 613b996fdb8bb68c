"""The page of plans: the address is the plan, what does not exist is said, and it costs the same whatever is planned."""

import html
import re

import pytest
from django.core.cache import cache

from stackviz.records.catalog.asked_for import most_requested
from tests.responses import words_of

HTMX = {"HX-Request": "true"}


@pytest.fixture
def plan(curated, client, db):
    """Asks for a plan; the tables and lists are read before, as in a process that runs."""

    def ask(query="", **kwargs):
        return client.get(f"/plan/?{query}", **kwargs)

    ask()
    return ask


def test_empty_form_offers_choices(plan):
    text = words_of(plan())
    for shown in ("NVIDIA T4", "Apple M1", "Linux in WSL2", "2.15.0", "start from an example"):
        assert shown in text


def accelerator_list(page):
    """(vendors, slugs) of the list of accelerators."""
    text = page.content.decode().partition("</select>")[0]
    slugs = re.findall(r'<option value="([a-z]+-[^"]+)"', text)
    return re.findall(r'<optgroup label="([^"]+)"', text), slugs


def test_the_list_names_those_asked_for_most_once_by_vendor(plan):
    vendors, slugs = accelerator_list(plan())
    assert vendors[0] == "NVIDIA"
    assert {"AMD", "Apple", "Google", "Intel"} < set(vendors)
    assert slugs[0] == "nvidia-h100-sxm5-80gb"
    assert sorted(slugs) == sorted(most_requested())


def test_the_list_names_the_chosen_accelerator_too(plan):
    page = plan("accelerator=hailo-8")
    vendors, slugs = accelerator_list(page)
    assert (vendors[0], slugs[0]) == ("Hailo", "hailo-8")
    assert len(slugs) == len(most_requested()) + 1
    vendors, slugs = accelerator_list(plan("accelerator=nvidia-geforce-mx450"))
    assert len(vendors) == len(set(vendors))
    assert (vendors[0], slugs[0]) == ("NVIDIA", "nvidia-geforce-mx450")
    assert '<option value="hailo-8" selected>' in re.sub(r"\s+", " ", page.content.decode())


def test_any_other_accelerator_is_searched_without_scripts(plan, client):
    page = plan("accelerator=nvidia-t4&framework=jax").content.decode()
    form = re.search(r'<form id="find-accelerator" action="([^"]+)">(.*?)</form>', page, re.DOTALL)
    sent = dict(re.findall(r'name="([^"]+)" value="([^"]+)"', form[2]))
    found = client.get(form[1], {**sent, "q": "hailo-8"}).content.decode()
    addresses = [html.unescape(url) for url in re.findall(r'href="(/plan/\?[^"]+)"', found)]
    assert "/plan/?framework=jax&accelerator=hailo-8" in addresses
    assert 'form="find-accelerator"' in page


def test_each_example_is_a_plan_that_works(plan):
    examples = re.findall(r'<a class="chip" href="/plan/(\?accelerator=[^"]+)">', plan().content.decode())
    assert len(examples) == 3
    for example in examples:
        assert "it works" in words_of(plan(html.unescape(example)[1:]))
    assert "start from an example" not in words_of(plan("accelerator=cpu"))


def test_plan_shows_command_driver_and_gaps(plan):
    text = words_of(plan("accelerator=nvidia-t4&torch=2.14.1"))
    for shown in (
        "it works",
        "pip install torch==2.14.1",
        "580.65.06",
        "tensor cores for bfloat16",
        "3.10, 3.11, 3.12, 3.13, 3.14",
        "Diagram of the plan",
    ):
        assert shown in text


def test_plan_shows_what_belongs_to_its_torch_and_how_to_install_the_driver(plan):
    page = plan("accelerator=nvidia-geforce-gtx-1080-ti")
    text = words_of(page)
    for shown in (
        "pip install torch==2.14.1 torchvision==0.29.2 torchaudio==2.11.0 --index-url https://download.pytorch.org/whl/cu126",
        "torchvision 0.29.2 belongs to torch 2.14.1",
        "torchaudio 2.11.0 belongs to torch 2.14.1",
        "sudo apt install nvidia-driver-580",
        "sudo dnf versionlock add '*nvidia*580*' && sudo dnf install cuda-drivers",
    ):
        assert shown in text
    assert "driver-installation-guide" in page.content.decode()
    windows = words_of(plan("accelerator=nvidia-geforce-rtx-4090&system=wsl2"))
    assert "in Windows, not in WSL, from nvidia.com/drivers" in windows
    assert "sudo apt install nvidia-driver" not in windows


def test_failing_plan_links_to_working_one(plan):
    response = plan("accelerator=nvidia-v100-sxm2&torch=2.15.0")
    text = words_of(response)
    assert "it will not work as planned" in text
    assert "carries no code for" in text
    assert "torch=2.14.1" in response.content.decode()
    assert "pip install torch==2.15.0 " not in text.partition("Builds of torch")[0]


def test_a_mac_hears_which_macos_the_gpu_wants(plan):
    text = words_of(plan("accelerator=apple-m1-8&torch=2.15.0&macos=14"))
    assert "needs macOS 15.0 to use the GPU" in text
    assert "torch 2.14.1" in text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("accelerator=nvidia-h9000", "Unknown accelerator “nvidia-h9000”"),
        (
            "accelerator=amd-mi300x&framework=caffe",
            "Unknown framework “caffe”; choose pytorch, jax, tensorflow, vllm, sglang, mlx; it was ignored.",
        ),
        (
            "accelerator=nvidia-t4&framework=jax&installer=conda",
            "Unknown installer “conda”; choose pip, uv; it was ignored.",
        ),
        ("accelerator=cpu&torch=9.9", "Unknown torch release “9.9”"),
        ("accelerator=nvidia-t4&driver=new", "“new” is not a driver version"),
        (
            "accelerator=apple-m1-8&system=linux-x86_64",
            "No source on record says how to install PyTorch for it on Linux, x86-64",
        ),
        ("accelerator=nvidia-t4&python=%3Cscript%3E", "Unknown Python release “<script>”"),
        ("accelerator=nvidia-t4&system=%00", "it works"),
    ],
    ids=["accelerator", "framework", "installer", "torch", "driver", "system", "python", "nul"],
)
def test_what_does_not_exist_is_left_out_and_said(plan, query, said):
    response = plan(query)
    assert response.status_code == (200 if said == "it works" else 422)
    assert said in words_of(response)
    assert "<script>" not in response.content.decode().partition("<main")[2]


@pytest.mark.parametrize(
    "query",
    [
        "accelerator=nvidia-t4",
        "accelerator=apple-m1-8",
        "accelerator=cpu",
        "accelerator=amd-mi300x",
        "accelerator=hailo-8",
        "accelerator=nvidia-t4&framework=jax&installer=uv",
    ],
)
def test_a_plan_costs_the_same_few_queries_and_stays_small(plan, query, django_assert_max_num_queries):
    plan(query)
    cache.clear()
    with django_assert_max_num_queries(2):  # the editions of both tables
        response = plan(query)
    assert len(response.content) < 100_000
    with django_assert_max_num_queries(2):
        assert plan(query, headers=HTMX).content in response.content


def test_htmx_gets_the_form_and_the_plan_alone(plan):
    part = plan("accelerator=nvidia-t4", headers=HTMX).content.decode()
    assert "<html" not in part
    assert 'id="accelerator"' in part


def test_the_drawing_downloads_as_svg(plan):
    answer = plan("accelerator=nvidia-t4&torch=2.14.1&format=svg")
    assert answer.headers["Content-Type"].startswith("image/svg+xml")
    text = answer.content.decode()
    assert "NVIDIA T4, torch 2.14.1" in text
    assert "2.14.1+cu130" in text
    assert "format=svg" in plan("accelerator=nvidia-t4&torch=2.14.1").content.decode()


def test_only_computed_plans_count(plan, settings):
    settings.PLANS_PER_MINUTE = 2
    cache.clear()
    ready = "accelerator=nvidia-t4&torch=2.14.1"
    assert [plan(ready).status_code for _ in range(3)] == [200, 200, 200]
    named = f"{ready}&driver=580.95.05"
    assert [plan(asked).status_code for asked in (named, named, f"{named}&format=svg")] == [200, 429, 429]
    refused = plan(named)
    assert "Too many plans were requested from this address" in words_of(refused)
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert plan(ready).status_code == plan().status_code == 200


def test_build_with_unknown_content_is_no_promise(plan):
    text = words_of(plan("accelerator=nvidia-v100-sxm2&torch=1.7.1"))
    assert "Verdict cannot tell" in text
    assert "No source says which GPUs torch 1.7.1 (cu110) supports" in text
    assert "torch.cuda.get_arch_list()" in text
    assert "it works" not in text


def test_a_cuda_older_than_the_card_is_named_as_the_reason(plan):
    text = words_of(plan("accelerator=nvidia-geforce-rtx-5090&torch=2.6.0"))
    assert "it will not work as planned" in text
    assert "torch 2.6.0+cu126 carries no code for NVIDIA GeForce RTX 5090" in text
    assert "built with CUDA 12.6, and the first toolkit that makes code for capability 12.0 is 12.8" in text


def test_plan_defaults_to_newest_working_release(plan):
    response = plan("accelerator=nvidia-v100-sxm2")
    text = words_of(response)
    assert "Verdict it works" in text
    assert "torch 2.14.1 is the newest release that is known to work here. Why not 2.15.0:" in text
    assert "carries no code for" in text.partition("Why not 2.15.0:")[2].partition("Builds of torch")[0]
    assert "torch=2.15.0" in response.content.decode()
    for query in ("accelerator=nvidia-v100-sxm2&torch=&python=", "accelerator=nvidia-v100-sxm2&torch=9.9"):
        assert "Why not 2.15.0" in words_of(plan(query))
    assert "Why not" not in words_of(plan("accelerator=nvidia-t4"))


def test_too_old_driver_is_given_as_the_reason(plan):
    text = words_of(plan("accelerator=nvidia-t4&driver=450.80.02"))
    assert "Verdict it works" in text
    assert "450.80.02" in text.partition("Why not 2.15.0:")[2].partition("The plan with torch 2.15.0")[0]


def test_driver_can_serve_a_card_no_build_supports(plan):
    tiles = words_of(plan("accelerator=nvidia-v100-sxm2&torch=2.15.0")).partition("What will not work")[0]
    assert "NVIDIA driver ≥ 580 best from R580 LTS" in tiles
    assert "no driver in the tables supports it" not in tiles


def test_a_plan_has_one_figure_for_the_driver(plan):
    response = plan("accelerator=nvidia-geforce-gtx-1060-6gb&system=windows-x86_64")
    text = words_of(response)
    assert "Needs NVIDIA driver ≥ 527.41 (up to R580)" in text
    assert "NVIDIA driver ≥ 527.41 best from R580 LTS" in text.partition("What will not work")[0]
    assert "with NVIDIA driver ≥ 527.41 (up to R580), Python" in response.content.decode()  # the preview


@pytest.mark.parametrize(
    ("query", "need"),
    [
        ("accelerator=nvidia-geforce-gtx-1060-6gb&system=windows-x86_64", "NVIDIA 驱动 ≥ 527.41（最高到 R580）"),
        ("accelerator=nvidia-geforce-rtx-3090&framework=vllm&driver=535", "NVIDIA 驱动 ≥ 525.60.13"),
    ],
)
def test_the_driver_is_asked_for_in_chinese(curated, client, db, query, need):
    page = client.get(f"/zh-hans/plan/?{query}").content.decode()
    assert need in page
    assert "NVIDIA driver ≥" not in page


def test_cpu_plan_needs_no_card_or_driver(plan):
    response = plan("accelerator=cpu&torch=2.15.0")
    text = words_of(response)
    assert "nvidia-smi must list it" not in text
    assert 'id="driver"' not in response.content.decode()
    assert "code for compute capability" not in text
    assert 'id="driver"' in plan("accelerator=nvidia-t4").content.decode()


def test_memory_is_as_printed(plan):
    drawn = words_of(plan("accelerator=nvidia-geforce-rtx-5090&format=svg"))
    assert "32 GB" in drawn
    assert "GiB" not in drawn
    assert "Linux" in drawn
    assert "not described" not in drawn.partition("Operating system")[2][:60]


def test_a_program_gets_the_plan_of_the_processor(client, curated, db):
    answer = client.get("/plan/?accelerator=cpu&system=linux-x86_64&format=json").json()
    assert (answer["accelerator"], answer["outcome"]) == ("cpu", "works")
    assert "whl/cpu" in answer["commands"][0]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("accelerator=nvidia-t4&format=json&pyhton=3.9", "pyhton"),
        ("accelerator=no-such-card&format=svg", "accelerator"),
        ("format=json", "accelerator"),
    ],
)
def test_a_program_is_told_what_its_address_has_wrong(client, curated, db, query, parameter):
    answer = client.get(f"/plan/?{query}")
    assert (answer.status_code, answer.json()["field"]) == (422, parameter)


def test_a_plan_names_what_many_add_to_its_torch(plan):
    text = words_of(plan("accelerator=nvidia-geforce-rtx-3090&torch=2.9.1"))
    added = text.partition("What many add to it:")[2].partition("What will not work")[0]
    assert "xformers 0.0.33.post2 goes with torch 2.9.1" in added
    assert "pip compiles it" in added
    assert "What many add" not in words_of(plan("accelerator=nvidia-geforce-rtx-3090&system=windows-x86_64"))

"""What a plan answers for every public accelerator: something to type, or a sourced sentence why there is nothing."""

import json
import time

import pytest

from stackviz.pages.plan.planned_machine import SYSTEMS
from stackviz.pages.plan.support import BY_TABLES, EVERY_SYSTEM, groups, guides, support_rows
from stackviz.pages.plan.targets import find_target
from stackviz.pages.plan.ways import FRAMEWORKS, INSTALLERS, ways
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules.package_releases import PACKAGES
from tests.responses import words_of
from tests.sampled import sampled

ROCM_INDEX = "https://download.pytorch.org/whl/rocm"
NEURON = "https://pip.repos.neuron.amazonaws.com"


@pytest.fixture
def ask(curated, client, db, settings):
    """The answer to an address, as JSON."""
    settings.PLANS_PER_MINUTE = 10_000

    def read(query):
        answer = client.get(f"/plan/?{query}&format=json")
        assert answer.status_code == 200, answer.content
        return json.loads(answer.content)

    return read


@sampled(40)
def test_every_public_sheet_has_an_answer(ask, django_assert_max_num_queries, sample):
    slugs = [accelerator.slug for accelerator in public_catalogue().accelerators]
    assert len(slugs) >= 614
    ask("accelerator=nvidia-h100-sxm5-80gb")  # reads the stacks, once for a process
    for slug in sample(slugs):
        with django_assert_max_num_queries(2):  # the editions of both tables
            answer = ask(f"accelerator={slug}")
        assert answer["source"]["url"].startswith("https://"), slug
        assert answer["commands"] or answer["note"] or answer["reasons"] or answer["outcome"] == "fails", slug
        assert set(answer["frameworks"]) >= set(FRAMEWORKS) - {"own"}, slug


def test_each_framework_of_every_sheet_has_a_command_or_a_sourced_reason(curated, db):
    tables, seen = rule_tables(), 0
    for accelerator in public_catalogue().accelerators:
        for way in ways(tables, find_target(tables, accelerator.slug)):
            reasons = way.package_plan.passed_over if way.package_plan else way.note
            assert way.is_planned or way.commands or reasons, (accelerator.slug, way)
            assert way.source.url.startswith("https://")
            assert bool(way.installer) >= bool(way.commands), way
            seen += 1
    assert seen > 4000


@pytest.mark.parametrize(
    ("query", "commands"),
    [
        ("nvidia-geforce-rtx-4090&torch=2.14.1", ["pip install torch==2.14.1 torchvision==0.29.2 torchaudio==2.11.1"]),
        (
            "nvidia-geforce-rtx-4090&torch=2.14.1&installer=uv",
            ["uv pip install torch==2.14.1 torchvision==0.29.2 torchaudio==2.11.1"],
        ),
        (
            "nvidia-geforce-rtx-4090&installer=container",
            ["docker run --gpus all --rm -ti --ipc=host pytorch/pytorch:latest"],
        ),
        (
            "nvidia-geforce-gtx-1080",
            [
                "pip install torch==2.14.1 torchvision==0.29.2 torchaudio==2.11.0 --index-url https://download.pytorch.org/whl/cu126",
            ],
        ),
        ("nvidia-geforce-rtx-4090&framework=jax", ['pip install "jax[cuda13]==0.12.0.1"']),
        ("nvidia-geforce-gtx-1080&framework=jax", ['pip install "jax[cuda12]==0.12.0.1"']),
        ("nvidia-geforce-rtx-4090&framework=jax&driver=535", ['pip install "jax[cuda12]==0.12.0.1"']),
        ("nvidia-geforce-rtx-4090&framework=jax&system=windows-x86_64", []),
        ("nvidia-geforce-rtx-4090&framework=tensorflow", ['pip install "tensorflow[and-cuda]==2.21.0"']),
        ("nvidia-geforce-rtx-4090&framework=vllm", ["pip install vllm==0.33.0"]),
        ("nvidia-geforce-rtx-3090&framework=vllm&driver=535", ["pip install vllm==0.19.1"]),
        ("nvidia-geforce-rtx-3090&framework=vllm&python=3.10&installer=uv", ["uv pip install vllm==0.31.0"]),
        ("nvidia-geforce-rtx-3090&framework=sglang&driver=535", ["pip install sglang==0.5.10.post1"]),
        ("nvidia-v100-sxm2&framework=vllm", ["pip install vllm==0.19.1"]),
        ("nvidia-geforce-gtx-1080&framework=vllm", []),
        ("nvidia-geforce-rtx-4090&framework=mlx", ['pip install "mlx[cuda13]==0.32.4"']),
        ("nvidia-geforce-rtx-5090&framework=mlx&driver=570", ['pip install "mlx[cuda12]==0.32.4"']),
        ("nvidia-geforce-rtx-5090&framework=mlx&driver=550.54", []),
        ("amd-mi300x", [f"pip install torch==2.14.1 torchvision==0.29.2 --index-url {ROCM_INDEX}7.14"]),
        ("amd-rx-7900-xtx&installer=uv", [f"uv pip install torch==2.14.1 torchvision==0.29.2 --index-url {ROCM_INDEX}7.14"]),
        ("amd-radeon-8060s", [f"pip install torch==2.14.1 torchvision==0.29.2 --index-url {ROCM_INDEX}7.14"]),
        ("amd-mi50", ["pip install torch==2.7.1 torchvision==0.22.1 torchaudio==2.7.1 --index-url https://download.pytorch.org/whl/rocm6.3"]),
        ("amd-rx-6600&framework=pytorch&system=linux-x86_64", []),
        (
            "intel-arc-b580&system=windows-x86_64",
            ["pip install torch torchvision torchaudio --index-url https://download.pytorch.org/whl/xpu"],
        ),
        (
            "apple-m4-max-40&framework=tensorflow",
            ["pip install tensorflow==2.18.1", "pip install tensorflow-metal==1.2.0"],
        ),
        ("apple-m4-max-40&framework=mlx", ["pip install mlx==0.32.4"]),
        ("apple-m4-max-40&torch=2.14.1", ["pip install torch==2.14.1 torchvision==0.29.2 torchaudio==2.11.1"]),
        (
            "nvidia-jetson-agx-orin-64gb",
            ["pip install torch==2.8.0 torchvision==0.23.0 --index-url https://pypi.jetson-ai-lab.io/jp6/cu126"],
        ),
        (
            "nvidia-dgx-spark-gb10&framework=vllm",
            [
                "docker pull nvcr.io/nvidia/vllm:25.11-py3",
                ("docker run -it --gpus all -p 8000:8000 nvcr.io/nvidia/vllm:25.11-py3"
                " vllm serve Qwen/Qwen2.5-Math-1.5B-Instruct"),
            ],
        ),
        (
            "intel-gaudi3",
            [
                ("docker run -it --runtime=habana -e HABANA_VISIBLE_DEVICES=all"
                " -e OMPI_MCA_btl_vader_single_copy_mechanism=none --cap-add=sys_nice --net=host --ipc=host"
                " vault.habana.ai/gaudi-docker/1.23.0/ubuntu24.04/habanalabs/pytorch-installer-2.9.0:latest"),
            ],
        ),
        ("google-tpu-v5e&framework=jax", ['pip install -U "jax[tpu]"']),
        ("google-tpu-v5e&framework=vllm", ["uv pip install vllm-tpu"]),
        ("aws-trainium2&framework=jax", [f'pip install "jax-neuronx[stable]" --extra-index-url={NEURON}']),
        (
            "huawei-ascend-910b&system=linux-aarch64",
            ["pip install torch==2.12.0", "pip install pyyaml setuptools", "pip install torch-npu==2.12.0"],
        ),
        ("hailo-8", ["git clone --branch hailo8 https://github.com/hailo-ai/hailort.git"]),
    ],
)  # fmt: skip
def test_exact_commands(ask, query, commands):
    assert ask(f"accelerator={query}")["commands"] == commands


def test_a_release_that_does_not_run_is_named_and_nothing_is_said_of_the_others(ask):
    answer = ask("accelerator=nvidia-geforce-rtx-5090&system=linux-x86_64&torch=2.5.1")
    assert (answer["outcome"], answer["commands"]) == ("fails", [])
    assert answer["answer"] == ("PyTorch 2.5.1 does not run on NVIDIA GeForce RTX 5090 under Linux, x86-64 as chosen")


def test_an_old_macos_is_no_word_on_the_card(ask):
    answer = ask("accelerator=apple-m1-8&framework=mlx&macos=11")
    assert answer["answer"] == (
        "No release on record of MLX runs on Apple M1 (8-core GPU) under macOS, Apple silicon as chosen"
    )


def test_a_mac_with_an_intel_processor_gets_the_last_torch_for_it(ask, client):
    answer = ask("accelerator=cpu&system=macos-x86_64")
    assert answer["commands"] == ['pip install torch==2.2.2 torchvision==0.17.2 torchaudio==2.2.2 "numpy<2"']
    assert (answer["needs"], answer["pythons"]) == (["macOS ≥ 10.13"], ["3.8", "3.9", "3.10", "3.11", "3.12"])
    text = words_of(client.get("/plan/?accelerator=cpu&system=macos-x86_64"))
    assert "From torch 2.3.0 on there is no wheel for macOS, Intel processor" in text
    assert "torch 2.2.2 does not take NumPy 2.0; torch 2.3.0 is the first that does" in text
    assert "mps" not in text.lower().partition("what will not work")[2].partition("diagram of the plan")[0]


def test_an_update_of_macos_is_planned_for_as_its_release(ask):
    answer = ask("accelerator=apple-m4-max-40&macos=13.5")
    assert answer["commands"] == ["pip install torch==2.8.0 torchvision==0.23.0 torchaudio==2.8.0"]
    assert answer["needs"] == ["macOS ≥ 13.0"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("nvidia-geforce-gtx-1060-6gb&torch=2.15.0", "torch 2.15.0+cu130 carries no code for GeForce GTX 1060 6GB"),
        ("nvidia-geforce-gtx-1060-6gb&driver=400", "No source says which GPUs torch 1.7.1 (cu92) supports."),
        ("apple-m4-max-40&macos=12&torch=2.15.0", "torch 2.15.0 needs macOS 15.0 to use the GPU; this Mac has 12"),
        ("nvidia-t4&framework=vllm&system=windows-x86_64", "vLLM does not support Windows itself: use WSL2."),
    ],
)
def test_an_answer_that_is_no_yes_has_its_reasons(ask, query, reason):
    answer = ask(f"accelerator={query}")
    assert answer["outcome"] != "works"
    assert any(line.startswith(reason) for line in answer["reasons"])


def test_what_is_needed_is_the_oldest_driver_not_the_one_that_was_typed(ask):
    (needed,) = ask("accelerator=nvidia-h100-sxm5-80gb&driver=470")["needs"]
    assert needed.startswith("NVIDIA driver ≥ ")
    assert not needed.endswith("470")


def test_free_threaded_pythons_are_left_out_for_rocm_too(ask):
    assert not [version for version in ask("accelerator=amd-mi300x")["pythons"] if version.endswith("t")]


def test_every_sheet_with_a_compute_capability_is_planned_by_it(curated, db):
    catalogue, tables = public_catalogue(), rule_tables()
    differing = {}
    for row in catalogue.accelerators:
        published = {value.value for value in catalogue.preferred(row.pk, "compute_capability")}
        if published and find_target(tables, row.slug).capability not in published:
            differing[row.slug] = published
    assert differing == {}


@pytest.mark.parametrize(
    ("slug", "systems"),
    [
        ("nvidia-jetson-agx-orin-64gb", {"jetpack"}),
        ("nvidia-dgx-spark-gb10", {"linux-aarch64"}),
        ("nvidia-gb200", {"linux-aarch64"}),
        ("apple-m4-max-40", {"macos-arm64"}),
    ],
)
def test_a_system_is_offered_only_where_the_hardware_runs_it(curated, db, slug, systems):
    tables = rule_tables()
    found = ways(tables, find_target(tables, slug))
    assert {way.system for way in found if way.system} == systems


def test_a_laptop_version_is_planned_as_its_chip(ask):
    answer = ask("accelerator=nvidia-geforce-rtx-5090-laptop")
    assert answer["outcome"] == "works"
    assert answer["commands"][0].startswith("pip install torch==")


def test_a_refusal_says_what_runs_instead(ask, client):
    answer = ask("accelerator=nvidia-geforce-gtx-1080&framework=vllm")
    assert (answer["outcome"], answer["source"]["read_on"]) == ("fails", "2026-11-27")
    assert answer["reasons"][0] == "vLLM 0.33.0 needs compute capability 7.5 or newer"
    text = words_of(client.get("/plan/?accelerator=nvidia-geforce-gtx-1080&framework=vllm"))
    assert "No release on record of vLLM supports" in text
    assert "JAX runs" in text


@pytest.mark.parametrize(
    ("query", "parameter", "said"),
    [
        ("", "accelerator", "Name an accelerator"),
        ("accelerator=nvidia-h9000", "accelerator", "Unknown accelerator"),
        (
            "accelerator=nvidia-t4&framework=%3Cscript%3E",
            "framework",
            "choose pytorch, jax, tensorflow, vllm, sglang, mlx",
        ),
        ("accelerator=nvidia-t4&installer=" + "x" * 5000, "installer", ""),
        ("accelerator=nvidia-t4&system=plan9", "system", "choose linux-x86_64"),
        ("accelerator=hailo-8&framework=own&installer=pip", "installer", "choose source"),
        ("accelerator=apple-m4-max-40&system=macos-x86_64", "system", "planned with accelerator=cpu"),
        ("accelerator=cpu&system=macos-x86_64&macos=27", "macos", "27 does not run on a Mac with an Intel processor"),
        ("accelerator=cpu&system=macos-x86_64&torch=2.15.0", "torch", "no wheel for macOS, Intel processor"),
        ("accelerator=apple-m4-max-40&macos=13.5beta", "macos", "Unknown macOS release"),
        ("accelerator=nvidia-t4%27%20OR%201=1--", "accelerator", "Unknown accelerator"),
    ],
)
def test_a_program_is_refused_what_does_not_exist(curated, client, db, query, parameter, said):
    answer = client.get(f"/plan/?{query}&format=json")
    assert answer.status_code == 422
    refusal = json.loads(answer.content)
    assert refusal["field"] == parameter
    assert said in refusal["error"]
    assert len(answer.content) < 1000


@pytest.mark.parametrize(
    ("query", "parameter", "reason"),
    [
        ("nvidia-geforce-rtx-3090&framework=jax&torch=2.9.0", "torch", "“torch” changes nothing in this plan"),
        ("nvidia-geforce-rtx-3090&framework=vllm&installer=container&driver=535", "driver", "changes nothing"),
        ("amd-mi300x&driver=535", "driver", "changes nothing"),
        ("apple-m4-max-40&driver=535", "driver", "changes nothing"),
        ("nvidia-t4&macos=26", "macos", "changes nothing"),
        ("nvidia-jetson-agx-orin-64gb&driver=580", "driver", "changes nothing"),
        ("nvidia-t4&accelerator=nvidia-l4", "accelerator", "“accelerator” is given more than once"),
        ("nvidia-t4&driver=580&driver=535", "driver", "“driver” is given more than once"),
        ("nvidia-t4&pyhton=3.9", "pyhton", "Unknown parameter “pyhton”"),
        ("cpu&driver=535", "driver", "changes nothing"),
        ("cpu&framework=jax", "framework", "A plan for the CPU is for pytorch"),
    ],
)
def test_a_choice_that_changes_nothing_is_refused(curated, client, db, query, parameter, reason):
    answer = client.get(f"/plan/?accelerator={query}&format=json")
    assert (answer.status_code, answer.json()["field"]) == (422, parameter)
    assert reason in answer.json()["error"]
    page = client.get(f"/plan/?accelerator={query}")
    assert page.status_code == 422
    assert reason in words_of(page)


def test_a_framework_says_why_its_newest_release_is_passed_over(ask, client):
    query = "accelerator=nvidia-geforce-rtx-3090&framework=vllm&driver=535"
    answer = ask(query)
    assert answer["reasons"] == ["vLLM 0.33.0 for CUDA 13.0 needs driver 580.65.06 or newer: has 535"]
    assert answer["needs"][0] == "NVIDIA driver ≥ 525.60.13"
    assert answer["pins"] == ["torch 2.10.0", "torchvision 0.25.0", "torchaudio 2.10.0"]
    text = words_of(client.get(f"/plan/?{query}"))
    assert "Why not the newest vLLM 0.33.0 for CUDA 13.0 needs driver 580.65.06" in text


# --- the files ---


def test_the_files_name_only_what_exists():
    keys = {group.key for group in groups()}
    for row in support_rows():
        assert row.framework in FRAMEWORKS
        assert row.group in keys
        assert set(row.systems) <= {EVERY_SYSTEM, *SYSTEMS}
        assert row.installer in {"", *INSTALLERS}
        assert row.outcome in {"works", "fails", "cannot-tell", BY_TABLES}
        if row.outcome == BY_TABLES:
            assert (row.framework in PACKAGES, row.installer, row.commands, row.pythons) == (True, "pip", (), ())
        else:
            assert bool(row.installer) == bool(row.commands), row
            assert row.commands or row.note, row


def test_each_guide_has_a_day_and_each_source_is_used():
    used = {row.guide.source.key for row in support_rows()}
    assert used == set(guides())
    for guide in guides().values():
        assert guide.source.url.startswith("https://")
        assert time.strptime(guide.read_on, "%Y-%m-%d")

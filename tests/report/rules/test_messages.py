"""Error messages are explained, unless a rule has found the cause."""

import pytest

from stackviz.report.dumps.machines import machines
from stackviz.report.importers import read_all
from tests.report.rules.build import answer, answers, card, linux, report


def test_a_message_alone_has_its_causes_and_the_command_to_run_next():
    found = answer("error-message", report({"message.symptoms": "driver-too-old"}))
    assert (found.severity, found.component) == ("broken", "nvidia-driver")
    assert found.title == "The NVIDIA driver on your system is too old (found version 11040)"
    assert "Most likely: The driver is older" in found.explanation
    assert "Less likely: " in found.explanation
    assert found.advice == "Run this and paste what it prints: python -m torch.utils.collect_env"
    assert found.source_url == "https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html"


def test_a_cause_that_what_was_compared_speaks_against_comes_last_with_the_reason():
    found = answer("error-message", linux(message__symptoms="driver-too-old"))  # whose driver is new enough
    likely, against = found.explanation.split("Not the cause here (")
    assert against.startswith("CUDA 13.0 needs driver 580.65.06 or newer: has 580.95.05): The driver is older")
    assert "The driver is older" not in likely


def test_a_message_is_called_by_what_was_pasted():
    found = answer(
        "error-message", linux(message__symptoms="driver-too-old", message__quotes="driver is too old, 11070")
    )
    assert found.title == "driver is too old, 11070"


def test_of_two_messages_on_one_line_the_one_that_says_more_is_explained():
    quotes = "no CUDA-capable device is detected ¶ ggml_cuda_init: failed: no CUDA-capable device is detected"
    report = linux(message__symptoms="cuda-100 ggml-cuda-failed", message__quotes=quotes)
    assert [found.title for found in answers("error-message", report)] == [quotes.split(" ¶ ")[1]]


def test_a_message_whose_cause_a_rule_finds_is_not_explained_twice():
    report = linux(message__symptoms="cuda-802", cuda__init_code=802, cuda__available=False)
    assert answer("err802-fabric", report).severity == "broken"
    assert answers("error-message", report) == []


def test_a_symptom_that_this_site_does_not_know_is_left_out():
    assert answers("error-message", linux(message__symptoms="of-tomorrow")) == []


def test_a_message_against_all_that_the_text_says_is_a_contradiction():
    seen = linux(
        card(name="Tesla K80", compute_capability="3.7"), message__symptoms="capability-not-supported",
        torch__arch_list="sm_37 sm_50 sm_60 sm_70 compute_37",
    )  # fmt: skip
    found = answer("error-message", seen)
    assert "The text contradicts itself" in found.explanation
    assert "carries code for capability 3.7" in found.explanation
    alone = answer("error-message", report({"message.symptoms": "capability-not-supported"}))
    assert "contradicts itself" not in alone.explanation


NO_KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
NEWER, DROPPED = "The card is newer than the build of torch.", "The build of torch has dropped the card."
EITHER = "The card is newer than the build, or the build has dropped it; no card is named here."
EXTENSION = "An extension (flash-attn, xFormers, a custom kernel) was built for other cards."


@pytest.mark.parametrize(
    ("text", "first", "others"),
    [
        (NO_KERNEL, EITHER, [EXTENSION]),
        (f"{NO_KERNEL}\nGPU: NVIDIA GeForce RTX 5090", NEWER, [EXTENSION]),
        (f"My RTX 5090 fails with: {NO_KERNEL}", NEWER, [EXTENSION]),
        (f"{NO_KERNEL}\n\nI have a Tesla K80 and cannot buy another card.", DROPPED, [EXTENSION]),
        (f"{NO_KERNEL}\nGPU 0: Tesla P100-PCIE-16GB (UUID: GPU-00000000-0000-0000-0000-0000)", DROPPED, [EXTENSION]),
        (f"On two T4 in the cloud: {NO_KERNEL}", EXTENSION, []),
        (f"It runs on a GTX 1080 and not on an RTX 5090: {NO_KERNEL}", NEWER, [DROPPED, EXTENSION]),
    ],
)
def test_only_the_causes_that_fit_the_card_are_named(text, first, others):
    [machine] = machines(read_all(text))
    explanation = answer("error-message", machine.report()).explanation
    assert explanation.partition("(error 209). ")[2].removeprefix("Most likely: ").startswith(first)
    named = [cause for cause in (NEWER, DROPPED, EITHER, EXTENSION) if cause in explanation]
    assert sorted(named) == sorted([first, *others])


def test_a_message_that_calls_the_card_too_old_says_no_other_cause():
    [machine] = machines(read_all("PyTorch no longer supports this GPU because it is too old."))
    assert "newer than the build" not in answer("error-message", machine.report()).explanation


def test_the_title_is_what_the_user_pasted_even_where_it_is_short():
    [machine] = machines(read_all("xFormers was built for: PyTorch 2.9.0+cu128"))
    assert answer("error-message", machine.report()).title == "xFormers was built for: PyTorch 2.9.0+cu128"


REFUSED = (
    "NVIDIA GeForce RTX 5060 Ti with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n"
    "The current PyTorch install supports CUDA capabilities sm_37 sm_90 compute_37.\n"
)


def test_a_warning_of_torch_counts_more_than_ptx_in_its_list():
    [machine] = machines(read_all(REFUSED))
    assert answer("kernels-missing", machine.report()).severity == "broken"
    assert answers("error-message", machine.report()) == []


NO_WHEEL = "ERROR: Could not find a version that satisfies the requirement torch==2.7.1 (from versions: {})\n"
ON_ITS_INDEX = "exists only in PyTorch's own index"


@pytest.mark.parametrize(
    ("text", "first", "absent"),
    [
        (NO_WHEEL.format("2.2.0, 2.2.1, 2.2.2"), "This Python is of x86_64, on a Mac", ON_ITS_INDEX),
        ("Because torch>=2.7 has no wheels with a matching platform tag (e.g., `macosx_26_0_x86_64`)",
         "This Python is of x86_64, on a Mac", ON_ITS_INDEX),
        ("Surface with Snapdragon X\n" + NO_WHEEL.format("none"), "This Python is of Windows on ARM", "Mac: torch ended"),
        (NO_WHEEL.format("none"), "Python is newer or older", "Windows on ARM"),
        ("On Windows 11: AssertionError: Torch not compiled with CUDA enabled", "pip took the wheel", "On a Mac"),
        ("On my MacBook: AssertionError: Torch not compiled with CUDA enabled", "On a Mac there is no CUDA", "pip took"),
    ],
)  # fmt: skip
def test_causes_are_sorted_by_what_the_text_hints_at(text, first, absent):
    [machine] = machines(read_all(text))
    found = answer("error-message", machine.report())
    assert found.explanation.partition("Most likely: ")[2].startswith(first)
    assert absent not in f"{found.explanation} {found.advice}"


@pytest.mark.parametrize(
    ("text", "advice", "never"),
    [
        (f"image: vllm/vllm-openai:v0.10.0\n{REFUSED}", "docker pull vllm/vllm-openai:latest", "pip install"),
        (
            "C:\\ComfyUI>.\\python_embeded\\python.exe -s main.py\nAssertionError: Torch not compiled with CUDA enabled",
            ".\\python_embeded\\python.exe -m torch.utils.collect_env",
            ": python -m",
        ),
    ],
)  # fmt: skip
def test_the_step_is_that_of_the_program_around_torch(text, advice, never):
    [machine] = machines(read_all(text))
    advised = " ".join(
        found.advice
        for found in (*answers("kernels-missing", machine.report()), *answers("error-message", machine.report()))
    )
    assert advice in advised
    assert never not in advised


def test_a_release_that_was_never_built_for_that_cuda_is_named():
    [machine] = machines(read_all("ERROR: No matching distribution found for torch==2.15.0+cu126"))
    found = answer("index-lacks-build", machine.report())
    assert "cu126" not in found.advice
    assert "--index-url https://download.pytorch.org/whl/cu1" in found.advice


LISTED = "ERROR: Could not find a version that satisfies the requirement {} (from versions: {})"


@pytest.mark.parametrize("build", ["torch==2.3.0+cu118", "torchvision==0.18.0+cu121", "torch==2.6.0+rocm6.2.4"])
def test_a_listed_release_means_that_its_index_was_not_asked(build):
    release = build.partition("==")[2].partition("+")[0]
    variant = build.partition("+")[2]
    [machine] = machines(read_all(LISTED.format(build, f"0.1.0, {release}, 9.9.9")))
    found = answer("index-not-asked", machine.report())
    assert found.advice == f"pip install {build} --index-url https://download.pytorch.org/whl/{variant}"
    assert not answers("error-message", machine.report())


@pytest.mark.parametrize(
    ("build", "offered"),
    [("torch==2.3.0+cu118", "2.4.0, 2.3.0.1, 12.3.0"), ("torch==2.3.0", "2.4.0"), ("torch==2.3.0+cu118", "none")],
)
def test_a_release_that_is_not_listed_may_lack_this_python(build, offered):
    [machine] = machines(read_all(LISTED.format(build, offered)))
    assert not answers("index-not-asked", machine.report())
    [found] = answers("error-message", machine.report())
    assert "Most likely: Python is newer or older" in found.explanation


@pytest.mark.parametrize(
    ("have", "need", "remedy"),
    [("x86_64", "arm64", "arm64 Python"), ("x86_64", "arm64e", "arm64 Python"), ("arm64", "x86_64", "Rosetta")],
)
@pytest.mark.parametrize(
    "wording",
    [
        "ImportError: tried: '/a/b.so' (mach-o file, but is an incompatible architecture (have '{}', need '{}'))",
        "dlopen(/a, 6): '/a' (mach-o file, but is an incompatible architecture (have ({}), need ({})))",
        "ld: warning: ignoring file b.o: found architecture '{}', required architecture '{}'",
    ],
)
def test_a_library_of_the_other_architecture_of_a_mac_is_named(wording, have, need, remedy):
    [machine] = machines(read_all(wording.format(have, need)))
    [found] = answers("error-message", machine.report())
    assert remedy in found.explanation


def test_a_dump_counts_more_than_the_words_around_it():
    seen = linux(message__symptoms="torch-without-cuda", message__hints="mac apple-silicon")
    assert "On a Mac there is no CUDA" not in " ".join(found.explanation for found in answers("error-message", seen))


def test_a_message_that_says_only_that_something_failed_is_silent_below_its_cause():
    text = "fatal error: Python.h: No such file or directory\nERROR: Failed building wheel for flash-attn\n"
    [machine] = machines(read_all(text))
    assert [found.title for found in answers("error-message", machine.report())] == [text.partition("\n")[0]]
    [machine] = machines(read_all("ERROR: Failed building wheel for flash-attn"))
    assert answer("error-message", machine.report()).severity == "warning"


def test_a_torch_without_cuda_on_aarch64_names_an_index():
    [machine] = machines(read_all("GH200 node, aarch64\n>>> torch.version.cuda is None\nTrue\n"))
    assert "On aarch64 name the index" in answer("cpu-only-torch", machine.report()).advice

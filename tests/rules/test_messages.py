"""Error messages are explained, unless a rule has found the cause."""

from tests.rules.build import answer, answers, linux


def test_a_message_alone_has_its_causes_and_the_command_to_run_next():
    found = answer("error-message", linux(message__symptoms="driver-too-old"))
    assert (found.severity, found.component) == ("broken", "nvidia-driver")
    assert found.title == "The NVIDIA driver on your system is too old (found version 11040)"
    assert "Causes, the likeliest first: (1) The driver is older" in found.explanation
    assert found.advice == "Run this and paste what it prints: python -m torch.utils.collect_env"
    assert found.source_url == "https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html"


def test_a_message_whose_cause_a_rule_finds_is_not_explained_twice():
    report = linux(message__symptoms="cuda-802", cuda__init_code=802, cuda__available=False)
    assert answer("err802-fabric", report).severity == "broken"
    assert answers("error-message", report) == []


def test_a_symptom_that_this_site_does_not_know_is_left_out():
    assert answers("error-message", linux(message__symptoms="of-tomorrow")) == []

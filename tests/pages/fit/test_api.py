"""`/api/v1/fit/`: the answer has every part, and what cannot be used is refused by name."""

import pytest

from stackviz.pages.fit.language_models import language_models

M1, M4, L4 = "apple-m1-8", "apple-m4-max-40", "nvidia-l4"
ASKED = f"accelerator={M4}&model=llama-3-70b&precision=q4_k_m&context=4096&batch=1"


KNOWN, CUSTOM = f"accelerator={M4}&model=llama-3-8b", f"accelerator={M4}&model=custom"
# Each is refused by the name of its parameter.
WRONG_OF_KNOWN = [
    "precision=q9", "context=0", "context=99999999", "context=-1", "batch=1e9", "depth=5000", "cards=0", "memory=63",
    "task=dreaming", "layers=3", "page=2", "nonsense=1", "model=llama-2-7b",
]  # fmt: skip
WRONG_OF_CUSTOM = ["layers=0", "parameters=1000000000000000", "parameters=1e15", "parameters=many"]


@pytest.fixture
def fit(fit_site):
    def ask(query):
        response = fit_site.get(f"/api/v1/fit/?{query}")
        return response.status_code, response.json()

    return ask


def test_a_model_that_fits_has_rates_bound_and_origin(fit):
    status, answer = fit(ASKED)
    assert status == 200
    assert answer["fits"] is True
    assert 43e9 < answer["needed_bytes"] < 46e9
    assert answer["available_bytes"] == 64 * 2**30 * 3 // 4
    for rates in (answer["decode_tokens_per_s"], answer["prefill_tokens_per_s"]):
        assert 0 < rates["low"] < rates["mid"] < rates["high"]
    assert 5 < answer["decode_tokens_per_s"]["mid"] < 13  # 546 GB/s over 43 GB are 12.8
    assert answer["bound_by"] == "bandwidth"
    assert answer["efficiency"]["from"] == "accelerator"
    assert answer["efficiency"]["measured"] == 0
    assert 0 < answer["efficiency"]["value"] < 1
    assert sum(part["bytes"] for part in answer["parts"]) == pytest.approx(answer["needed_bytes"], abs=10)
    inputs = answer["inputs"]
    assert (inputs["memory_gb"], inputs["bandwidth_bytes_per_s"], inputs["depth"]) == (64, 546e9, 2048)
    assert inputs["precision"] == "q4_k_m"
    assert fit(ASKED.replace("q4_k_m", "Q4_K_M")) == (status, answer)


def test_a_model_that_does_not_fit_has_no_rates(fit):
    status, answer = fit(f"accelerator={L4}&model=llama-3-70b")
    assert status == 200
    assert answer["fits"] is False
    assert answer["needed_bytes"] > answer["available_bytes"]
    assert answer["decode_tokens_per_s"] is answer["prefill_tokens_per_s"] is answer["efficiency"] is None


def test_training_needs_more_and_has_no_rates(fit):
    _status, running = fit("accelerator=nvidia-h100-sxm5-80gb&model=llama-3-8b&precision=bf16")
    _status, training = fit("accelerator=nvidia-h100-sxm5-80gb&model=llama-3-8b&precision=bf16&task=full")
    _status, lora = fit("accelerator=nvidia-h100-sxm5-80gb&model=llama-3-8b&precision=nf4&task=lora")
    assert (running["fits"], training["fits"], lora["fits"]) == (True, False, True)
    assert training["needed_bytes"] > 6 * running["needed_bytes"]
    assert training["decode_tokens_per_s"] is None


def test_every_memory_size_is_answered(fit):
    _status, every = fit(f"accelerator={M1}&model=llama-3.1-8b")
    assert [(size["memory_gb"], size["fits"]) for size in every["sizes"]] == [(8, False), (16, True)]
    assert (every["fits"], every["inputs"]["memory_gb"]) == (True, 16)
    status, small = fit(f"accelerator={M1}:8&model=llama-3.1-8b")
    assert (status, small["fits"], small["inputs"]["memory_gb"]) == (200, False, 8)
    assert small["sizes"] == every["sizes"][:1]
    assert fit(f"accelerator={M1}&model=llama-3.1-8b&memory=8") == (200, small)


def test_typed_numbers_describe_a_model_of_ones_own(fit):
    shape = "layers=32&hidden=4096&heads=32&kv_heads=8&head_size=128&intermediate=14336&vocabulary=128256"
    _status, known = fit(f"accelerator={M4}&model=llama-3-8b")
    _status, typed = fit(f"accelerator={M4}&model=custom&{shape}")
    assert typed["needed_bytes"] == known["needed_bytes"]
    status, by_count = fit(f"accelerator={M4}&model=custom&parameters=8.03B")
    assert status == 200
    assert by_count["inputs"]["parameters"] == pytest.approx(8.03e9, rel=0.01)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("model=llama-3-8b", "accelerator"),
        (f"accelerator={M4}", "model"),
        ("accelerator=nvidia-h999&model=llama-3-8b", "accelerator"),
        (f"accelerator={M4}&accelerator={L4}&model=llama-3-8b", "accelerator"),
        (f"accelerator={M4}&model=llama-9", "model"),
        ("accelerator=hailo-8&model=llama-3-8b", "accelerator"),
        ("accelerator=hailo-8:8&model=llama-3-8b", "accelerator"),
        ("accelerator=nvidia-h999:8&model=llama-3-8b", "accelerator"),
        (f"accelerator={M1}:12&model=llama-3-8b", "accelerator"),
        (f"accelerator={M1}:x&model=llama-3-8b", "accelerator"),
        (f"accelerator={M1}:8&accelerator={M1}:16&model=llama-3-8b", "accelerator"),
        (f"accelerator={M1}:8&memory=16&model=llama-3-8b", "memory"),
        (f"{KNOWN}&task=full&precision=q4_0", "precision"),
        (f"{KNOWN}&context=4096&context=8192", "context"),
        (f"{CUSTOM}&layers=1000&hidden=131072&intermediate=1048576", "parameters"),
        (f"{CUSTOM}&parameters=8B&intermediate=100", "parameters"),
        (f"{CUSTOM}&heads=32&kv_heads=5", "kv_heads"),
        (f"{CUSTOM}&experts=2&experts_per_token=3", "experts_per_token"),
        (f"{CUSTOM}&window=128&window_layers=99", "window_layers"),
        *((f"{KNOWN}&{typed}", typed.partition("=")[0]) for typed in WRONG_OF_KNOWN),
        *((f"{CUSTOM}&{typed}", typed.partition("=")[0]) for typed in WRONG_OF_CUSTOM),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(fit, query, field):
    status, answer = fit(query)
    assert (status, answer["field"]) == (422, field)
    assert answer["error"]


def test_a_size_the_sheet_lacks_is_refused_with_its_sizes(fit):
    for query, field in ((f"accelerator={M1}:12", "accelerator"), (f"accelerator={M1}&memory=12", "memory")):
        status, answer = fit(f"{query}&model=llama-3.1-8b")
        assert (status, answer["field"]) == (422, field)
        assert answer["error"] == "Apple M1 (8-core GPU) has 8 or 16 GB, not “12”"


def test_the_models_are_listed_with_their_sources(fit_site):
    answer = fit_site.get("/api/v1/fit/models/").json()
    assert answer["count"] == len(answer["items"]) == len(language_models())
    by_slug = {item["slug"]: item for item in answer["items"]}
    assert {"llama-2-7b", "llama-3-8b", "llama-3-70b", "qwen-2.5-14b", "gpt-oss-20b", "gpt-oss-120b"} <= set(by_slug)
    assert by_slug["gpt-oss-20b"]["active_parameters"] == pytest.approx(3.6e9, rel=0.01)
    assert all(item["source_url"].startswith("https://") for item in answer["items"])


def test_both_addresses_are_in_the_document_for_machines(fit_site):
    paths = fit_site.get("/api/v1/openapi.json").json()["paths"]
    parameters = {parameter["name"] for parameter in paths["/api/v1/fit/"]["get"]["parameters"]}
    assert {"accelerator", "model", "precision", "context", "batch", "parameters"} <= parameters
    assert "/api/v1/fit/models/" in paths


def test_an_answer_costs_only_the_editions(fit_site, django_assert_max_num_queries):
    with django_assert_max_num_queries(3):
        fit_site.get(f"/api/v1/fit/?{ASKED}")

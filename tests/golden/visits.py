"""Every address that is recorded: pages of all kinds, all answers of the API, all files; then what changes the site."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.languages import chinese

DUMPS = Path(__file__).resolve().parent / "dumps"
H100, H200, A100, T4 = "nvidia-h100-sxm5-80gb", "nvidia-h200-sxm", "nvidia-a100-sxm4-80gb", "nvidia-t4"
M3_MAX, M1, MI300X, TPU = "apple-m3-max-40", "apple-m1-8", "amd-mi300x", "google-tpu-v5e"
XHR = {"HX-Request": "true"}
OF_ANOTHER_SITE = {"Sec-Fetch-Site": "cross-site"}  # so that no visit after it has the cookie of a language
ZH = {"Accept-Language": "zh-hans"}  # of the admin, which has no address for each language


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request. `user`: who is signed in, "" for nobody. `body` is sent as `content_type`; `form` as a form's."""

    name: str
    path: str
    method: str = "GET"
    user: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    form: dict[str, Any] | None = None
    body: bytes | None = None
    content_type: str = "application/json"
    settings: dict[str, Any] = field(default_factory=dict)


def named(prefix: str, paths: dict[str, str], **options: Any) -> Iterator[Visit]:
    for name, path in paths.items():
        yield Visit(name=f"{prefix}/{name}", path=path, **options)


def compare(*subjects: str, **more: str) -> str:
    return "/compare/?" + urlencode([*(("a", subject) for subject in subjects), *more.items()])


SHEETS = (H100, H200, A100, T4, "nvidia-gb200", "nvidia-k80", "nvidia-geforce-rtx-4090", "nvidia-jetson-agx-orin-64gb",
          M3_MAX, M1, "apple-m4-max-40", "apple-a19", MI300X, "amd-rx-9070-xt", TPU, "google-tpu-v7", "intel-gaudi3",
          "huawei-ascend-910b", "cerebras-wse-3", "tenstorrent-n300", "aws-trainium2", "groq-lpu-v1")  # fmt: skip
STACKS = ("nvidia-cuda", "apple-metal", "nvidia-windows", "nvidia-wsl2", "nvidia-jetson", "nvidia-dgx-spark", "apple-mlx",
          "amd-rocm", "amd-rocm-windows", "intel-xpu", "intel-xpu-windows", "google-tpu", "huawei-cann", "aws-neuron", "cpu")  # fmt: skip
COMPONENTS = ("pytorch", "cudnn", "mps", "nvidia-driver", "triton", "rocm", "libtpu", "macos", "tensor-core", "unified-memory",
              "nvidia-smi", "cuda-runtime")  # fmt: skip
OPERATORS = ("matmul", "attention", "conv2d", "optimizer-step", "all-reduce")
MACHINES = ("h100-linux", "m3-max-macos", "cpu-linux", "mixed-box", "old-driver", "prototype", "studio")

PAGES = {
    "home": "/",
    "home-unknown-parameter": "/?nonsense=1",
    "learn": "/learn/",
    "health": "/health/",
    "api-docs": "/api/v1/docs/",
    "api-root": "/api/v1/",
    "login": "/login/?next=/machines/add/",
    "forgotten-password": "/password/",
    "robots": "/robots.txt",
    "list": "/accelerators/",
    "list-2": "/accelerators/?page=2",
    "list-last": "/accelerators/?page=99",
    "list-search": "/accelerators/?q=h100",
    "list-search-nothing": "/accelerators/?q=zzzzzz",
    "list-filters": "/accelerators/?vendor=nvidia&architecture=Hopper&kind=gpu&form=sxm&supports=fp8&year_from=2020&memory_min=80&power_max=700",
    "list-two-vendors": "/accelerators/?vendor=amd&vendor=google&sort=-memory_gb&cols=memory_gb&cols=tdp_w&cols=bf16_tensor_tflops",
    "list-refused": "/accelerators/?vendor=acme&sort=nothing&year_from=abc&memory_min=-1&cols=zzz&page=x&nonsense=1",
    "claims": "/claims/",
    "claims-filters": "/claims/?verdict=wrong&q=memory",
    "claims-outdated": "/claims/?verdict=outdated",
    "claims-refused": "/claims/?verdict=zzz&format=xlsx",
    "changes": "/changes/",
    "changes-accelerator": f"/changes/?a={H100}",
    "changes-vendor": "/changes/?vendor=apple&field=memory_gb",
    "changes-refused": "/changes/?a=zzz&vendor=acme&field=nope&before=x&load=9999",
    "changes-each": "/changes/?each=1",
    "corrections": "/corrections/",
    "freshness": "/freshness/",
    "mistake": f"/accelerators/{H100}/mistake/?field=memory_gb",
    "completeness-refused-to-strangers": "/admin/catalog/completeness/",
    "stacks": "/stacks/",
    "stacks-chosen": "/stacks/?s=nvidia-cuda&s=apple-metal&only=differences",
    "stacks-words": "/stacks/?words=all",
    "support": "/stacks/nvidia-cuda/support/",
    "support-apple": "/stacks/apple-metal/support/",
    "support-rocm": "/stacks/amd-rocm/support/",
    "operators": "/operators/",
    "ladder": "/ladder/",
    "ladder-filters": "/ladder/?field=bf16_tensor_tflops&vendor=nvidia&kind=gpu&year=2020&scale=log",
    "ladder-2": "/ladder/?page=2",
    "ladder-tdp": "/ladder/?field=tdp_w",
    "ladder-refused": "/ladder/?field=zzz&vendor=acme&condition=x&scale=round&year=1&nonsense=1",
    "explore": "/explore/",
    "explore-axes": "/explore/?x=release_date&y=fp32_tflops&size=none&colour=kind",
    "explore-roofline": "/explore/?x=memory_bandwidth_gb_s&y=bf16_tensor_tflops&size=memory_gb&xscale=log&yscale=log&vendor=nvidia",
    "explore-refused": "/explore/?x=zzz&y=qqq&colour=green",
    "explore-decode": "/explore/?x=memory_bandwidth_gb_s&y=llama-bench-tg128&size=none",
    "heatmap": "/heatmap/",
    "heatmap-refused": "/heatmap/?vendor=acme&nonsense=1",
    "timeline": "/timeline/",
    "timeline-vendor": "/timeline/?vendor=nvidia",
    "timeline-refused": "/timeline/?vendor=acme",
    "benchmarks": "/benchmarks/",
    "benchmarks-refused": "/benchmarks/?nonsense=1",
    "benchmarks-of": f"/benchmarks/?accelerator={M3_MAX}",
    "benchmarks-of-unknown": "/benchmarks/?accelerator=nvidia-h999",
    "benchmarks-of-two": f"/benchmarks/?accelerator={M3_MAX}&accelerator=nvidia-geforce-rtx-4090",
    "benchmark": "/benchmarks/llama-bench/",
    "benchmark-chosen": "/benchmarks/llama-bench/?test=pp512&model=Llama+2+7B&quant=Q4_0&backend=Metal",
    "benchmark-devices": "/benchmarks/mlperf-power/?devices=8",
    "benchmark-definition": "/benchmarks/gemm/definition/",
    "benchmark-refused": "/benchmarks/gemm/?dtype=fp3&case=zzz&devices=x&format=xlsx&nonsense=1",
    "benchmark-unknown": "/benchmarks/nothing/",
    "cited-result": "/benchmarks/attention/00e9d69dbb88a3a3a802486c/",
    "cited-result-unknown": "/benchmarks/attention/nothing/",
    "results-withdrawn": "/benchmarks/withdrawn/",
    "result-measured-unknown": "/benchmarks/runs/00000000-0000-4000-8000-000000000000/0/",
    "roofline": "/roofline/",
    "roofline-figure": "/roofline/figure/?a=nvidia-h100-sxm5-80gb",
    "roofline-refused": "/roofline/?a=h999&dtype=fp3&nonsense=1",
    "share-of-peak": "/share-of-peak/",
    "scaling": "/scaling/",
    "search": "/search/",
    "search-chip": "/search/?q=h100",
    "search-typo": "/search/?q=bandwith",
    "search-chinese": "/search/?q=%E5%BC%A0%E9%87%8F%E6%A0%B8%E5%BF%83",
    "search-error": "/search/?q=CUDA+error%3A+no+kernel+image+is+available+for+execution+on+the+device",
    "search-nothing": "/search/?q=zzzzzz",
    "search-private": "/search/?q=sealed",
    "search-accelerators": "/search/accelerators/?q=m3+max",
    "search-subjects": "/search/subjects/?q=m3+max",
    "machines": "/machines/",
    "machines-search": "/machines/?q=box",
    "machines-accelerator": f"/machines/?accelerator={H100}",
    "machines-nothing": "/machines/?q=zzzz",
    "machines-add": "/machines/add/",
    "lab": "/machines/north/",
    "lab-grouped": "/machines/north/?group=torch&state=warning",
    "lab-empty": "/machines/empty/",
    "lab-private": "/machines/cellar/",
    "lab-feed": "/labs/north/events.atom",
    "lab-feed-private": "/labs/cellar/events.atom",
    "machine-private": "/machines/cellar/sealed-box/",
    "machine-waiting": "/machines/north/announced/",
    "machine-unknown": "/machines/north/nobody/",
    "machine-history": "/machines/north/h100-linux/history/",
    "machine-against": "/machines/north/h100-linux/against/?date=2026-11-21",
    "machine-against-refused": "/machines/north/h100-linux/against/?date=yesterday&report=1",
    "life": "/machines/north/h100-linux/life/",
    "life-old-driver": "/machines/north/old-driver/life/",
    "coverage": "/coverage/",
    "diagnose": "/diagnose/",
    "diagnose-save-get": "/diagnose/save/",
    "diagnose-add-get": "/diagnose/add/",
    "diagnose-unknown-link": "/diagnose/" + "x" * 43 + "/",
    "plan": "/plan/",
    "plan-t4": f"/plan/?accelerator={T4}&system=linux-x86_64&driver=580",
    "plan-h100": f"/plan/?accelerator={H100}",
    "plan-old": "/plan/?accelerator=nvidia-k80",
    "plan-old-driver": f"/plan/?accelerator={A100}&driver=470.82.01&torch=2.13.0",
    "plan-windows": "/plan/?accelerator=nvidia-geforce-rtx-4090&system=windows-x86_64",
    "plan-wsl": "/plan/?accelerator=nvidia-geforce-rtx-5090&system=wsl2&python=3.12",
    "plan-mac": f"/plan/?accelerator={M3_MAX}",
    "plan-cpu": "/plan/?accelerator=cpu",
    "plan-amd": f"/plan/?accelerator={MI300X}",
    "plan-jetson": "/plan/?accelerator=nvidia-jetson-agx-orin-64gb",
    "plan-refused": "/plan/?accelerator=zzz&system=amiga&torch=0.1&driver=abc&python=1.0",
    "fit": "/fit/",
    "fit-chosen": f"/fit/?model=llama-3-70b&accelerator={M3_MAX}&accelerator={H100}&context=8192",
    "fit-training": f"/fit/?model=llama-3-8b&task=full&cards=2&split=tensor&accelerator={H100}",
    "fit-lora": "/fit/?model=llama-3-8b&task=lora&precision=nf4&rank=64&page=2",
    "fit-custom": f"/fit/?model=custom&parameters=8B&window=1024&window_layers=16&accelerator={T4}",
    "fit-compared": f"/fit/compared/?a={M3_MAX}&a={H100}",
    "fit-refused": "/fit/?model=zzz&precision=q9&context=0&accelerator=acme&nonsense=1",
    "data": "/data/",
    "data-schema": "/data/schema/",
    "data-unknown": "/data/nothing.csv",
    "sheet-unknown": "/accelerators/nvidia-h999/",
    "stack-unknown": "/stacks/nobody/",
    "component-unknown": "/components/nobody/",
    "causes": "/causes/",
    "cause": "/causes/no-kernel-image/",
    "operator-figures": "/operators/conv2d/figures/",
    "learn-chapter": "/learn/memory-wall/",
    "learn-try": "/learn/try/roofline/",
    "operator-unknown": "/operators/nobody/",
    "operator-hostile": "/operators/%3Cscript%3E/",
    "404": "/no/such/page/",
    "400": "/accelerators/?q=%00",
    "receipt-unknown": "/receipts/00000000-0000-4000-8000-000000000000/",
}

COMPARISONS = {
    "empty": "/compare/",
    "sheets-2": compare(H100, M3_MAX),
    "sheets-3": compare(H100, MI300X, TPU),
    "sheets-4": compare(H100, H200, A100, T4, base=A100),
    "sheets-differences": compare(H100, H200, only="differences"),
    "sheets-at": compare(H100, T4, at="2026-11-18T12:00"),
    "sheets-at-past": compare(H100, M3_MAX, at="2020-01-01"),
    "stacks": compare("stack:nvidia-cuda", "stack:apple-metal"),
    "stacks-3": compare("stack:nvidia-cuda", "stack:amd-rocm", "stack:google-tpu", only="differences"),
    "machines": compare("machine:north/h100-linux", "machine:north/m3-max-macos"),
    "machines-3": compare("machine:north/h100-linux", "machine:north/mixed-box", "machine:north/cpu-linux"),
    "machine-old": compare("machine:north/h100-linux", "machine:north/old-driver"),
    "mixed": compare(H100, "stack:apple-metal", "machine:north/h100-linux"),
    "mixed-at": compare(H100, "stack:apple-metal", "machine:north/h100-linux", at="2026-11-18"),
    "one": compare(H100),
    "private": compare(H100, "machine:cellar/sealed-box"),
    "refused": compare(
        H100,
        "nvidia-h999",
        "stack:none",
        "machine:north/none",
        "x:y",
        base="zzz",
        only="zz",
        at="never",
        format="xlsx",
        more="1",
    ),
    "hostile": compare("<script>alert(1)</script>", H100),
    "too-many": compare(*SHEETS[:10]),
    "twice": compare(H100, H100),
}

FILES = {
    "list.csv": "/accelerators/?format=csv&vendor=apple",
    "list.json": "/accelerators/?format=json&vendor=apple",
    "list.xlsx": "/accelerators/?format=xlsx",
    "sheet.csv": f"/accelerators/{H100}/?format=csv",
    "sheet.json": f"/accelerators/{H100}/?format=json",
    "sheet.md": f"/accelerators/{H100}/?format=md",
    "compare.csv": compare(H100, M3_MAX, format="csv"),
    "compare.json": compare(H100, M3_MAX, format="json"),
    "compare.md": compare(H100, M3_MAX, format="md"),
    "compare.svg": compare(H100, M3_MAX, format="svg"),
    "compare-mixed.svg": compare("stack:nvidia-cuda", "machine:north/mixed-box", format="svg"),
    "compare-machines.json": compare("machine:north/h100-linux", "machine:north/m3-max-macos", format="json"),
    "stack.svg": "/stacks/nvidia-cuda/?format=svg",
    "stacks.svg": "/stacks/?format=svg&s=nvidia-cuda&s=apple-metal",
    "machine.svg": "/machines/north/mixed-box/?format=svg",
    "benchmark.csv": "/benchmarks/babelstream/?format=csv",
    "benchmark.json": "/benchmarks/babelstream/?format=json",
    "ladder.csv": "/ladder/?format=csv",
    "ladder.json": "/ladder/?format=json&field=tdp_w",
    "explore.csv": "/explore/?format=csv",
    "explore.json": "/explore/?format=json",
    "explore-no-format": "/explore/?format=plotly",
    "compare.plotly": compare("machine:north/h100-linux", "machine:north/m3-max-macos", format="plotly"),
    "machine.plotly": "/machines/north/mixed-box/?format=plotly",
    "compare-words": compare(H100, M3_MAX, "machine:north/h100-linux", format="words"),
    "machine-words": "/machines/north/mixed-box/?format=words",
    "explore-figure.json": "/explore/?format=figure",
    "claims.csv": "/claims/?format=csv",
    "claims.json": "/claims/?format=json",
    "changes.csv": "/changes/?format=csv",
    "changes.json": "/changes/?format=json",
    "picture-sheet": f"/picture/sheet/{H100}.png",
    "picture-compare": "/picture" + compare(H100, M3_MAX).replace("/?", ".png?"),
    "picture-private": "/picture" + compare(H100, "machine:cellar/sealed-box").replace("/?", ".png?"),
    "picture-benchmark": "/picture/benchmark/llama-bench.png",
    "short": "/compare/h100-sxm5-80gb-vs-m3-max-40/",
    "short-choices": "/compare/h100-sxm-vs-m3-max/",
    "short-unknown": "/compare/zzz-vs-h100/",
    "sitemap": "/sitemap.xml",
    "sitemap-accelerators": "/sitemap-accelerators.xml",
    "sitemap-machines": "/sitemap-machines.xml",
    "llms": "/llms.txt",
    "badge": f"/badge/{H100}/memory_bandwidth_gb_s.svg",
    "badge-rank": f"/badge/{H100}/memory_bandwidth_gb_s/rank.svg",
    "badge-machine": "/badge/machine/north/h100-linux/best.svg",
    "badge-private": "/badge/machine/cellar/sealed-box/best.svg",
    "embed-sheet": f"/embed/accelerators/{H100}/",
    "embed-compare": f"/embed/compare/?a={H100}&a={M3_MAX}",
    "embed-private": "/embed/compare/?a=machine:cellar/sealed-box",
    "embed-stacks": f"/embed/compare/stacks/?a={H100}&a={M3_MAX}",
    "embed-benchmark": "/embed/benchmarks/llama-bench/",
    "oembed": f"/oembed?url=http://testserver/accelerators/{H100}/",
    "oembed-refused": "/oembed?url=http://testserver/nothing/",
    "picture-plan": f"/picture/plan.png?accelerator={T4}",
    "picture-diagnosis-unknown": "/picture/diagnosis/" + "x" * 43 + ".png",
    "changes-feed": "/changes/feed/",
    "changes-feed-h100": f"/changes/feed/?a={H100}",
    "changes-feed-refused": "/changes/feed/?vendor=acme",
}

PARTS = {
    "list": "/accelerators/?vendor=amd",
    "claims": "/claims/?verdict=right",
    "ladder": "/ladder/?field=memory_gb&vendor=google",
    "explore": "/explore/?vendor=apple",
    "timeline": "/timeline/?vendor=apple",
    "machines": "/machines/?q=h100",
    "machine": "/machines/north/h100-linux/",
    "machine-history": "/machines/north/h100-linux/history/",
    "machine-against": "/machines/north/h100-linux/against/?date=2026-11-21",
    "machine-against-refused": "/machines/north/h100-linux/against/?date=yesterday&report=1",
    "life": "/machines/north/h100-linux/life/",
    "compare": compare(H100, MI300X),
    "stacks": "/stacks/?s=nvidia-cuda&s=apple-metal",
    "operators": "/operators/",
    "plan": f"/plan/?accelerator={H100}",
    "series": "/machines/north/h100-linux/series/1/",
}

API = {
    "accelerators": "/api/v1/accelerators/",
    "accelerators-page": "/api/v1/accelerators/?limit=3&offset=5&sort=-memory_gb&vendor=nvidia",
    "accelerators-fields": "/api/v1/accelerators/?fields=memory_gb,tdp_w&q=h100",
    "accelerators-filters": "/api/v1/accelerators/?vendor=amd&supports=fp8&year_from=2020&memory_min=100&power_max=1000",
    "accelerators-refused-vendor": "/api/v1/accelerators/?vendor=acme",
    "accelerators-refused-sort": "/api/v1/accelerators/?sort=zzz",
    "accelerators-refused-year": "/api/v1/accelerators/?year_from=abc",
    "accelerators-refused-fields": "/api/v1/accelerators/?fields=zzz",
    "accelerators-refused-limit": "/api/v1/accelerators/?limit=100000",
    "accelerators-refused-limit-text": "/api/v1/accelerators/?limit=abc",
    "accelerators-refused-parameter": "/api/v1/accelerators/?nonsense=1",
    "accelerators-past-the-end": "/api/v1/accelerators/?offset=100000",
    **{f"accelerator-{slug}": f"/api/v1/accelerators/{slug}/" for slug in (H100, M3_MAX, MI300X, TPU, "nvidia-k80")},
    "accelerator-alternatives": f"/api/v1/accelerators/{T4}/?alternatives=1",
    "accelerator-fields": f"/api/v1/accelerators/{T4}/?fields=memory_gb",
    "accelerator-at": f"/api/v1/accelerators/{T4}/?at=2026-11-18T12:00",
    "accelerator-at-past": f"/api/v1/accelerators/{H100}/?at=2020-01-01",
    "accelerator-at-refused": f"/api/v1/accelerators/{H100}/?at=never",
    "accelerator-unknown": "/api/v1/accelerators/nvidia-h999/",
    "values": "/api/v1/values/?field=memory_bandwidth_gb_s",
    "values-condition": "/api/v1/values/?field=bf16_tensor_tflops&vendor=nvidia&alternatives=1&limit=50",
    "values-page": "/api/v1/values/?limit=20&offset=40",
    "values-refused": "/api/v1/values/?field=zzz",
    "values-refused-condition": "/api/v1/values/?field=memory_gb&condition=zzz",
    "fields": "/api/v1/fields/",
    "sources": "/api/v1/sources/?limit=40",
    "sources-search": "/api/v1/sources/?q=nvidia&kind=maker",
    "sources-refused": "/api/v1/sources/?kind=zzz",
    "cited": "/api/v1/cited/?limit=20",
    "cited-filters": f"/api/v1/cited/?accelerator={M3_MAX}&benchmark=llama-bench&limit=5",
    "cited-doubtful": "/api/v1/cited/?state=doubtful&limit=5",
    "cited-refused-state": "/api/v1/cited/?state=zzz",
    "cited-unknown-accelerator": "/api/v1/cited/?accelerator=nvidia-h999",
    "cited-benchmarks": "/api/v1/cited/benchmarks/",
    "cited-one": "/api/v1/cited/1/",
    "cited-unknown": "/api/v1/cited/999999999/",
    "stacks": "/api/v1/stacks/",
    **{f"stack-{slug}": f"/api/v1/stacks/{slug}/" for slug in ("nvidia-cuda", "apple-metal", "google-tpu", "cpu")},
    "stack-unknown": "/api/v1/stacks/none/",
    "machines": "/api/v1/machines/",
    "machines-search": f"/api/v1/machines/?q=box&accelerator={H100}&limit=2",
    "machines-refused": "/api/v1/machines/?limit=abc",
    **{f"machine-{slug}": f"/api/v1/machines/north/{slug}/" for slug in MACHINES},
    "machine-private": "/api/v1/machines/cellar/sealed-box/",
    "machine-unknown": "/api/v1/machines/north/none/",
    "report-schema": "/api/v1/schema/report.json",
    "openapi": "/api/v1/openapi.json",
    "unknown": "/api/v1/none/",
    "key-missing": "/api/v1/key/",
    "report-unknown": "/api/v1/reports/00000000-0000-4000-8000-000000000000/",
    "report-no-id": "/api/v1/reports/none/",
    "reports-get": "/api/v1/reports/",
    "diagnose-get": "/api/v1/diagnose/",
    "fit": f"/api/v1/fit/?accelerator={H100}&model=llama-3-70b&precision=q4_0&context=4096&batch=1",
    "fit-training": f"/api/v1/fit/?accelerator={M3_MAX}&model=llama-3-8b&precision=nf4&task=lora",
    "fit-refused": f"/api/v1/fit/?accelerator={H100}&model=custom&layers=0",
    "fit-models": "/api/v1/fit/models/",
}

ADMIN = {
    "index": "/admin/",
    "accelerators": "/admin/catalog/accelerator/",
    "values": "/admin/catalog/specvalue/?accelerator__vendor__id__exact=1&q=memory_gb",
    "values-add": "/admin/catalog/specvalue/add/",
    "aliases": "/admin/catalog/alias/?q=h100",
    "sources": "/admin/catalog/source/",
    "vendors": "/admin/catalog/vendor/",
    "loads": "/admin/catalog/catalogueload/",
    "proposals": "/admin/catalog/proposal/",
    "proposals-all": "/admin/catalog/proposal/?state=all",
    "proposal-1": "/admin/catalog/proposal/1/change/",
    "proposal-2": "/admin/catalog/proposal/2/change/",
    "proposal-3": "/admin/catalog/proposal/3/change/",
    "import": "/admin/catalog/specvalue/import/",
    "import-1": "/admin/catalog/specvalue/import/1/",
    "import-2": "/admin/catalog/specvalue/import/2/",
    "export-csv": "/admin/catalog/specvalue/export/csv/?q=nvidia-t4",
    "export-xlsx": "/admin/catalog/specvalue/export/xlsx/?q=nvidia-t4",
    "judge": "/admin/catalog/specvalue/judge/?field=memory_gb&value=80&unit=GB",
    "completeness": "/admin/catalog/completeness/",
    "completeness-filters": "/admin/catalog/completeness/?vendor=google&state=empty&only=1",
    "completeness-csv": "/admin/catalog/completeness/?format=csv&vendor=amd",
    "completeness-refused": "/admin/catalog/completeness/?vendor=acme&state=zzz&field=qq",
    "names": "/admin/labs/card/names/",
    "names-ignored": "/admin/labs/card/names/?show=ignored",
    "name": "/admin/labs/card/names/one/?name=NVIDIA+H999+640GB+HBM9&vendor=nvidia",
    "name-unknown": "/admin/labs/card/names/one/?name=none&vendor=none",
    "labs": "/admin/labs/lab/",
    "lab": "/admin/labs/lab/1/change/",
    "machines": "/admin/labs/machine/",
    "machine": "/admin/labs/machine/1/change/",
    "keys": "/admin/labs/agentkey/",
    "key": "/admin/labs/agentkey/1/change/",
    "key-add": "/admin/labs/agentkey/add/",
    "snapshots": "/admin/labs/snapshot/",
    "snapshot": "/admin/labs/snapshot/1/change/",
    "cards": "/admin/labs/card/",
    "card": "/admin/labs/card/1/change/",
    "findings": "/admin/labs/finding/",
    "finding": "/admin/labs/finding/1/change/",
    "reports": "/admin/labs/report/",
    "name-decisions": "/admin/labs/namedecision/",
    "series": "/admin/benchmarks/series/",
    "results": "/admin/benchmarks/result/",
    "result": "/admin/benchmarks/result/1/change/",
    "links": "/admin/diagnose/privatelink/",
    "stacks": "/admin/stacks/stack/",
    "stack": "/admin/stacks/stack/1/change/",
    "components": "/admin/stacks/component/",
    "counterparts": "/admin/stacks/counterpart/",
    "placements": "/admin/stacks/placement/",
    "releases": "/admin/stacks/release/",
    "requirements": "/admin/stacks/requirement/",
    "calls": "/admin/stacks/call/",
    "stack-loads": "/admin/stacks/stacksload/",
}

CHINESE = ("home", "learn", "list", "list-refused", "claims", "changes", "stacks", "support", "operators", "ladder", "ladder-refused",
           "explore", "timeline", "machines", "machines-add", "life-old-driver", "coverage", "diagnose", "plan-t4", "plan-mac",
           "plan-refused", "data", "data-schema", "404", "login")  # fmt: skip


def pages() -> Iterator[Visit]:
    """All that is only read."""
    yield from named("pages", PAGES)
    yield from named("pages/compare", COMPARISONS)
    details = {
        **{f"sheet-{slug}": f"/accelerators/{slug}/" for slug in SHEETS},
        "sheet-at": f"/accelerators/{T4}/?at=2026-11-18T12:00",
        "sheet-at-past": f"/accelerators/{H100}/?at=2020-01-01",
        "sheet-at-refused": f"/accelerators/{H100}/?at=yesterday&format=xlsx",
        **{f"stack-{slug}": f"/stacks/{slug}/" for slug in STACKS},
        **{f"component-{slug}": f"/components/{slug}/" for slug in COMPONENTS},
        "component-releases": "/components/pytorch/?releases=all",
        **{f"operator-{slug}": f"/operators/{slug}/" for slug in OPERATORS},
        **{f"machine-{slug}": f"/machines/north/{slug}/" for slug in MACHINES},
        **{f"series-{number}": f"/machines/north/h100-linux/series/{number}/" for number in (1, 2, 11, 12)},
        "series-mac": "/machines/north/studio/series/44/",
        "series-cpu": "/machines/north/cpu-linux/series/23/",
        "series-unknown": "/machines/north/h100-linux/series/9999/",
    }
    yield from named("pages", details)
    everything = PAGES | details | {f"compare/{name}": path for name, path in COMPARISONS.items()}
    in_chinese = (*CHINESE, f"sheet-{H100}", f"sheet-{M3_MAX}", f"sheet-{TPU}", "stack-nvidia-cuda", "component-pytorch", "operator-matmul",
               "machine-mixed-box", "machine-old-driver", "machine-m3-max-macos", "series-1", "compare/sheets-2", "compare/mixed",
               "compare/machines", "compare/refused", "sheet-at-refused")  # fmt: skip
    yield from named("pages-zh", {name: chinese(everything[name]) for name in in_chinese})
    yield from named("parts", PARTS, headers=XHR)
    yield Visit(name="language/chosen", path="/language/zh-hans/?next=/learn/", headers=OF_ANOTHER_SITE)
    yield from named("files", FILES)
    yield from named("api", API)
    yield from named("admin", ADMIN, user="root")
    yield from named(
        "admin-zh",
        {name: ADMIN[name] for name in ("proposals", "names", "completeness", "import")},
        user="root",
        headers=ZH,
    )
    yield from named(
        "admin-ben", {name: ADMIN[name] for name in ("index", "proposals", "proposal-1", "import", "names")}, user="ben"
    )
    own = {"lab-private": PAGES["lab-private"], "machine-private": PAGES["machine-private"], "machines": "/machines/", "home": "/",
           "machines-add": "/machines/add/", "diagnose": "/diagnose/", "compare-private": COMPARISONS["private"]}  # fmt: skip
    of_lab = {name: f"/labs/cellar/{name}/" for name in ("keys", "people", "settings", "webhook")}
    own["lab-feed-private"] = PAGES["lab-feed-private"]
    own |= of_lab | {"join": "/labs/join/", "labs": "/labs/", "rotate": "/labs/cellar/keys/goldcell/rotate/"}
    yield from named("member", own, user="ada")
    yield from named(
        "member-api", {"machines": "/api/v1/machines/", "machine": "/api/v1/machines/cellar/sealed-box/"}, user="ada"
    )


def dumps(samples: Path | None) -> Iterator[tuple[str, str]]:
    """(name, text) of the dumps that are diagnosed: ours, and those in the folder `samples`."""
    for folder, prefix in ((DUMPS, ""), (samples, "samples-")):
        for path in sorted(folder.rglob("*") if folder else ()):
            if (
                path.is_file()
                and path.suffix in (".txt", ".csv", ".json", ".xml", ".md", ".jsonl", ".log")
                and path.name != "README.md"
            ):
                name = "-".join(path.relative_to(folder).parts)  # type: ignore[arg-type]
                yield prefix + name, path.read_bytes().decode(errors="replace")


def diagnoses() -> Iterator[Visit]:
    """Every dump of ours on the page and by the API; the page in Chinese too for two."""
    for name, text in dumps(None):
        yield Visit(name=f"diagnose/{name}", path="/diagnose/", method="POST", form={"text": text})
        yield Visit(
            name=f"api-diagnose/{name}",
            path="/api/v1/diagnose/",
            method="POST",
            body=text.encode(),
            content_type="text/plain",
        )
    texts = dict(dumps(None))
    two = texts["two_machines.txt"]
    for name in ("two_machines.txt", "nvidia_smi_table.txt", "collect_env_old_driver.txt", "nothing_known.txt"):
        yield Visit(name=f"diagnose-zh/{name}", path=chinese("/diagnose/"), method="POST", form={"text": texts[name]})
    yield Visit(name="diagnose/svg", path="/diagnose/", method="POST", form={"text": two, "format": "svg"})
    yield Visit(name="diagnose/empty", path="/diagnose/", method="POST", form={"text": ""})
    yield Visit(name="diagnose/masked-first", path="/diagnose/save/", method="POST", form={"text": two})
    yield Visit(name="diagnose/too-big", path="/diagnose/", method="POST", form={"text": "x" * (1024 * 1024 + 10)})
    send = {"path": "/api/v1/diagnose/", "method": "POST"}
    yield Visit(name="api-diagnose/empty", body=b"", content_type="text/plain", **send)
    yield Visit(name="api-diagnose/type", body=b"{}", **send)
    yield Visit(name="api-diagnose/charset", body=b"x", content_type="text/plain; charset=latin-1", **send)
    yield Visit(name="api-diagnose/nul", body=b"a\0b", content_type="text/plain", **send)
    yield Visit(name="api-diagnose/too-big", body=b"x" * (1024 * 1024 + 10), content_type="text/plain", **send)
    yield Visit(name="api-diagnose/multipart", path="/api/v1/diagnose/", method="POST", form={"text": two})
    limited = {"DIAGNOSES_PER_MINUTE": 1}
    for number in (1, 2):
        yield Visit(
            name=f"api-diagnose/too-many-{number}",
            body=two.encode(),
            content_type="text/plain",
            settings=limited,
            **send,
        )
    yield Visit(name="diagnose/too-many", path="/diagnose/", method="POST", form={"text": two}, settings=limited)

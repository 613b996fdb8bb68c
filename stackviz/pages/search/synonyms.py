"""What people call things that have another name here: phrases that stand for others, and phrases that name a place.

Written in lower case and simplified characters, as `words.folded` gives them.
"""

import re

__all__ = ["MODELS", "MODELS_BY_SIZE", "PLACES", "with_our_names"]

# Part of a query -> what is searched in its place. A word of Latin letters stands for itself only as a whole word.
OUR_NAMES: dict[str, str] = {
    "strix halo": "radeon 8060s",
    "ryzen ai max": "radeon 8060s",
    "笔记本电脑": "laptop",
    "笔记本": "laptop",
    "移动版": "laptop",
    "notebook": "laptop",
    "mobile": "laptop",
    "老黄": "nvidia",
    "n卡": "nvidia",
    "a卡": "amd",
    "显示核心": "gpu",
    "千问": "qwen",
    "通义千问": "qwen",
    "通义qwen": "qwen",
    "深度求索": "deepseek",
    "羊驼": "llama",
    "英伟达": "nvidia",
    "苹果": "apple",
    "英特尔": "intel",
    "摩尔线程": "moore threads",
    "华为": "huawei",
    "gpu driver": "nvidia driver",
    "macos tahoe": "macos 26",
    "macos sequoia": "macos 15",
    "macos sonoma": "macos 14",
    "macos ventura": "macos 13",
    "macos monterey": "macos 12",
    "apple silicon": "apple",
    "m 系列芯片": "apple", "m系列芯片": "apple", "m chips": "apple", "m-chips": "apple", "m series chips": "apple",
    "m-series chips": "apple", "m series": "apple", "m-series": "apple", "apple chips": "apple", "苹果芯片": "apple",
    "容器工具包": "container toolkit",
    "容器工具": "container toolkit",
    # Words of other languages that people ask with.
    "preis": "price", "kosten": "price", "kostet": "price", "prix": "price", "coûte": "price", "precio": "price",
    "cuesta": "price", "prezzo": "price", "preço": "price", "цена": "price", "стоит": "price", "価格": "price",
    "값": "price", "가격": "price", "мощность": "power",
    "stromverbrauch": "power", "leistungsaufnahme": "power", "consommation": "power", "consumo": "power",
    "消費電力": "power", "소비전력": "power", "потребление": "power",
    "speicher": "memory", "mémoire": "memory", "memoria": "memory", "memória": "memory", "память": "memory",
    "памяти": "memory", "メモリ": "memory", "メモリー": "memory", "메모리": "memory",
    "bandbreite": "bandwidth", "speicherbandbreite": "memory bandwidth", "帯域幅": "bandwidth",
    "vergleich": "compare", "comparaison": "compare", "comparar": "compare", "сравнение": "compare", "비교": "compare",
    "oder": "or", "gegen": "vs", "contre": "vs", "contra": "vs", "против": "vs", "или": "or", "ou": "or",
    "treiber": "driver", "pilote": "driver", "драйвер": "driver", "ドライバ": "driver", "드라이버": "driver",
    "installieren": "install", "installer": "install", "instalar": "install", "установить": "install",
    "pro stunde": "per hour", "mieten": "rent", "louer": "rent", "alquilar": "rent", "аренда": "rent",
    "günstigste": "cheapest", "billigste": "cheapest", "moins cher": "cheapest", "más barata": "cheapest",
    "schnellste": "fastest", "grafikkarte": "gpu", "carte graphique": "gpu", "видеокарта": "gpu", "그래픽카드": "gpu",
}  # fmt: skip
_PARTS = re.compile(
    "|".join(
        rf"(?<![a-z0-9]){re.escape(phrase)}(?![a-z0-9])" if phrase.isascii() else re.escape(phrase)
        for phrase in sorted(OUR_NAMES, key=len, reverse=True)
    )
)

# Names of language models without their size, in one piece -> the model that is meant.
MODELS: dict[str, str] = {
    "deepseekr1": "deepseek-v3", "deepseek": "deepseek-v3", "gptoss": "gpt-oss-20b", "mixtral": "mixtral-8x7b",
    "llama70b": "llama-3.1-70b", "llama8b": "llama-3.1-8b",
    "llama3": "llama-3.1-8b", "llama31": "llama-3.1-8b", "llama405b": "llama-3.1-405b", "qwen72b": "qwen-2.5-72b",
    "qwen32b": "qwen-3-32b", "qwen8b": "qwen-3-8b", "qwen14b": "qwen-3-14b", "qwen7b": "qwen-2.5-7b",
    "gemma27b": "gemma-3-27b", "gemma12b": "gemma-3-12b", "mistral": "mistral-7b",
}  # fmt: skip

# The address of an answer, in English, as an entry of the index has it (`#fp8`: a term) -> whole queries for it.
_PHRASES = (
    ("/ladder/", "天梯图 | 天梯榜 | 显卡天梯图 | 显卡天梯 | 排行榜 | 显卡排行 | 显卡排名 | tier list"),
    (
        "/learn/eager-graph-compiled/#quantisation",
        "量化 | quantization | quantisation | quantize | quantized | int4 quantization | 量化精度 | low bit",
    ),
    (
        "/learn/cards-and-rules/#export",
        "禁售 | 出口管制 | 出口限制 | 制裁 | export control | export controls | export ban | export rules",
    ),
    ("/accelerators/?q=laptop", "laptop显卡 | laptop gpu | laptop gpus | laptop显卡天梯图 | laptop | gaming laptop"),
    ("/accelerators/?sort=-memory_gb&cols=memory_gb", "显存 | vram | 显存大小 | 显存容量 | gpu memory"),
    ("/fit/?precision=q4_k_m", "gguf | gguf format | ggml | gguf 格式 | gguf格式"),
    ("/fit/?task=lora", "lora | qlora | peft | lora 微调 | lora微调 | adapter"),
    ("/fit/?task=full", "微调 | fine tuning | fine-tuning | finetuning | finetune | 训练显存"),
    ("#fp8", "fp8 | fp4 | int8 | fp8 精度"),
    ("#mx", "mxfp4 | nvfp4 | mxfp"),
    ("#fallback", "mps fallback | cpu fallback | pytorch_enable_mps_fallback | 回退到cpu"),
    ("#kv-cache", "kv cache | kv缓存 | kv 缓存 | 键值缓存"),
    ("/causes/cuda-out-of-memory/", "显存不足 | 爆显存 | oom | out of memory | cuda oom | 内存不足"),
    ("/causes/nccl-error/", "nccl timeout | nccl error | nccl hang | nccl hangs | nccl 超时 | nccl超时"),
    (
        "/learn/the-stack-in-one-call/#nvidia-in-macs",
        "cuda mac | mac cuda | cuda macbook | cuda macos | cuda apple | nvidia mac | nvidia macbook",
    ),
    ("/causes/mps-out-of-memory/", "mps oom | mps out of memory"),
    ("/causes/driver-too-old/", "驱动程序太旧 | 驱动太旧 | 驱动版本太低 | 驱动过旧 | driver too old"),
    ("/explore/", "性价比 | value for money | price performance | performance per dollar"),
    ("/accelerators/?sort=-memory_bandwidth_gb_s&cols=memory_gb&cols=memory_bandwidth_gb_s", "带宽 | 内存带宽"),
    ("/releases/", "ubuntu | windows | linux release"),
)
PLACES: dict[str, str] = {phrase: address for address, phrases in _PHRASES for phrase in phrases.split(" | ")}


# A size of which the query names no family, in billions of parameters -> the model that is read as.
MODELS_BY_SIZE: dict[str, str] = {
    "1": "llama-3.2-1b", "3": "llama-3.2-3b", "4": "qwen-3-4b", "7": "mistral-7b", "8": "llama-3.1-8b",
    "12": "gemma-3-12b", "13": "llama-2-13b", "14": "qwen-3-14b", "20": "gpt-oss-20b", "24": "mistral-small-24b",
    "27": "gemma-3-27b", "30": "qwen-3-30b-a3b", "32": "qwen-3-32b", "70": "llama-3.1-70b", "72": "qwen-2.5-72b",
    "120": "gpt-oss-120b", "123": "mistral-large-123b", "405": "llama-3.1-405b", "671": "deepseek-v3",
}  # fmt: skip


def with_our_names(text: str) -> str:
    """Return the folded text with the names of this site: `strix halo` -> `radeon 8060s`."""
    return " ".join(_PARTS.sub(lambda match: f" {OUR_NAMES[match[0]]} ", text).split())

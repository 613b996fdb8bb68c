"""Texts as the search compares them: words without case and signs; Chinese, which has no spaces, in pairs.

Pure: no Django.

At the end: Chinese proper names that no translation has, of vendors, product lines and operators.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from stackviz.pages.search.traditional import simplified

LONGEST_WORD = 40  # characters that are compared; names of kernels are longer
_CHINESE = "\u3400-\u4dbf\u4e00-\u9fff"
_RUN = re.compile(rf"[{_CHINESE}]+|[^\W_{_CHINESE}]+")
_IS_CHINESE = re.compile(rf"[{_CHINESE}]")
_DIGITS = re.compile(r"\d+")


def split_words(text: str) -> tuple[str, ...]:
    """`NVIDIA_H100 (SXM5)` -> nvidia, h100, sxm5. A run of Chinese characters, simplified, is one word."""
    return tuple(run[:LONGEST_WORD] for run in _RUN.findall(folded(text)))


def folded(text: str) -> str:
    """The text without case, full-width signs and traditional characters."""
    return simplified(unicodedata.normalize("NFKC", text).casefold())


def is_chinese(token: str) -> bool:
    return bool(_IS_CHINESE.match(token))


def joined_words(words: Iterable[str]) -> str:
    """All words in one piece: `rtx4090`, however it is spaced."""
    return "".join(words)


def neighbours(words: tuple[str, ...], most: int = 3) -> Iterator[str]:
    """Words that stand side by side, in one piece: of `rtx 4090 ti` rtx4090, 4090ti and rtx4090ti."""
    for length in range(2, most + 1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            if not any(map(is_chinese, run)):
                yield joined_words(run)[:LONGEST_WORD]


def character_pairs(token: str) -> tuple[str, ...]:
    """`显存带宽` -> 显存, 存带, 带宽; a single character is itself."""
    return tuple(token[at : at + 2] for at in range(len(token) - 1)) or (token,)


def digits_of(token: str) -> tuple[str, ...]:
    """The numbers in a word: a 4080 is no mistyped 4090."""
    return tuple(_DIGITS.findall(token))


# --- Chinese proper names that no translation has ---

# Words of a title or a keyword -> what Chinese speakers call it.
CHINESE_NAMES: dict[str, tuple[str, ...]] = {
    "nvidia": ("英伟达",),
    "apple": ("苹果",),
    "intel": ("英特尔",),
    "google": ("谷歌",),
    "qualcomm": ("高通",),
    "baidu": ("百度",),
    "kunlun": ("昆仑芯",),
    "huawei": ("华为",),
    "ascend": ("昇腾",),
    "cann": ("昇腾 CANN",),
    "cambricon": ("寒武纪",),
    "biren": ("壁仞",),
    "moore threads": ("摩尔线程",),
    "hailo": ("海洛",),
    "macbook": ("苹果笔记本",),
    "convolution": ("卷积",),
    "attention": ("注意力",),
    "matrix product": ("矩阵乘法",),
    "softmax": ("归一化指数",),
    "embedding": ("嵌入",),
    "all reduce": ("全归约",),
    "qwen": ("通义千问", "千问"),
    "deepseek": ("深度求索",),
    "tensor core": ("张量核心",),
    "tensor cores": ("张量核心",),
    "unified memory": ("统一内存",),
    "driver": ("驱动程序", "显卡驱动"),
    "nvidia driver": ("英伟达驱动",),
    "compiler": ("编译器",),
    "fp64": ("双精度",),
    "fp32": ("单精度",),
    "fp16": ("半精度",),
    "bf16": ("脑浮点",),
}
# The same of error messages, which name vendors only in passing.
CHINESE_ERRORS: dict[str, tuple[str, ...]] = {
    "out of memory": ("显存不足", "内存不足", "爆显存"),
    "no kernel image": ("没有可用的内核映像",),
}


def chinese_names(texts: Iterable[str], table: Mapping[str, tuple[str, ...]] = CHINESE_NAMES) -> Iterator[str]:
    """The Chinese names of what these texts name."""
    padded = [f" {' '.join(split_words(text))} " for text in texts]
    for words, names in table.items():
        if any(f" {words} " in text for text in padded):
            yield from names

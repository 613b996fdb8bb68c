"""Chinese proper names that no translation has: vendors, product lines, operators, what people call an error.

Everything else that is found in Chinese is found by the translations of the site's own texts.
"""

from collections.abc import Iterable, Iterator, Mapping

from stackviz.pages.search.words import split_words

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

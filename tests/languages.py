"""Pages in another language: the address says which, whatever a browser asks for (docs/languages.md)."""

from stackviz.web.i18n.languages import address_in


def chinese(address: str) -> str:
    """`/fit/?model=llama-3-8b` -> the same page in Chinese."""
    return address_in("zh-hans", address)

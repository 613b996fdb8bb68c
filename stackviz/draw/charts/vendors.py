"""The colour of a vendor: one of six that colour-blind readers can distinguish; all other vendors share the last."""

VENDORS = ("apple", "amd", "nvidia", "intel", "google")
OTHER = len(VENDORS)


def css(slot: int) -> str:
    """The class of a slot, from 0; static/css/parts.css gives it its colour."""
    return f"s{slot + 1}"


def vendor_slot(vendor: str) -> int:
    return VENDORS.index(vendor) if vendor in VENDORS else OTHER

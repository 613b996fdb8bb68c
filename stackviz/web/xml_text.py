"""Text for feeds and other XML."""

import re

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """The text without the control characters that XML 1.0 cannot hold: a feed with one of them is no feed."""
    return _NOT_IN_XML.sub("", text)

"""Under which terms the dump may be used, in the words of docs/data-licence.md: the manifest carries them with it."""

LICENCE = {
    "title": "accelweb data terms",
    "document": "docs/data-licence.md",
    "text": (
        "Curated values may be reused, changed or not, for any purpose, with their source named: the document that the "
        "column `source` leads to, and accelweb with the moment of the dump as the place they were taken from. What "
        "machines reported and measured may be reused with the lab named. There is no warranty of any kind. The "
        "documents that sources lead to have terms of their own."
    ),
}

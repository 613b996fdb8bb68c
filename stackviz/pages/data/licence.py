"""The terms of the data, as manifest, structured data and the OpenAPI document name them. docs/data-licence.md."""

from collections.abc import Mapping
from urllib.parse import urljoin

from django.utils.translation import gettext_noop

SPDX = "LicenseRef-accelweb-data"  # an expression of SPDX for terms that its list does not have
TITLE = "accelweb data terms"
TERMS_PATH = "/data/#terms"
TERMS = gettext_noop(
    "Curated values may be reused, changed or not, for any purpose, with their source named: the document that the "
    "column `source` leads to, and accelweb with the moment of the dump as the place they were taken from. What "
    "machines reported and measured may be reused with the lab named. There is no warranty of any kind. The "
    "documents that sources lead to have terms of their own."
)


def licence_in_manifest(site: str) -> Mapping[str, str]:
    """Return the terms for `manifest.json`. `site`: address of the site, "" where it has no fixed one."""
    return {
        "title": TITLE,
        "spdx": SPDX,
        "url": urljoin(site, TERMS_PATH),
        "document": "docs/data-licence.md",
        "text": TERMS,
    }


def licence_in_dataset(page: str) -> Mapping[str, str]:
    """Return the terms as a `CreativeWork` of schema.org. `page`: an absolute address of the site."""
    return {
        "@type": "CreativeWork",
        "name": TITLE,
        "identifier": SPDX,
        "url": urljoin(page, TERMS_PATH),
        "text": TERMS,
    }


# Of OpenAPI 3.1, in which a licence has an identifier or an address: the address is that of the terms of service.
LICENCE_IN_OPENAPI = {"license": {"name": TITLE, "identifier": SPDX}, "termsOfService": TERMS_PATH}

"""Addresses of `make dev TOOLBAR=1`: the site's own and those of the toolbar."""

from debug_toolbar.toolbar import debug_toolbar_urls

from accelweb.urls import *  # noqa: F403
from accelweb.urls import urlpatterns as addresses

urlpatterns = [*debug_toolbar_urls(), *addresses]

"""URL configuration of the site; each room declares its own addresses."""

from functools import partial

from django.contrib import admin
from django.urls import include, path
from django.utils.translation import gettext_lazy as _
from django.views.generic import RedirectView
from ninja.openapi.views import openapi_view

from accelweb.api import api
from stackviz.desk.accounts import urls as accounts
from stackviz.desk.accounts.activity_page import activity
from stackviz.desk.accounts.login import admin_login
from stackviz.desk.curation import urls as curation
from stackviz.desk.freshness import urls as freshness
from stackviz.desk.labs import urls as labs
from stackviz.desk.retention import urls as retention
from stackviz.intake.ingest import urls as ingest
from stackviz.intake.notices import urls as notices
from stackviz.pages.accelerators import urls as accelerators
from stackviz.pages.benchmarks import urls as benchmarks
from stackviz.pages.compare import urls as compare
from stackviz.pages.data import urls as data
from stackviz.pages.diagnose import urls as diagnose
from stackviz.pages.explore import urls as explore
from stackviz.pages.fit import urls as fit
from stackviz.pages.home import urls as home
from stackviz.pages.learn import urls as learn
from stackviz.pages.machines import urls as machines
from stackviz.pages.plan import urls as plan
from stackviz.pages.search import urls as search
from stackviz.pages.sharing import urls as sharing
from stackviz.pages.stacks import urls as stacks
from stackviz.site.monitoring import urls as monitoring
from stackviz.site.monitoring.state_page import site_state
from stackviz.web.i18n.languages import in_each_language

# These have one address and no language in it: the admin, and what programs read, which is in English. Every other
# address of a room exists in each language (docs/languages.md).
WITHOUT_LANGUAGE = (
    "admin/", "agent/", "badge/", "data/<", "embed/", "favicon.ico", "health/", "language/", "llms.txt", "oembed",
    "picture/", "robots.txt", "sitemap",
)  # fmt: skip

rooms = (
    accounts, stacks, ingest, compare, diagnose, explore, fit, learn, data, plan, benchmarks,
    search, sharing, freshness, retention, notices,
)  # fmt: skip
urlpatterns = [
    in_each_language(home.urlpatterns, home.app_name, WITHOUT_LANGUAGE),
    in_each_language([*accelerators.urlpatterns, *curation.urlpatterns], "accelerators", WITHOUT_LANGUAGE),
    in_each_language([*labs.urlpatterns, *machines.urlpatterns], "machines", WITHOUT_LANGUAGE),
    *(in_each_language(room.urlpatterns, room.app_name, WITHOUT_LANGUAGE) for room in rooms),
    in_each_language([path("api/v1/docs/", partial(openapi_view, api=api), name="api-docs")]),
    path("", include(monitoring)),
    path("api/v1/", api.urls),
    path("admin/login/", admin_login),
    path("admin/password_change/", RedirectView.as_view(pattern_name="accounts:change-password")),
    path("admin/activity/", admin.site.admin_view(activity), name="activity"),
    path("admin/state/", admin.site.admin_view(site_state), name="site-state"),
    path("admin/", admin.site.urls),
]

admin.site.site_header = admin.site.site_title = _("accelweb administration")

handler400 = "stackviz.pages.home.views.bad_request"
handler403 = "stackviz.pages.home.views.forbidden"
handler404 = "stackviz.pages.home.views.not_found"
handler500 = "stackviz.pages.home.views.server_error"

"""URL configuration of the site; each room declares its own addresses."""

from django.contrib import admin
from django.urls import include, path
from django.utils.translation import gettext_lazy as _

from accelweb.api import api
from stackviz.accelerators import urls as accelerators
from stackviz.curation import urls as curation

urlpatterns = [
    path("", include("stackviz.pages.urls")),
    path("", include(([*accelerators.urlpatterns, *curation.urlpatterns], "catalog"))),
    path("", include("stackviz.stacks.urls")),
    path("", include("stackviz.machines.urls")),
    path("", include("stackviz.ingest.urls")),
    path("", include("stackviz.compare.urls")),
    path("", include("stackviz.diagnose.urls")),
    path("", include("stackviz.explore.urls")),
    path("", include("stackviz.fit.urls")),
    path("", include("stackviz.opendata.urls")),
    path("", include("stackviz.performance.urls")),
    path("", include("stackviz.plan.urls")),
    path("", include("stackviz.results.urls")),
    path("", include("stackviz.search.urls")),
    path("", include("stackviz.sharing.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
]

admin.site.site_header = admin.site.site_title = _("accelweb administration")

handler400 = "stackviz.pages.views.bad_request"
handler403 = "stackviz.pages.views.forbidden"
handler404 = "stackviz.pages.views.not_found"
handler500 = "stackviz.pages.views.server_error"

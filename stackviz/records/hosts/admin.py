"""Admin of what loads of the curated files did. Hosts themselves are decided with their results, in `cited`."""

from django.contrib import admin

from stackviz.records.catalog.curated_admin import FileLoadAdmin
from stackviz.records.hosts.models import HostLoad

admin.site.register(HostLoad, FileLoadAdmin)

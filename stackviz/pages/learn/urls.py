"""Addresses of chapters, things to try and the glossary; each module declares its own."""

from stackviz.pages import learn
from stackviz.web.http.addresses import declared_in

app_name = "learn"
urlpatterns = declared_in(learn)

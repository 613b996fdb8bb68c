from stackviz.pages import sharing
from stackviz.web.http.addresses import declared_in

app_name = "sharing"
urlpatterns = declared_in(sharing)

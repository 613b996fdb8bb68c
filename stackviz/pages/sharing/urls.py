from stackviz.pages import sharing
from stackviz.web.addresses import declared_in

app_name = "sharing"
urlpatterns = declared_in(sharing)

from stackviz.pages import performance
from stackviz.web.addresses import declared_in

app_name = "performance"
urlpatterns = [*declared_in(performance)]

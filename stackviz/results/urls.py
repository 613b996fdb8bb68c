from stackviz import results
from stackviz.web.addresses import declared_in

app_name = "results"
urlpatterns = [*declared_in(results)]

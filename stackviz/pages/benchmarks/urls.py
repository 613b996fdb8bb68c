from stackviz.pages import benchmarks as results
from stackviz.web.addresses import declared_in

app_name = "results"
# Fixed addresses before those with a parameter that would take them in.
urlpatterns = sorted(declared_in(results), key=lambda pattern: "<" in str(pattern.pattern))

from stackviz.pages import benchmarks
from stackviz.web.http.addresses import declared_in

app_name = "benchmarks"
# Fixed addresses before those with a parameter that would take them in.
urlpatterns = sorted(declared_in(benchmarks), key=lambda pattern: "<" in str(pattern.pattern))

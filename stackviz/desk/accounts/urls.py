"""Addresses of logging in, the account and its second factor, and forgotten passwords."""

from stackviz.desk import accounts
from stackviz.web.http.addresses import declared_in

app_name = "accounts"
urlpatterns = declared_in(accounts)

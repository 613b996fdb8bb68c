"""No second factor is shown: with its secret anybody makes the codes. `manage.py remove_second_factor` helps."""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

admin.site.unregister((StaticDevice, TOTPDevice))

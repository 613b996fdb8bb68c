"""Logging in, a second factor, forgotten passwords. Its models are those of django-otp."""

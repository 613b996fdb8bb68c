"""Settings of the site. Everything that differs between installations comes from the environment (see `.env.example`).

Without any variable set this is a small but real installation: SQLite in WAL mode and a file broker under `var/`.
`REDIS_URL` and `DATABASE_URL` switch to Redis and PostgreSQL; nothing else changes.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF, UNSAFE_INLINE
from django.utils.translation import gettext_lazy as _

from accelweb.env import EnvError, env_flag, env_int, env_list, env_networks, env_secret, env_site, env_text
from accelweb.error_reports import start_error_reports
from accelweb.logs import FORMATTERS

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"  # as in pyproject.toml: tests/pages/home holds the two equal
VAR_DIR = Path(env_text("VAR_DIR", str(BASE_DIR / "var"))).resolve()

# --- security ---------------------------------------------------------------------------------------------------

DEBUG = env_flag("DEBUG")
HTTPS = env_flag("HTTPS")
THIS_MACHINE = "localhost,127.0.0.1,[::1]"
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", THIS_MACHINE)
SITE_URL = env_site("SITE_URL")  # for links in mails; without it none is sent
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
PUBLISHED_KEY = "django-insecure-only-for-trying-things-out"
SECRET_KEY = env_secret("SECRET_KEY", VAR_DIR / "secret_key", PUBLISHED_KEY)
if SECRET_KEY == PUBLISHED_KEY and (HTTPS or set(ALLOWED_HOSTS) - set(THIS_MACHINE.split(","))):
    # Not a system check: gunicorn runs none, and with a known key anybody could forge a session.
    raise EnvError(
        "SECRET_KEY is not set, but this site is reachable from other machines: set it to 50 random characters"
    )

SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(health/|healthz|readyz|metrics)$"]  # who asks from inside speaks plain HTTP
SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds()) if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
CSRF_COOKIE_HTTPONLY = True  # forms carry the token; no script reads the cookie
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# Only our own script files: text from a hostile report cannot run even if an escape were missing.
# Inline styles are allowed for custom properties such as `--p: 79` on a bar.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# --- applications -----------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "stackviz.records.audit.apps.AuditedAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sitemaps",
    "whitenoise.runserver_nostatic",
    "accelweb.apps.UsedStaticFilesConfig",
    "csp",
    "django_otp",
    "django_otp.plugins.otp_static",
    "django_otp.plugins.otp_totp",
    "django_htmx",
    "ninja",
    "simple_history",
    "stackviz.web",
    "stackviz.records.audit",
    "stackviz.records.catalog",
    "stackviz.records.stacks",
    "stackviz.records.labs",
    "stackviz.records.hosts",
    "stackviz.records.cited",
    "stackviz.records.series",
    "stackviz.desk.freshness",
    "stackviz.intake.notices",
    "stackviz.site.backups",
    "stackviz.pages.accelerators",
    "stackviz.desk.accounts",
    "stackviz.desk.curation",
    "stackviz.desk.labs",
    "stackviz.intake.ingest",
    "stackviz.pages.stacks",
    "stackviz.pages.machines",
    "stackviz.pages.compare",
    "stackviz.pages.diagnose",
    "stackviz.pages.explore",
    "stackviz.pages.fit",
    "stackviz.pages.learn",
    "stackviz.pages.plan",
    "stackviz.pages.data",
    "stackviz.pages.home",
    "stackviz.pages.benchmarks",
    "stackviz.pages.search",
    "stackviz.pages.sharing",
    "stackviz.site.up",
    "stackviz.site.monitoring",
    "stackviz.desk.retention",
    "stackviz.desk.contradictions",
]

MIDDLEWARE = [
    "stackviz.web.http.request_id_middleware.RequestIds",
    "django.middleware.security.SecurityMiddleware",
    "stackviz.intake.ingest.upload_middleware.UploadShortcut",
    "stackviz.web.http.request_memo.RequestMemo",
    "stackviz.web.http.cors.OpenReading",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "stackviz.web.i18n.languages.LanguageByAddress",
    "stackviz.web.http.costly_reads.CostlyReads",
    "csp.middleware.CSPMiddleware",  # for pages: a style sheet or script has no use for 200 bytes of policy
    "django.middleware.gzip.GZipMiddleware",
    "stackviz.web.http.conditional.PrivateAnswers",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "stackviz.web.http.forms.FormsInUtf8",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "stackviz.desk.accounts.second_factor.SecondFactorFirst",
    "stackviz.records.audit.record.RememberRequest",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
    "stackviz.web.http.formats.KnownFormats",
]

ROOT_URLCONF = "accelweb.urls"
WSGI_APPLICATION = "accelweb.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "home:home"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
    {  # parts of pages, drawn by stackviz.web.parts
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {"environment": "stackviz.web.jinja2.environment"},
    },
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

SECOND_FACTOR = env_flag("SECOND_FACTOR", default=HTTPS)  # whether whoever may approve values must have one
OTP_TOTP_ISSUER = "accelweb"
SESSION_COOKIE_AGE = env_int("SESSION_DAYS", 14, least=1) * 86_400
STAFF_SESSION_HOURS = env_int("STAFF_SESSION_HOURS", 12, least=1)
LOGINS_PER_CLIENT = env_int("LOGINS_PER_CLIENT", 60, least=1)  # attempts in a quarter of an hour; beyond: 429
LOGINS_PER_ACCOUNT = env_int("LOGINS_PER_ACCOUNT", 30, least=1)  # the same for one account, from all clients
KEY_GUESSES_PER_CLIENT = env_int("KEY_GUESSES_PER_CLIENT", 60, least=1)  # wrong keys in a quarter of an hour
RESET_MAILS_PER_HOUR = env_int("RESET_MAILS_PER_HOUR", 3, least=1)  # about one address

# --- mail ---------------------------------------------------------------------------------------------------------

EMAIL_HOST = env_text("EMAIL_HOST")  # without one no mail is sent, and nobody can reset a password by mail
EMAIL_PORT = env_int("EMAIL_PORT", 587, least=1)
EMAIL_HOST_USER = env_text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env_text("EMAIL_HOST_PASSWORD")
EMAIL_USE_SSL = EMAIL_PORT == 465  # TLS from the first byte; other ports begin plainly and change to it
EMAIL_USE_TLS = not EMAIL_USE_SSL and EMAIL_PORT != 25
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env_text("EMAIL_FROM", "accelweb@localhost")

# --- database, cache --------------------------------------------------------------------------------------------

DATABASE_URL = env_text("DATABASE_URL", f"sqlite:///{VAR_DIR / 'accelweb.sqlite3'}")
REDIS_URL = env_text("REDIS_URL")
SQLITE_OPTIONS = {
    # SQLite has no row locks: a transaction takes the write lock when it begins, and the others wait.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # FULL: an accepted upload survives a power failure, not only a crash of the process.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-32000;",
}


POSTGRES_OPTIONS = {"connect_timeout": 3}  # seconds; also where the server takes connections and says nothing


def database(url: str) -> dict[str, Any]:
    """Django's settings for one database address; each gets its options above."""
    # A persistent connection makes an upload about four times cheaper on PostgreSQL than a new one.
    config: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=300))
    if "sqlite" in str(config["ENGINE"]):
        return config | {"OPTIONS": SQLITE_OPTIONS}
    if str(config["ENGINE"]) == "django.db.backends.postgresql":
        options = POSTGRES_OPTIONS | config.get("OPTIONS", {})
        return config | {"ENGINE": "stackviz.web.postgresql", "OPTIONS": options}
    return config


DATABASE_TIMEOUT_S = env_int("DATABASE_TIMEOUT_S", 10, least=1)  # for one statement of a web process, PostgreSQL only
DATABASES = {"default": database(DATABASE_URL)}

CACHES: dict[str, Any] = {
    "default": {
        "BACKEND": "stackviz.web.http.cache.ForgivingRedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},  # a page is worked out sooner than that
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 1_000}},
    "pictures": {  # PNG files of about 30 KB, which would crowd pages out of the other cache
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": str(VAR_DIR / "pictures"),
        "OPTIONS": {"MAX_ENTRIES": 1000},
    },
}

# Whether a web process prepares its pages beside its first requests, and again when the catalogue has changed.
WARM_PAGES = env_flag("WARM_PAGES", default=True)

# Whether the site comes with the machines that their owners described in public, and what was measured on them.
DEMO = env_flag("DEMO", default=True)

# --- background work --------------------------------------------------------------------------------------------
# Reports wait in the database; the broker only wakes a worker. The periodic task repeats lost messages.


def broker(redis_url: str) -> tuple[str, dict[str, Any]]:
    """Celery's broker address and transport options: Redis if configured, else files under `var/broker`."""
    if redis_url:
        address = redis_url.replace("unix://", "redis+socket://", 1)
        return address, {"visibility_timeout": 600, "socket_connect_timeout": 1, "socket_timeout": 5}
    folder = str(VAR_DIR / "broker" / "queue")
    options = {
        "data_folder_in": folder,
        "data_folder_out": folder,
        "control_folder": str(VAR_DIR / "broker" / "control"),
        "polling_interval": 0.2,
    }
    return "filesystem://", options


CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = broker(REDIS_URL)
CELERY_BROKER_TRANSPORT = None if REDIS_URL else "accelweb.file_broker:Transport"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 4
CELERY_TASK_TIME_LIMIT = 120
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "accelweb.beat:Scheduler"
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
REQUEUE_EVERY_S = env_int("REQUEUE_EVERY_S", 15, least=1)
REQUEUE_AFTER_S = 4 * REQUEUE_EVERY_S  # a report still unread after this time is queued again
CELERY_BEAT_SCHEDULE = {
    "queue waiting reports again": {
        "task": "stackviz.intake.ingest.tasks.requeue_waiting_reports",
        "schedule": REQUEUE_EVERY_S,
        # Runs missed while no worker was up are skipped; none because beat's clock is behind by less than a minute.
        "options": {"expires": max(60, REQUEUE_EVERY_S)},
    },
    "write the events of labs": {
        "task": "stackviz.intake.notices.tasks.note_lab_events",
        "schedule": 60,
        "options": {"expires": 60},
    },
    "mail events of labs": {
        "task": "stackviz.intake.notices.tasks.mail_events",
        "schedule": 600,  # each person once an hour at most; nothing without EMAIL_HOST
        "options": {"expires": 600},
    },
    "send events to webhooks": {
        "task": "stackviz.intake.notices.tasks.send_due_webhooks",
        "schedule": 60,
        "options": {"expires": 60},
    },
    "drop old raw reports": {
        "task": "stackviz.intake.ingest.tasks.drop_old_raw_reports",
        "schedule": 3600,
        "options": {"expires": 3600},
    },
    "write the public data": {
        "task": "stackviz.pages.data.tasks.write_dump_if_due",
        "schedule": 60,  # cheap check; writes once a night, and when a lab becomes private
        "options": {"expires": 60},
    },
    "delete private links that have expired": {
        "task": "stackviz.pages.diagnose.tasks.delete_expired_links",
        "schedule": 3600,  # pages check the date themselves, so expired links are never shown
        "options": {"expires": 3600},
    },
    "delete what is old": {
        "task": "stackviz.desk.retention.tasks.delete_what_is_old",
        "schedule": 86_400,
        "options": {"expires": 86_400},
    },
    "watch feeds": {
        "task": "stackviz.desk.freshness.tasks.check_due_feeds",
        "schedule": 1800,  # a few feeds a run, each once a day; nothing with WATCH=0
        "options": {"expires": 1800},
    },
    "watch links": {
        "task": "stackviz.desk.freshness.tasks.check_due_links",
        "schedule": 300,  # a few links a run, each once in a fortnight
        "options": {"expires": 300},
    },
}

# --- open data ----------------------------------------------------------------------------------------------------

DATA_DIR = Path(env_text("DATA_DIR", str(VAR_DIR / "data"))).resolve()  # web and worker must share it
DATA_KEEP = env_int("DATA_KEEP", 7, least=1)  # number of dumps, including the newest
DATA_DAYS = env_int("DATA_DAYS", 0)  # days a dump stays, but for the newest; 0: as long as DATA_KEEP says

WEBHOOK_TESTS_PER_HOUR = env_int("WEBHOOK_TESTS_PER_HOUR", 12, least=1)  # for one account; beyond: 429
WEBHOOKS_TO_LOOPBACK = False  # for tests alone: webhooks may lead to this machine, without TLS

EXPORTS_PER_HOUR = env_int("EXPORTS_PER_HOUR", 6, least=1)  # archives of labs for one account; beyond: 429

# --- what is old ------------------------------------------------------------------------------------------------

AUDIT_DAYS = env_int("AUDIT_DAYS", 730)  # days an entry of the audit log or of the admin's log stays; 0: for ever
RESULT_DAYS = env_int("RESULT_DAYS", 0)  # days a result stays after it was measured; 0: for ever
EVENT_DAYS = env_int("EVENT_DAYS", 365)  # days an event of a lab stays, a week at least; 0: for ever
LOG_DAYS = env_int("LOG_DAYS", 30)  # days a log of an earlier start of `make run` stays; 0: for ever

# --- `make run` -------------------------------------------------------------------------------------------------

UP_HOST = env_text("HOST", "127.0.0.1")
UP_PORT = env_int("PORT", 8000, least=1)  # or the next free one

# --- uploads ----------------------------------------------------------------------------------------------------

RAW_REPORT_DAYS = env_int("RAW_REPORT_DAYS", 0)  # reports are stored as sent for so long; 0: for ever
UPLOADS_PER_MINUTE = env_int("UPLOADS_PER_MINUTE", 600, least=1)  # per key; beyond: 429 with Retry-After
DATA_UPLOAD_MAX_NUMBER_FIELDS = (
    10_000  # the admin page of an accelerator has a dozen fields for each of a hundred values
)
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024  # above the wire format's limit of 4 MiB, which applies first

# --- reading ----------------------------------------------------------------------------------------------------

# Pages with parameters for one client; a file counts as ten, the API by its rows. Beyond: 429 with Retry-After.
READS_PER_MINUTE = env_int("READS_PER_MINUTE", 600, least=1)

# --- diagnosing -------------------------------------------------------------------------------------------------

DIAGNOSES_PER_MINUTE = env_int("DIAGNOSES_PER_MINUTE", 600, least=1)  # per client, page and API; beyond: 429
PLANS_PER_MINUTE = env_int("PLANS_PER_MINUTE", 120, least=1)  # computed per client; beyond: 429
LINKS_PER_HOUR = env_int("LINKS_PER_HOUR", 10, least=1)  # private links one client may save in an hour; beyond: 429
LINKS_KEPT = env_int("LINKS_KEPT", 10_000, least=1)  # of all clients, each at most 256 KB; beyond: 507
LINK_DAYS = env_int("LINK_DAYS", 30, least=1)  # lifetime of a private link
PICTURES_PER_MINUTE = env_int("PICTURES_PER_MINUTE", 60, least=1)  # drawn for one client; beyond: 429
PROXIES = env_int("PROXIES", 1 if HTTPS else 0)  # proxies in front that append to X-Forwarded-For, to identify clients

# --- curation ---------------------------------------------------------------------------------------------------

# Persons needed to change a public value: 2, another person must approve; 1, the proposer may.
CURATION_APPROVALS = env_int("CURATION_APPROVALS", 2, least=1)
if CURATION_APPROVALS > 2:
    raise EnvError(f"CURATION_APPROVALS={CURATION_APPROVALS}: use 1 or 2")
CORRECTIONS_PER_HOUR = env_int("CORRECTIONS_PER_HOUR", 10, least=1)  # mistakes one reader may report; beyond: 429
CORRECTIONS_WAITING = env_int("CORRECTIONS_WAITING", 1_000, least=1)  # of all readers, without an answer; beyond: 503

# --- watching what others publish ---------------------------------------------------------------------------------

WATCH = env_flag("WATCH")  # whether this site asks feeds and links by itself: it makes requests to other servers
WATCH_CONTACT = env_text("WATCH_CONTACT")  # address or mail of whoever runs this site, for those whose servers it asks
WATCH_PACKAGE_INDEX = env_text("WATCH_PACKAGE_INDEX")  # the simple index of Python packages that pip is given
WATCH_GITHUB_TOKEN = env_text("WATCH_GITHUB_TOKEN")  # without one GitHub answers 60 requests an hour
WATCH_PRIVATE_NETWORK = env_flag("WATCH_PRIVATE_NETWORK")  # whether links may lead into private networks, or a proxy's

# --- monitoring -------------------------------------------------------------------------------------------------

METRICS = env_flag("METRICS")  # whether processes count, and /metrics answers
MONITORING_TOKEN = env_text("MONITORING_TOKEN")  # who sends it as a Bearer sees /metrics and the reasons of /readyz
MONITORING_NETWORKS = env_networks(
    "MONITORING_NETWORKS", "127.0.0.0/8,::1/128"
)  # who asks from these, past no proxy, too
READY_WAITING_S = env_int("READY_WAITING_S", 600, least=1)  # a report that waits longer: /readyz answers 503
READY_DISK_FREE_MB = env_int("READY_DISK_FREE_MB", 500)  # less space than this under VAR_DIR: the same
SENTRY_DSN = env_text("SENTRY_DSN")  # where errors are reported to, with sentry-sdk installed

# --- CORS -------------------------------------------------------------------------------------------------------

# Addresses that answer everybody alike, whoever asks. Machines are not among them: a lab's site may stand behind a wall
# that its visitors' browsers are inside of.
OPEN_TO_ALL_SITES = (
    *(
        f"/api/v1/{name}/"
        for name in ("accelerators", "values", "fields", "sources", "stacks", "cited", "freshness", "prices")
    ),
    "/api/v1/openapi.json",
    "/data/",
    "/oembed",
    "/badge/",
)

# --- embeds -----------------------------------------------------------------------------------------------------

EMBED_HOSTS = env_list("EMBED_HOSTS", "*")  # sites that may show `/embed/` in a frame; other pages are shown in none

# --- languages, time --------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

# --- static files -----------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "stackviz.web.static_storage.InstalledScriptFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "stackviz.web.static_storage.QuickCompressedStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False  # no other site has a use for them

# --- logging ----------------------------------------------------------------------------------------------------

LOG_FORMAT = env_text("LOG_FORMAT", "text")
if LOG_FORMAT not in FORMATTERS:
    raise EnvError(f"LOG_FORMAT={LOG_FORMAT!r} is no format of log lines: use {' or '.join(FORMATTERS)}")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": FORMATTERS[LOG_FORMAT]}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {"django": {"handlers": [], "level": "INFO"}},  # its own handler would log every line twice
    "root": {"handlers": ["console"], "level": env_text("LOG_LEVEL", "INFO")},
}

if SENTRY_DSN:
    start_error_reports(SENTRY_DSN, VERSION)

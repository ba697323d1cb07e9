"""Every setting, from the environment. What is unset, unknown or wrong is told at once, and then nothing starts."""

import os
import secrets
import sys
from pathlib import Path

from joobq_admin import environment, sign_in_rules
from joobq_admin.environment import PublicURL, Variables

ROOT = Path(__file__).parent.parent
ask = Variables(os.environ)

# Who may come in, and from where
AUTH = sign_in_rules.auth(ask)
IN_DEV = AUTH == "dev"
PORT = ask.number("PORT", 8000, 1, 65535)
PUBLIC = environment.public_url(ask, local=PublicURL("http", "127.0.0.1", PORT) if IN_DEV else None)
PUBLIC_URL = str(PUBLIC)
OIDC, PROXY = sign_in_rules.rules(ask, AUTH)
PROXY_LOGOUT_URL = sign_in_rules.logout_url(ask)
SESSION_HOURS = ask.number("JOOBQ_ADMIN_SESSION_HOURS", 8, 1, 24)
REAUTH_MINUTES = ask.number("JOOBQ_ADMIN_REAUTH_MINUTES", 15, 1, 24 * 60)
READ_ONLY = ask.choice("JOOBQ_ADMIN_READ_ONLY", ("no", "yes"), "no") == "yes"
SUPPORT_CONTACT = ask.text("JOOBQ_ADMIN_SUPPORT_CONTACT")
ENVIRONMENT = ask.text("JOOBQ_ADMIN_ENVIRONMENT")

# JoobQ's Redis, and what is kept in it
REDIS_URL = environment.redis_url(ask)
REDIS_CA_FILE = environment.redis_ca_file(ask, REDIS_URL)
REDRIVE_EXPIRES_HOURS = ask.number("JOOBQ_ADMIN_REDRIVE_EXPIRES_HOURS", 72, 1, 24 * 3650)
BIN_HOURS = ask.number("JOOBQ_ADMIN_BIN_HOURS", 24, 1, 24 * 365)
BIN_MB = ask.number("JOOBQ_ADMIN_BIN_MB", 256, 1, 1 << 20)
AUDIT_ENTRIES = ask.number("JOOBQ_ADMIN_AUDIT_ENTRIES", 100_000, 1000, 100_000_000)
REDACT = environment.redact(ask)

WORKERS = ask.number("WEB_CONCURRENCY", 2, 1, 256)
LOG_LEVEL = ask.choice("JOOBQ_ADMIN_LOG_LEVEL", ("debug", "info", "warning", "error"), "info")

SECRET_KEY = environment.secret_key(ask, "JOOBQ_ADMIN_SECRET_KEY", required=not IN_DEV)
SECRET_KEY_FALLBACKS = list(filter(None, [environment.secret_key(ask, "JOOBQ_ADMIN_SECRET_KEY_OLD")]))
ask.end()
SECRET_KEY = SECRET_KEY or secrets.token_urlsafe(50)  # in dev each process may have its own

# From here on it is Django's own, and all of it follows from the above. There is no database.
DEBUG = False
ROOT_URLCONF = "joobq_admin.urls"
DATABASES: dict[str, object] = {}
INSTALLED_APPS = ["joobq_admin", "django.contrib.staticfiles", "django_htmx"]
MIDDLEWARE = [
    "joobq_admin.request_lines.log_requests",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "joobq_admin.pages.headers.content_security_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "joobq_admin.pages.headers.private",
    "joobq_admin.pages.health.probes",  # before sign-in and the check of Host: who asks has neither
    "django_htmx.middleware.HtmxMiddleware",
    "joobq_admin.pages.reader.in_their_zone",
    "joobq_admin.sso.middleware.SignIn",
    "joobq_admin.pages.sessions.Sessions",
    "joobq_admin.pages.read_only.asks_redis",
    "django.middleware.common.CommonMiddleware",
    "joobq_admin.pages.headers.forms_in_utf_8",
    "django.middleware.csrf.CsrfViewMiddleware",
    "joobq_admin.pages.limits.Limits",  # behind it: what others make a browser send is not counted
    "joobq_admin.sso.middleware.one_token_a_person",
    "joobq_admin.pages.answer.RedisTrouble",
]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [ROOT / "templates"]}]
FILE_UPLOAD_HANDLERS: list[str] = []  # no form of ours has a file: none is kept
DATA_UPLOAD_MAX_MEMORY_SIZE = 512 << 10  # bytes of a form: a page of ticks and a long reason are a fifth of it
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200  # as many rows as a page has at most, and as many again
TIME_ZONE = "UTC"
USE_I18N = False

# Where readers are: no header says so. Behind TLS cookies are Secure and bound to the host alone.
SECURE = PUBLIC.scheme == "https"
COOKIE_PREFIX = "__Host-" if SECURE else ""
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"] if IN_DEV else [PUBLIC.host]
FORCE_SCRIPT_NAME = PUBLIC.prefix
CSRF_TRUSTED_ORIGINS = [PUBLIC.origin]
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}csrf"
CSRF_COOKIE_SECURE = SECURE
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_PATH = "/"  # below a prefix too: __Host- asks for it
CSRF_FAILURE_VIEW = "joobq_admin.pages.answer.csrf_failure"
SIGN_IN_FIRST_VIEW = "joobq_admin.pages.sign_in.sign_in_first"  # ours, as the one above is Django's
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CSP = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "img-src": ["'self'"],
    "connect-src": ["'self'"],
    "font-src": ["'self'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
    "base-uri": ["'none'"],
}

# Static files: where `manage.py collectstatic` has run, those, under names that hold their hash; else as they lie.
STATIC_URL = f"{PUBLIC.prefix}/static/"
STATICFILES_DIRS = [ROOT / "static"]
COLLECTED = sys.argv[1:2] == ["collectstatic"] or (ROOT / "staticfiles/staticfiles.json").exists()
STATIC_ROOT = ROOT / "staticfiles" if COLLECTED else None  # a folder that is not there is worth a warning to whitenoise
HASHED, PLAIN = "whitenoise.storage.CompressedManifest", "django.contrib.staticfiles.storage."
STORAGES = {"staticfiles": {"BACKEND": f"{HASHED if COLLECTED else PLAIN}StaticFilesStorage"}}
WHITENOISE_USE_FINDERS = not COLLECTED
WHITENOISE_ALLOW_ALL_ORIGINS = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "joobq_admin.log_lines.Formatter"}},
    "handlers": {"stdout": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout", "formatter": "line"}},
    "root": {"handlers": ["stdout"], "level": LOG_LEVEL.upper()},
    "loggers": {
        "django": {"handlers": []},
        "django.request": {"level": "ERROR"},  # of a 4xx, what matters is logged where it is refused
        "gunicorn.error": {"handlers": [], "propagate": True},
    },
}

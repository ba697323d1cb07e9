"""The application, as gunicorn runs it."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "joobq_admin.settings")
django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Scheme and prefix are JOOBQ_ADMIN_PUBLIC_URL's, never a header's. The path may come with that prefix or not."""
    path, prefix = environ["PATH_INFO"], settings.PUBLIC.prefix
    if path == prefix or path.startswith(f"{prefix}/"):
        environ["PATH_INFO"] = path[len(prefix) :]
    environ["wsgi.url_scheme"] = settings.PUBLIC.scheme
    if "*" in environ.get("CONTENT_TYPE", ""):  # RFC 2231: in no form of ours, and Django may raise before any page
        environ["CONTENT_TYPE"] = ""
    return django(environ, start_response)

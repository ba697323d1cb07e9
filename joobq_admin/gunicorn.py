"""How gunicorn runs it: gunicorn -c python:joobq_admin.gunicorn joobq_admin.wsgi:application

Reading the settings comes first: with a wrong one nothing listens.
"""

from logging.config import dictConfig
from typing import Any

from gunicorn.glogging import Logger

from joobq_admin import connection, settings
from joobq_admin.joobq import refusals
from joobq_admin.joobq.server import shortcoming
from joobq_admin.sso import proxy

bind = f"{'127.0.0.1' if settings.IN_DEV else '0.0.0.0'}:{settings.PORT}"
workers = settings.WORKERS
worker_class = "gthread"
threads = 16  # most wait for Redis when it hangs; the probes must still find one
preload_app = False  # connections to Redis are made after the fork

# No header says who, where or how we are: not the prefix and not the scheme (JOOBQ_ADMIN_PUBLIC_URL says both), and a
# name with _ cannot be told from one with -, so those are dropped. By default SCRIPT_NAME would count from 127.0.0.1.
forwarder_headers = "X-JOOBQ-ADMIN-TRUSTS-NONE"
secure_scheme_headers: dict[str, str] = {}
header_map = "drop"
limit_request_line = 8190  # the most there is: what is too long for us is told in words of ours (pages/limits.py)
# All gunicorns of one user would share one socket, and each start would take it from the one before.
control_socket_disable = True


class Lines(Logger):
    """Gunicorn's own events in the log of the application, which has a line for each request itself."""

    access_log_enabled = False

    def setup(self, cfg: Any) -> None:
        self.cfg = cfg
        dictConfig(settings.LOGGING)


logger_class = Lines


def on_starting(server: Any) -> None:
    """The last look before anything listens: at what the command line may have set, and at the Redis behind us."""
    if server.cfg.header_map == "dangerous":
        raise SystemExit("header_map must not be dangerous: X_Forwarded_User would count as X-Forwarded-User.")
    with connection.connect(settings) as redis:  # of its own: what is made before the fork is not for the workers
        try:
            amiss = shortcoming(redis)
        except connection.TROUBLE as trouble:  # it may come, and pages and /readyz tell until it does
            server.log.warning("Redis does not let us in yet: %s", refusals.said(trouble) or "it does not answer")
            return
    if amiss:
        raise SystemExit(f"JoobQ Admin does not start. JOOBQ_ADMIN_REDIS_URL: {amiss}")


def pre_request(worker: Any, request: Any) -> None:
    """Groups count only when they came once. WSGI joins several headers to one, and in a list that cannot be told."""
    if isinstance(settings.PROXY, proxy.Rules):
        name = settings.PROXY.groups_header.upper()
        if sum(each == name for each, _ in request.headers) > 1:
            worker.log.warning("%s came more than once: none of it counts", name)
            request.headers = [(each, value) for each, value in request.headers if each != name]

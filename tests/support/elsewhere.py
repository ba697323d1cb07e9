"""The dashboard of this process, for a while before another Redis."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from joobq_admin import connection
from joobq_admin.joobq import refusals

MADE = (
    connection.client,
    connection.audit_log,
    connection.dead_letters,
    connection.discovery,
    connection.grouping,
    connection.lately,
)


@contextmanager
def redis_at(url: str) -> Iterator[None]:
    """Redis is there now; it has a second for an answer."""
    with patch("django.conf.settings.REDIS_URL", url), patch.object(refusals, "ANSWER_WITHIN", 1.0):
        forget()
        try:
            yield
        finally:
            forget()


def forget() -> None:
    connection.client().close()
    for made in MADE:
        made.cache_clear()

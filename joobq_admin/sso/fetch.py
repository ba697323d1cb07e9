"""JSON from whoever signs people in: never redirected, bounded in time and length, and kept for a while."""

import json
import logging
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from time import monotonic
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

TIMEOUT = 5.0  # seconds: to connect, for each wait, and for all of a body
LONGEST = 512 * 1024  # bytes of a body
KEEP = 3600.0  # seconds
AFTER_FAILURE = 60.0  # seconds until what could not be fetched anew is tried again; until then the old copy does
PAUSE = 1.0  # the same where there is no old copy: whoever waited with us need not wait as long again
FORCED = 10.0  # seconds between two loads that somebody outside can cause

# Anybody can make us ask. While no answer comes, the other threads of the process are for those who are signed in.
asking = threading.BoundedSemaphore(6)
waiting = threading.BoundedSemaphore(8)  # for what one of them asks, itself too

T = TypeVar("T")
log = logging.getLogger(__name__)


class Unavailable(Exception):
    """It does not answer, or not as it must. Why is for the log."""


@contextmanager
def one_of(few: threading.Semaphore) -> Iterator[None]:
    if not few.acquire(blocking=False):
        raise Unavailable("too many wait for it already")
    try:
        yield
    finally:
        few.release()


def fetch(
    url: str,
    trust: ssl.SSLContext | None = None,
    form: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, dict[str, Any]]:
    """The status, 2xx or 4xx, and the JSON object that came with it; of a 4xx {} where it is none.

    `form` is sent by POST. `trust`: certificates to trust, None for the system's. HTTPS_PROXY and NO_PROXY count.
    Raises Unavailable.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise Unavailable(f"{url:.200} is no address of the web")
    body = urlencode(form).encode() if form is not None else None
    request = Request(url, body, {"Accept": "application/json", "User-Agent": "joobq-admin", **(headers or {})})
    try:
        with one_of(asking), _plainly(trust).open(request, timeout=TIMEOUT) as response:
            status, text = response.status, _bounded(response)
    except (OSError, HTTPException, ValueError) as error:
        raise Unavailable(f"{url:.200}: {str(error) or type(error).__name__:.200}") from error
    if not (200 <= status < 300 or 400 <= status < 500) or status == 429:
        raise Unavailable(f"{url:.200} answered {status}")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        if status < 300:
            raise Unavailable(f"{url:.200} answered with no JSON object")
        said = {}
    return status, said


def json_at(url: str, trust: ssl.SSLContext | None = None) -> dict[str, Any]:
    """What lies at this address. Raises Unavailable for any answer but 200."""
    status, found = fetch(url, trust)
    if status != 200:
        raise Unavailable(f"{url:.200} answered {status}")
    return found


def _plainly(trust: ssl.SSLContext | None) -> OpenerDirector:
    """What opens an address and nothing else: no redirect is followed, no file is read, every status is an answer."""
    opener = OpenerDirector()
    for each in (ProxyHandler(), HTTPHandler(), HTTPSHandler(context=trust)):
        opener.add_handler(each)
    return opener


def _bounded(response: HTTPResponse) -> bytes:
    until, text = monotonic() + TIMEOUT, b""
    while piece := response.read1(1 << 16):
        text += piece
        if len(text) > LONGEST:
            raise ValueError(f"over {LONGEST:,} bytes")
        if monotonic() > until:
            raise TimeoutError("timed out")
    return text


class Kept(Generic[T]):
    """What `load` returns, kept for an hour; longer while it raises Unavailable. For any number of threads."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load, self._loading = load, threading.Lock()
        self._value: T | None = None
        self._until = self._forced = self._not_before = float("-inf")
        self._failure = ""

    def get(self) -> T:
        """Raises Unavailable when there was never anything to keep."""
        if (value := self._value) is None:
            with one_of(waiting), self._loading:
                return self._value if self._value is not None else self._anew()
        if monotonic() >= self._until and self._loading.acquire(blocking=False):
            try:
                return self._anew()
            except Unavailable as error:
                log.warning("an old copy is used", extra={"reason": str(error)})
            finally:
                self._loading.release()
        return value

    def renewed(self) -> T:
        """Loaded just now, or in the last seconds. Raises Unavailable when that failed."""
        with one_of(waiting), self._loading:
            if self._value is None or monotonic() >= self._forced + FORCED:
                self._forced = monotonic()
                return self._anew()
            if self._failure:
                raise Unavailable(self._failure)
            return self._value

    def _anew(self) -> T:
        if monotonic() < self._not_before:
            raise Unavailable(self._failure)
        try:
            self._value = self._load()
        except Unavailable as error:
            self._failure, self._until = str(error), monotonic() + AFTER_FAILURE
            self._not_before = monotonic() + PAUSE
            raise
        self._failure, self._until = "", monotonic() + KEEP
        return self._value
